"""`arena battles`: rate, compare and convert files of battles, without any database."""
