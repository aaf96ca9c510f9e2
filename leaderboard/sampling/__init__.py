"""Cheaper rounds: judge a part with an expensive judge, and still say the right thing about the whole."""

__all__ = ["adaptive", "chances", "cheap_judge", "powered", "questions", "strata"]
