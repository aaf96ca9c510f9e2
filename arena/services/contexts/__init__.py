"""Contexts without answers, and sets made to score them."""
