"""What a board's places rest on, and how often its judge makes cycles."""
