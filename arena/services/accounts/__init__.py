"""Authentication and access rights."""
