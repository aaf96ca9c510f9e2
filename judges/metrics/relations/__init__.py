"""Relations between texts: lexical entailment and local NLI models."""
