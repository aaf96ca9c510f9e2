"""Command classes: help that begins with an example, and former names."""
