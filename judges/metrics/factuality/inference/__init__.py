"""Inference in the graph of claims and contexts."""
