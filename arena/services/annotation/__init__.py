"""People who label answers."""
