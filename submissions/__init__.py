"""What comes in: file formats, checks and intake limits."""
