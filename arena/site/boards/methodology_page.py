"""How a verdict comes about, and what the numbers mean."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from arena.site.ui.components import lead, note
from arena.site.ui.formats import percent, whole
from arena.site.ui.markup import put
from arena.site.ui.tables import plain_table
from data.stats import Interval
from leaderboard.export.charts import Estimate, forest
from leaderboard.stats.intervals import wilson

CHAPTERS = Path(__file__).parents[1] / "assets" / "method"


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter, in Markdown."""

    name: str
    text: str


@st.cache_data(show_spinner=False, max_entries=1)
def chapters() -> tuple[Chapter, ...]:
    """Every chapter, in the order of their numbers."""
    return tuple(
        Chapter(path.stem, path.read_text(encoding="utf-8")) for path in sorted(CHAPTERS.glob("*.md"))
    )


HEADER = ("Posterior", "Claims", "Mean posterior", "True", "95 % interval")
EXPLAINED = """Of the claims that get a posterior in each tenth, the share that is true, with Wilson's 95 %
interval: answers of WikiContradict's development set, each held against the passages that it saw, by the
embedded version of factuality. A posterior could be taken at its word if the share were the posterior itself.
From 0.6 on more than four claims in five are true, however high it is; below one half, where passages seem to
contradict a claim, two in five are true all the same."""
NEXT_TO = "4-why"


@dataclass(frozen=True, slots=True)
class Bin:
    """Claims with posteriors between two ends, and the share of them that is true, 0-1."""

    lower: float
    upper: float
    claims: int
    mean_posterior: float
    share_true: float

    @property
    def label(self) -> str:
        """The two ends."""
        return f"{self.lower:.1f}–{self.upper:.1f}"


@cache
def bins() -> tuple[Bin, ...]:
    """The curve, the lowest posteriors first."""
    text = (CHAPTERS / "posteriors.json").read_text(encoding="utf-8")
    return tuple(Bin(**row) for row in json.loads(text))


def posterior_curve() -> None:
    """Show the curve and the same as a table."""
    marks = [_estimate(posterior_bin) for posterior_bin in bins()]
    st.header("How far can a posterior be trusted?", anchor="posteriors")
    note(EXPLAINED)
    words = "The share of true claims by posterior; the table below has the same numbers."
    chart = forest(marks, axis="Share of claims that are true", row="Posterior", share=True, reference=0.5)
    st.altair_chart(chart, alt=words)
    rows = [
        (
            posterior_bin.label,
            whole(posterior_bin.claims),
            f"{posterior_bin.mean_posterior:.2f}",
            percent(posterior_bin.share_true),
            f"{percent(mark.lower)} to {percent(mark.upper)}",
        )
        for posterior_bin, mark in zip(bins(), marks, strict=True)
    ]
    put(plain_table(HEADER, rows))


def _estimate(posterior_bin: Bin) -> Estimate:
    span = wilson(posterior_bin.share_true, posterior_bin.claims) or Interval(0.0, 1.0)
    return Estimate(
        system=posterior_bin.label,
        value=posterior_bin.share_true,
        lower=span.lower,
        upper=span.upper,
        note=f"{whole(posterior_bin.claims)} claims",
    )


def show() -> None:
    """Show the project's own account of its method."""
    st.title("Methodology", anchor=False)
    lead("From two answers and a question to a rank with honest error bars.")
    for chapter in chapters():
        with st.container(key=f"chapter-{chapter.name}"):
            st.markdown(chapter.text)
            if chapter.name == NEXT_TO:
                posterior_curve()
