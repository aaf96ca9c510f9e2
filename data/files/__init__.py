"""Files from outside, which may hold anything."""
