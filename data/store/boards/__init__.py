"""Boards, scores and flagged judgments."""
