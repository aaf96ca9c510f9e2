"""Text analysis without an LLM: sentences, terms, quantities, weights and contradictions."""
