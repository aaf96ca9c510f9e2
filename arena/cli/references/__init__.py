"""`arena references`."""
