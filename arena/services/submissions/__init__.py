"""Submissions, from upload to accepted version."""
