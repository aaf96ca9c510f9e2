"""Comparison of systems: certainty of the lead, by domain, question and covered facts."""
