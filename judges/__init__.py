"""Who decides: LLM access, pairwise judges, panels and the metrics."""
