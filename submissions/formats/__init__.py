"""Files of answers as rows, whichever of the known formats they have."""
