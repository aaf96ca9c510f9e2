"""Recognising text that steers a judge, and names that imitate others."""
