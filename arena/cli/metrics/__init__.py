"""`arena metrics`: bounded scores of single answers, their tables and their evaluation."""
