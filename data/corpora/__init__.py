"""Corpora: chunked documents with an index on disk."""
