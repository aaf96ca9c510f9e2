"""Who asks, and what they may see or do."""
