"""Rounds in waves: cheap judges on all battles, the round's own judge on a sample drawn in waves."""
