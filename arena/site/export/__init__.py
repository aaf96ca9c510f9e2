"""A whole board as a folder of pages that need no server."""
