"""Defence against prompt injection."""
