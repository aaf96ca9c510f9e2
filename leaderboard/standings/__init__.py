"""What a board says."""
