"""LLM access, pairwise judges, panels and metrics."""
