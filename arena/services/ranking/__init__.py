"""Ranking of answer files in one step; a second run continues."""
