"""Errors and intervals of ratings and their differences."""
