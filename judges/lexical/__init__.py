"""The embedded judge: coverage of a ground truth, no network, the same verdict everywhere."""

from judges.lexical.judge import LexicalJudge, LexicalSpec

__all__ = ["LexicalJudge", "LexicalSpec"]
