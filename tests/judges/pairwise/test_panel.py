from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from data.errors import RecordError
from data.models import Judgment, Outcome, Preference, Presentation, Verdict
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.pairwise.panel import PanelJudge, majority, most_retryable, settle, weighted
from judges.spec import JudgeSpec, ReplyFormat, make_spec
from tests.judges.battles import contest_of

Make = Callable[..., Any]
A, B, TIE = Preference.A, Preference.B, Preference.TIE


def _vote(preference: Preference | None, **fields: Any) -> Judgment:  # noqa: ANN401 - fields of a judgment
    usual: dict[str, Any] = {"judge": "j", "outcome": Outcome.JUDGED, "presentation": Presentation.A_FIRST}
    return Judgment(**{**usual, **fields}, model="m", preference=preference)


class Member:
    """Judge with a constant verdict."""

    def __init__(self, name: str, decision: Preference | Outcome, *, flipped: bool | None = None) -> None:
        self.name = name
        self._decision, self._flipped = decision, flipped

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        assert judge_input.question.question
        known = isinstance(self._decision, Preference)
        outcome = Outcome.JUDGED if known else Outcome(self._decision)
        preference = Preference(self._decision) if known else None
        vote = _vote(preference, judge=self.name, outcome=outcome)
        details: dict[str, Any] = {"flipped": self._flipped, "detail": "" if known else "why"}
        return Verdict(outcome=outcome, preference=preference, judgments=(vote,), **details)


def panel_of(*members: Member, **settings: object) -> PanelJudge:
    lexical = load_spec("lexical")
    specs = tuple(lexical.using(name=member.name) for member in members)
    spec: JudgeSpec = make_spec({"name": "p", "kind": "panel", "members": specs, **settings})
    return PanelJudge(spec, members)


@pytest.mark.parametrize(
    ("votes", "settled"),
    [
        ((A, A, A), A),
        ((A, B, TIE), TIE),
        ((A, A, B), A),
        ((TIE, TIE, B), TIE),
        ((B, TIE, B), B),
        ((A, B), TIE),
        ((A, A, B, B), TIE),
        ((A,), A),
        ((A, A, B, B, TIE), TIE),
        ((A, A, A, B, TIE), A),
    ],
)
def test_majority_matches_paper(votes: tuple[Preference, ...], settled: Preference) -> None:
    assert majority(votes) is settled


def test_majority_ignores_vote_order_and_mirrors() -> None:
    for votes in product(Preference, repeat=3):
        assert majority(votes) is majority(votes[::-1])
        assert majority([vote.flipped for vote in votes]) is majority(votes).flipped


def test_weights_decide_and_equal_weights_tie() -> None:
    assert weighted((A, B, B), (3.0, 1.0, 1.0)) is A
    assert weighted((A, B, B), (2.0, 1.0, 1.0)) is TIE
    assert weighted((A, B, B), (0.3, 0.1, 0.2)) is TIE
    with pytest.raises(RecordError):
        majority(())


def test_panel_keeps_all_judgments() -> None:
    panel = panel_of(Member("x", A), Member("y", B, flipped=True), Member("z", A))
    verdict = asyncio.run(panel.judge(contest_of()))
    assert (verdict.preference, verdict.flipped) == (A, True)
    assert [judgment.judge for judgment in verdict.judgments] == ["x", "y", "z"]
    assert verdict.detail == "x: a; y: b; z: a"


def test_member_without_verdict_has_no_vote() -> None:
    members = (Member("x", A), Member("y", Outcome.FAILED), Member("z", A))
    verdict = asyncio.run(panel_of(*members).judge(contest_of()))
    assert (verdict.outcome, verdict.preference, len(verdict.judgments)) == (Outcome.FAILED, None, 3)
    assert "y: failed (why)" in verdict.detail
    assert asyncio.run(panel_of(*members, quorum=2).judge(contest_of())).preference is A


def test_weighted_panel_uses_weights() -> None:
    members = (Member("x", A), Member("y", B), Member("z", B))
    panel = panel_of(*members, rule="weighted", weights=(3.0, 1.0, 1.0))
    assert asyncio.run(panel.judge(contest_of())).preference is A


def test_most_retryable_outcome_is_reported() -> None:
    assert most_retryable([Outcome.UNREADABLE, Outcome.FAILED, Outcome.REFUSED]) is Outcome.FAILED
    assert most_retryable([Outcome.UNREADABLE, Outcome.REFUSED]) is Outcome.REFUSED


@pytest.mark.parametrize(
    ("margins", "score"), [((-0.02, -0.02, 0.98), None), ((-0.5, -0.5, 0.4), pytest.approx(0.6))]
)
def test_score_never_contradicts_verdict(margins: tuple[float, ...], score: float | None) -> None:
    votes = [_vote(Preference.B if margin > 0 else Preference.A, margin=margin) for margin in margins]
    verdict = settle([votes], reply_format=ReplyFormat.LOGPROBS)
    assert (verdict.preference, verdict.score) == (Preference.A, score)
