"""Rounds: planned, run, watched, exported."""
