"""The pages: each reads what the address says, calls a service, and shows the result."""
