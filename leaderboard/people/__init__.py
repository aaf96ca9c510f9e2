"""Ratings and rates as people would give them, from a judge's verdicts and votes on some battles."""
