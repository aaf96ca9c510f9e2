"""Formats of question sets: our folders, LFRQA's files, BEIR's folders and tables."""
