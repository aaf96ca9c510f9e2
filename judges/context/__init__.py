"""What the context of an answer, and the answer, cover (CRUX)."""
