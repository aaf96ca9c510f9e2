"""`arena metrics`: bounded scores of single answers, and their tables."""
