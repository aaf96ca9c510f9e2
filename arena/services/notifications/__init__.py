"""Notifications: who subscribed to which events, and how messages reach them."""
