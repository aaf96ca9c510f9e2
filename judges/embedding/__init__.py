"""Embeddings of texts, from an endpoint or a local model, and dense retrieval with them."""
