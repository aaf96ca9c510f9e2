"""Rounds in waves: proxy judges on all battles, the round's own judge on a sample drawn in waves."""
