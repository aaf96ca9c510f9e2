"""Words of texts as the index of the store has them: the same on every database."""
