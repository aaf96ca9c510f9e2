"""Reading texts without an LLM: sentences, terms, quantities, weights and contradictions."""
