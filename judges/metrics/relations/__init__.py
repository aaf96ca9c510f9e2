"""What the embedded relation model is made of beside words: slots, its trained head, and local NLI models."""
