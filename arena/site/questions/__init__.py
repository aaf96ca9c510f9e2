"""Pages of questions and the evidence behind their verdicts."""
