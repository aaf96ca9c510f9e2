"""Rounds, battles, verdicts and what they cost."""
