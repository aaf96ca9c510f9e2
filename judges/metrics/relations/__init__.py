"""Parts of the embedded relation model besides words: slots, its trained head, and local NLI models."""
