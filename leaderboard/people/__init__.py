"""Ratings and rates as by people, from a judge's verdicts and votes on some battles."""
