"""Rounds: plan, run, watch, export."""
