"""Pages of questions and what stands behind their verdicts."""
