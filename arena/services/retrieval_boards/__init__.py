"""Boards of submissions of contexts."""
