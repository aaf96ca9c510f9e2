"""Evidence behind results: questions, claims, weaknesses."""
