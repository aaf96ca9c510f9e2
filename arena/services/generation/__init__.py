"""Answers that an LLM writes, and what is told of them."""
