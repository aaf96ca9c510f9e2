"""Processes that do jobs."""
