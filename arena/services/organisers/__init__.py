"""What organisers do: start, watch and preview rounds."""
