"""Comprehensiveness: what an answer leaves out of its passages, and where it stands.

Source: Dejl et al., "Comprehensiveness Metrics for Automatic Evaluation of Factual Recall in Text
Generation".
"""
