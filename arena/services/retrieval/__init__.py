"""Corpora and retrieval."""
