"""Standings of a board."""
