"""Questions drawn for a round."""
