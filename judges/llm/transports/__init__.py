"""Transports to LLM endpoints."""
