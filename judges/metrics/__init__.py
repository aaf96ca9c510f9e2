"""Metrics of answers, one package per family."""
