"""Retrieval without answers: measures of rankings, their boards, paired differences and files."""
