"""Detection of text that steers a judge."""
