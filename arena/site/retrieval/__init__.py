"""Boards of retrieval on the site."""
