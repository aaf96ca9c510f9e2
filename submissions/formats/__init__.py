"""Answer files as rows, in any known format."""
