"""Jobs and their leases."""
