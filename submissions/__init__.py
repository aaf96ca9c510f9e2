"""Intake of submissions: file formats, checks and limits."""
