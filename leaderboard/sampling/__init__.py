"""Cheaper rounds: judge a part with an expensive judge, and still say the right thing about the whole."""
