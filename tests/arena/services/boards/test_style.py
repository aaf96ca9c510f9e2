from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.container import Arena
from arena.services.boards.facts import EMBEDDED
from arena.services.rounds.models import RoundRequest
from data.models import OrderPolicy, Presentation
from tests.arena.conftest import mix


def _run(arena: Arena, name: str, *, judge: str = "reference-free", order: OrderPolicy | None = None) -> None:
    request = RoundRequest(set_name="tiny", judge=judge, name=name, pairs="all", order=order)
    arena.rounds.create(request)
    arena.rounds.run(name, concurrency=8, report=lambda _progress: None)


@pytest.mark.long
def test_positions_are_those_of_the_judgments(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """On both engines: 1 or −1 by what was shown first, 0 in both orders, nothing where no LLM was asked."""
    arena = filled(database_url=database_url, endpoint=scripted_llm().url)
    _run(arena, "random", order=OrderPolicy.RANDOM)
    shown = [
        1.0 if evidence.judgments[0].presentation is Presentation.A_FIRST else -1.0
        for evidence in arena.store.verdicts.evidence("random")
    ]
    assert arena.store.verdicts.positions("random").tolist() == shown
    assert set(shown) == {1.0, -1.0}
    _run(arena, "both", order=OrderPolicy.BOTH)
    assert not arena.store.verdicts.positions("both").any()
    _run(arena, "embedded", judge="lexical")
    positions = arena.store.verdicts.positions("embedded")
    assert len(positions) == 72
    assert np.isnan(positions).all()
    assert arena.store.verdicts.positions("nowhere").shape == (0,)
    arena.close()


def test_a_board_tells_what_position_is_worth(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """An LLM asked in random orders: the board has a fit with the position."""
    arena = mix(filled(endpoint=scripted_llm().url), tmp_path)
    _run(arena, "r", order=OrderPolicy.RANDOM)
    board, _ = arena.boards.publish("r", report=lambda _line: None, score=False)
    (fit,) = board.standings["covariates"]["fits"]
    term = next(row for row in fit["coefficients"] if row["name"] == "position")
    assert term["lower"] < term["value"] < term["upper"]


def test_an_embedded_judge_has_no_position(filled: Callable[..., Arena], tmp_path: Path) -> None:
    """The reasons say what the judge is, for whoever sees a first board."""
    arena = mix(filled(), tmp_path)
    _run(arena, "r", judge="lexical", order=OrderPolicy.BOTH)
    board, _ = arena.boards.publish("r", report=lambda _line: None, score=False)
    (fit,) = board.standings["covariates"]["fits"]
    assert EMBEDDED in [row["reason"] for row in fit["left_out"]]
    health = board.standings["health"]
    assert (health["both_orders"], health["flips"]) == (health["planned"], 0)
