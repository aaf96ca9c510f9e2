"""Worker processes and engines."""
