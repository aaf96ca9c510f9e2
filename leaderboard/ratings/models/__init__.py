"""Models of the outcome of a battle, and their fit."""
