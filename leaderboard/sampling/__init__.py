"""Cheaper rounds: judge a part with an expensive judge, and still say the right thing about the whole."""

__all__ = [
    "adaptive",
    "asks",
    "cascade",
    "chances",
    "cheap_judge",
    "means",
    "outlook",
    "powered",
    "questions",
    "recalibration",
    "strata",
    "waves",
]
