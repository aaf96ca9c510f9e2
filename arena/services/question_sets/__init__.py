"""Question sets, their phases and statistics."""
