"""Parts of the organisers' pages."""
