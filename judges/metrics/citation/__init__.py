"""Whether the citations of an answer support its sentences."""
