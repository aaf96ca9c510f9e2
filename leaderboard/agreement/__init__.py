"""Agreement of judges with annotators, with each other, and on the ranking of systems."""
