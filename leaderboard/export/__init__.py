"""Files of a board."""
