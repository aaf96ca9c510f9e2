"""Corpora: documents cut into chunks, with an index on disk."""
