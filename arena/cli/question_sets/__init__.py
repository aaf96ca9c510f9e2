"""`arena sets`: question sets, their limits, and what is attached to them."""
