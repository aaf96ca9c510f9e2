"""Submissions and their answers."""
