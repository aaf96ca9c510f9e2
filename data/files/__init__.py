"""Readers of untrusted files."""
