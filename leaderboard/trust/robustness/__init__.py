"""What a board's places depend on."""
