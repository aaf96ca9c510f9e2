"""Pairwise judging of battles."""
