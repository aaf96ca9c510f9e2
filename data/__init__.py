"""Models, errors, readers of files and the store."""
