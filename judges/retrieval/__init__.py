"""Ranked retrieval: passages with scores for the questions of a set."""
