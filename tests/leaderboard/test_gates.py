"""The decision of a gate: seldom wrong however often one looks, and in the end clear."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.gates import FIRST_WAVE, Floats, GateVerdict, decide, gate_shares

QUESTIONS = 400
RUNS = 300
LOSS = 20.0


def _verdict(differences: Floats) -> GateVerdict:
    """What a gate says that looks after 50, 100, 200 and 400 questions and stops when it is clear."""
    size = FIRST_WAVE
    while True:
        verdict = decide(gate_shares(differences[:size], ["d"] * min(size, QUESTIONS))[0], max_loss=LOSS)
        if verdict is not GateVerdict.UNDECIDED or size >= len(differences):
            return verdict
        size *= 2


def _drawn(mean: float, rng: np.random.Generator) -> Floats:
    """Differences of −1, 0 and 1 of which a half is 0."""
    up = 0.25 + mean / 2
    return rng.choice([-1.0, 0.0, 1.0], p=[0.5 - up, 0.5, up], size=QUESTIONS)


@pytest.mark.long
def test_version_at_the_edge_is_seldom_decided_either_way() -> None:
    """Of versions that lose exactly what is allowed, at most 2.5 % pass and at most 2.5 % are called worse.

    Four looks; the counts may exceed 2.5 % of 300 by chance alone, by no more than three standard errors.
    """
    rng = np.random.default_rng(3)
    verdicts = [_verdict(_drawn(-LOSS / 100, rng)) for _ in range(RUNS)]
    most = 0.025 * RUNS + 3 * np.sqrt(0.025 * 0.975 * RUNS)
    assert verdicts.count(GateVerdict.PASS) <= most
    assert verdicts.count(GateVerdict.WORSE) <= most


def test_clear_differences_are_decided_rightly() -> None:
    """Of versions that lose nothing, or twice what is allowed, nine in ten are called so."""
    rng = np.random.default_rng(4)
    same = [_verdict(_drawn(0.0, rng)) for _ in range(60)]
    worse = [_verdict(_drawn(-2 * LOSS / 100, rng)) for _ in range(60)]
    assert same.count(GateVerdict.PASS) >= 54
    assert worse.count(GateVerdict.WORSE) >= 54


@given(st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 1.0, np.nan]), st.sampled_from("xyz")), max_size=40))
def test_shares_count_every_question_once(rows: list[tuple[float, str]]) -> None:
    """Domains add up to the whole, what has no verdict is in none, and bounds are in order."""
    overall, *domains = gate_shares(np.array([row[0] for row in rows]), [row[1] for row in rows])
    known = [value for value, _ in rows if not np.isnan(value)]
    assert overall.questions == len(known) == sum(share.questions for share in domains)
    assert overall.ahead == known.count(1.0)
    assert overall.behind == known.count(-1.0)
    for share in (overall, *domains):
        assert -100 <= share.lower <= share.upper <= 100
        assert (share.difference is None) == (share.questions == 0)


def test_nothing_known_is_undecided() -> None:
    """Without a question the interval is all that is possible."""
    (overall,) = gate_shares(np.array([]), [])
    assert (overall.lower, overall.upper, overall.difference) == (-100, 100, None)
    assert decide(overall, max_loss=99) is GateVerdict.UNDECIDED
