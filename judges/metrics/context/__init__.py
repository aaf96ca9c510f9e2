"""What the context of an answer covers, and what the answer covers of it (CRUX)."""
