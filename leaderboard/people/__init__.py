"""Ratings and rates that predict people's, from a judge's verdicts and votes on some battles."""
