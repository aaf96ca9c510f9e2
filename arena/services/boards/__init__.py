"""Standings, publication and history."""
