"""Ways to an LLM, one file a provider path."""
