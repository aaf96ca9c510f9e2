"""Deciding one battle."""
