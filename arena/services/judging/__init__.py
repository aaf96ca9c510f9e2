"""Judges, their calibration and access to LLMs."""
