"""Factuality: how much of an answer the passages support, even where the passages disagree."""
