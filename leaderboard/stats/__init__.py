"""Statistics that all results share."""
