"""Metrics of answers, a package a family."""
