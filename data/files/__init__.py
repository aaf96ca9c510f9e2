"""Files that strangers bring."""
