"""Facts of a round's judge and of the layout of answers, on its board."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.services.boards.facts import EMBEDDED, style_features
from data.models import OrderPolicy, Presentation
from leaderboard.vocabulary import Covariate
from tests.arena.conftest import Fill, Serve, mix, play
from tests.cases import cases

LAID_OUT = cases(__file__, "LAID_OUT")


MARKS = (Covariate.HEADINGS, Covariate.BOLD, Covariate.LISTS)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        (LAID_OUT, (2, 3, 4)),
        ("", (0, 0, 0)),
        ("plain words. 3 - 2 is 1", (0, 0, 0)),
        ("[1][2] and [3]", (0, 0, 0)),
        ("```\n# never closed", (0, 0, 0)),
        ("~~~\n```\n~~~\n- after", (0, 0, 1)),
    ],
)
def test_marks_are_counted(text: str, marks: tuple[int, ...]) -> None:
    """Prose has none; an open fence lasts to the end, and a fence closes only with its own kind."""
    assert style_features(text) == dict(zip(MARKS, marks, strict=True))


@given(st.lists(st.sampled_from(["# h", "- i", "**b**", "[1, 2]", "words", "", "2. i"])))
def test_fact_counts_add_up(lines: list[str]) -> None:
    whole = style_features("\n".join(lines))
    parts = [style_features(line) for line in lines]
    assert whole == {mark: sum(part[mark] for part in parts) for mark in MARKS}


@pytest.mark.slow
def test_positions_match_judgments(filled: Fill, scripted_llm: Serve, database_url: str) -> None:
    """1 or −1 by the answer read first, 0 in both orders, NaN without an LLM; on both engines."""
    arena = filled(database_url=database_url, endpoint=scripted_llm().url)
    play(arena, "random", judge="reference-free", order=OrderPolicy.RANDOM)
    first = [
        1.0 if evidence.judgments[0].presentation is Presentation.A_FIRST else -1.0
        for evidence in arena.store.verdicts.evidence("random")
    ]
    assert arena.store.verdicts.positions("random").tolist() == first
    assert set(first) == {1.0, -1.0}
    play(arena, "both", judge="reference-free", order=OrderPolicy.BOTH)
    assert not arena.store.verdicts.positions("both").any()
    play(arena, "embedded")
    positions = arena.store.verdicts.positions("embedded")
    assert len(positions) == 72
    assert np.isnan(positions).all()
    assert arena.store.verdicts.positions("nowhere").shape == (0,)
    arena.close()


def test_board_has_position_effect(filled: Fill, scripted_llm: Serve, tmp_path: Path) -> None:
    arena = mix(filled(endpoint=scripted_llm().url), tmp_path)
    play(arena, "r", judge="reference-free", order=OrderPolicy.RANDOM)
    board, _ = arena.boards.publish("r", report=lambda _line: None, score=False)
    (fit,) = board.standings["covariates"]["fits"]
    term = next(row for row in fit["coefficients"] if row["name"] == "position")
    assert term["lower"] < term["value"] < term["upper"]


def test_embedded_judge_has_no_position_effect(filled: Fill, tmp_path: Path) -> None:
    arena = mix(filled(), tmp_path)
    play(arena, "r", order=OrderPolicy.BOTH)
    board, _ = arena.boards.publish("r", report=lambda _line: None, score=False)
    (fit,) = board.standings["covariates"]["fits"]
    assert EMBEDDED in [row["reason"] for row in fit["left_out"]]
    health = board.standings["health"]
    assert (health["both_orders"], health["flips"]) == (health["planned"], 0)
