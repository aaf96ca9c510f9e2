"""Intervals that count the judge's own error: its wordings, its repeats, and the questions."""
