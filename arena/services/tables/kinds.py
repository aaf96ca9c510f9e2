"""The kinds of tables of rounds, and the forms in which they are printed."""

from __future__ import annotations

from enum import StrEnum


class TableKind(StrEnum):
    """What a table shows, with the table of the paper that it is like."""

    SET = "set"
    """The questions, references, short answers, documents and passages of a round's set, by domain (2, 7)."""
    WIN_RATES = "win-rates"
    """Win and win+tie rates against the reference, by domain (Table 3)."""
    PAIRS = "pairs"
    """Every pair of systems: wins, ties, losses, and people's where labels are given (Table 4)."""
    RATINGS = "ratings"
    """Ratings with intervals, a group of columns for each round (Table 5)."""
    REFERENCES = "references"
    """Completeness, citation accuracy and wins of the reference and of every system (Table 6)."""
    JUDGES = "judges"
    """Pearson's correlation with people by pair of systems, a line for each round's judge (Table 8)."""
    NO_ANSWER = "no-answer"
    """Shares of "no answer" replies, by domain (Table 9)."""
    PASSAGES = "passages"
    """Rates by model and number of passages, both as the system cards say (Table 10)."""
    COVERAGE = "coverage"
    """Coverage of contexts and of answers by system (CRUX, Table 2)."""
    CORRELATIONS = "correlations"
    """Rank correlations of the two over systems (CRUX, Table 3)."""
    ATTACKS = "attacks"
    """Canaries by family of attack."""


class TableFormat(StrEnum):
    """How a table is printed."""

    TEXT = "text"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
