"""Contexts for claims, and conflicts between them."""
