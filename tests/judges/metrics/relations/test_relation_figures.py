"""How often the embedded version is right: the frozen record, and the words that follow from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.records import EMBEDDED_ENGINE
from judges.metrics.registry import metric_info, metrics
from judges.metrics.relations.figures import (
    CONTRADICTED_BELOW,
    SUPPORTED_FROM,
    Verdict,
    embedded_figures,
    scorer_of,
    verdict_of,
)

ROOT = Path(__file__).parents[4]


def test_the_figures_are_of_this_version() -> None:
    """A change of engine or words makes new figures due: `python benchmarks/relation_figures.py`."""
    figures = embedded_figures()
    assert figures.engine == EMBEDDED_ENGINE
    assert (figures.contradicted_below, figures.supported_from) == (CONTRADICTED_BELOW, SUPPORTED_FROM)


def test_the_documents_have_these_figures() -> None:
    """The table of words in docs/method/factuality.md is of the record, row by row."""
    text = (ROOT / "docs/method/factuality.md").read_text(encoding="utf-8")
    figures = embedded_figures()
    assert f"| `{figures.engine}` | WikiContradict | QA-Feedback |" in text
    for label, name in (
        ("contradicted, and not true", "contradicted"),
        ("not confirmed, and true", "unconfirmed"),
        ("supported, and true", "supported"),
    ):
        cells = [getattr(data, name) for data in figures.claims]
        shown = [f"{one.value:.2f} [{one.lower:.2f}-{one.upper:.2f}] of {one.of}" for one in cells]
        assert f"| {label} | {' | '.join(shown)} |" in text


def test_the_documents_say_how_far_each_metric_agrees_with_people() -> None:
    """The table in docs/method/board-metrics.md is the record's, row by row, chance named."""
    text = (ROOT / "docs/method/board-metrics.md").read_text(encoding="utf-8")
    rows = embedded_figures().agreement
    for one in rows:
        found = one.measured
        figure = f"{one.figure} {found.value:.3f} [{found.lower:.3f}–{found.upper:.3f}]"
        beyond = "no" if one.is_chance else "yes"
        assert f"| `{one.metric}` | {one.of_what} | {one.data}, {found.of} | {figure} | {beyond} |" in text
    assert text.count("| yes |") + text.count("| no |") == len(rows)


def test_what_is_at_chance_says_so_and_is_no_default() -> None:
    """Metrics with a figure at chance name it in their column; with nothing better they are not usual."""
    known = embedded_figures().agreement
    chance = {one.metric for one in known if one.is_chance}
    better = {one.metric for one in known if not one.is_chance}
    assert chance
    for name in chance:
        column = metric_info(name).column
        assert column is not None
        assert "no better than chance" in column.help
        assert name in better or not column.usual
    usual = [info for info in metrics() if info.column and info.column.usual and not info.column.asked]
    assert {info.name for info in usual} <= better


def test_what_is_called_contradicted_or_supported_is_so_in_four_of_five_cases() -> None:
    """Words are only for what people's labels bear out; what lies between is less often true than support."""
    for data in embedded_figures().claims:
        assert data.contradicted.value >= 0.8
        assert data.supported.value >= 0.85
        assert 1 - data.contradicted.value < data.unconfirmed.value < data.supported.value
        assert data.contradicted.of + data.unconfirmed.of + data.supported.of == data.claims
        assert sum(tenth.claims for tenth in data.calibration) == data.claims
        assert data.brier.value < data.constant_brier
        assert data.kappa.lower > 0


@pytest.mark.parametrize(
    ("posterior", "word"),
    [
        *((0.0, "contradicted"), (0.29, "contradicted"), (0.3, "not confirmed"), (0.5, "not confirmed")),
        *((0.69, "not confirmed"), (0.7, "supported"), (1.0, "supported")),
    ],
)
def test_the_word_follows_the_posterior(posterior: float, word: str) -> None:
    """Only sure claims are called supported or contradicted."""
    assert verdict_of(posterior) is Verdict(word)


def test_a_scorer_says_how_often_it_is_right() -> None:
    """The embedded version in figures; others, earlier ones among them, that it was not measured."""
    held = embedded_figures().claims[0].contradicted
    embedded = scorer_of("", EMBEDDED_ENGINE)
    assert embedded.name == EMBEDDED_ENGINE
    assert f"{100 * held.value:.0f} % ({100 * held.lower:.0f} to {100 * held.upper:.0f} %)" in embedded.right
    assert "hold on WikiContradict's shared half" in embedded.contradictions
    for judge, engine, name in (
        ("", "lexical-2", "lexical-2"),
        ("", "", "an earlier lexical version"),
        ("nli=/models/mini", f"{EMBEDDED_ENGINE}, nli:mini@0123", "the NLI model mini@0123"),
        ("referee@gpt-4.1", "gpt-4.1", "referee@gpt-4.1"),
    ):
        told = scorer_of(judge, engine)
        assert name in told.right
        assert "measured" in told.right
        assert "%" not in told.right + told.contradictions
