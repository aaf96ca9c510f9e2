"""Cascades: how sure a judge is, why the next one is asked, and which specs cannot be one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import SpecError
from data.records import Judgment, Outcome, Preference, Presentation, Verdict
from judges.cascades import CascadeConfidence, usual_confidence
from judges.catalogue import load_spec
from judges.pairwise.cascade import (
    DECIDED,
    UNASKED,
    Escalation,
    confidence_of,
    counted,
    escalation,
    settle_cascade,
)
from judges.pairwise.reparse import reparse_verdict
from judges.spec import JudgeSpec, ReplyFormat, make_spec
from leaderboard.sampling.cascade import confidence_of_orders, confidence_of_shares, confidence_of_votes

A, B, TIE = Preference.A, Preference.B, Preference.TIE
LEXICAL, LARGE = load_spec("lexical"), load_spec("reference-free")
PREFERENCE = load_spec("preference").using(name="soft")


def cascade(cheap: JudgeSpec = LEXICAL, confidence: str = "margin", threshold: float = 0.5) -> JudgeSpec:
    """A cascade before `reference-free`."""
    return make_spec(
        {
            "name": "c",
            "kind": "cascade",
            "members": (cheap, LARGE),
            "confidence": confidence,
            "threshold": threshold,
        }
    )


def said(
    preference: Preference | None,
    margin: float | None = None,
    *,
    judge: str = "lexical",
    order: Presentation = Presentation.A_FIRST,
    vote: int = 0,
    text: str = "as given",
    parser: str = "",
) -> Judgment:
    """One judgment; without a preference it was unreadable."""
    return Judgment(
        judge=judge,
        model="m",
        presentation=order,
        outcome=Outcome.UNREADABLE if preference is None else Outcome.JUDGED,
        preference=preference,
        margin=margin,
        settings=json.dumps({"vote": vote, "text": text}),
        parser=parser,
    )


def judged(*judgments: Judgment, flipped: bool | None = None) -> Verdict:
    """A verdict for the first one's side."""
    preference = TIE if flipped else judgments[0].preference
    return Verdict(outcome=Outcome.JUDGED, preference=preference, flipped=flipped, judgments=judgments)


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (judged(said(A, -0.5)), None),
        (judged(said(A, -0.49)), Escalation.BELOW),
        (judged(said(TIE, 0.0)), Escalation.BELOW),
        (judged(said(A, -0.9), said(B, 0.9, order=Presentation.B_FIRST), flipped=True), Escalation.FLIPPED),
        (judged(said(A)), Escalation.ABSTAINED),
        (judged(said(A, parser="gate/1")), None),
        (Verdict(outcome=Outcome.UNREADABLE), Escalation.ABSTAINED),
        (Verdict(outcome=Outcome.REFUSED), Escalation.REFUSED),
    ],
)
def test_why_the_expensive_member_is_asked(verdict: Verdict, reason: Escalation | None) -> None:
    """At the threshold the cheap member decides; a margin that is missing is no confidence, a gate is one."""
    assert escalation(cascade(), verdict) is reason


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=2))
def test_confidence_is_that_of_the_method(margins: Sequence[float]) -> None:
    """What judges compute battle by battle is what the method computes over arrays of shares."""
    first, second = (
        said(B if margin > 0 else A, margin, order=order)
        for margin, order in zip(margins, Presentation, strict=True)
    )
    shares = np.array([[(1 - margin) / 2] for margin in margins])
    one = confidence_of(LEXICAL, CascadeConfidence.MARGIN, judged(first))
    assert one == pytest.approx(confidence_of_shares(shares[0])[0])
    flipped = first.preference is not second.preference
    both = confidence_of(LEXICAL, CascadeConfidence.ORDERS, judged(first, second, flipped=flipped))
    expected = confidence_of_orders(shares[0], shares[1])[0]
    assert (0.0 if both is None else both) == pytest.approx(0.0 if flipped else expected)


@given(st.lists(st.sampled_from([A, B, TIE]), min_size=1, max_size=9))
def test_votes_tell_how_sure_a_judge_is(preferences: list[Preference]) -> None:
    """Of votes the winner's part less the next one's counts, as in the method."""
    votes = [said(preference, vote=number) for number, preference in enumerate(preferences)]
    found = confidence_of(LEXICAL, CascadeConfidence.VOTES, judged(*votes))
    counts = (np.array([float(preferences.count(side))]) for side in (A, B, TIE))
    assert found == pytest.approx(confidence_of_votes(*counts)[0])


def test_the_last_judgment_without_suspicious_parts_counts() -> None:
    """Of a retried vote the last counts, and of a text that seemed to steer what was read without that."""
    tried = [said(A, -1.0), said(B, 0.2)]
    assert counted(tried, "lexical") == tried[1:]
    bare = said(B, 0.9, text="stripped")
    assert counted([*tried, bare], "lexical") == [bare]
    assert counted(tried, "somebody") == []


def test_scores_of_two_members_are_not_mixed() -> None:
    """A cascade has preferences alone, and says who decided."""
    first = replace(judged(said(A, -0.9)), score=0.95, detail="why")
    settled = settle_cascade(cascade(), first, None)
    assert (settled.preference, settled.score, settled.detail) == (A, None, f"{DECIDED}; why")


def test_a_reading_that_leaves_nobody_to_decide_is_to_be_tried_again() -> None:
    """Where a reply, read again, is no longer sure and nobody else was asked, the battle is skipped."""
    read = reparse_verdict(cascade(), [said(A, -0.2)])
    assert read is not None
    assert (read.outcome, read.detail) == (Outcome.SKIPPED, UNASKED)
    other = reparse_verdict(cascade(), [said(A, -0.2), said(B, judge="reference-free")])
    assert other is not None
    assert (other.preference, other.detail) == (B, Escalation.BELOW.mark)
    alone = reparse_verdict(cascade(), [said(B, judge="reference-free")])
    assert alone is not None
    assert (alone.preference, alone.detail) == (B, Escalation.ABSTAINED.mark)


def test_the_threshold_is_part_of_a_cascades_hash_and_of_no_other_judge() -> None:
    """Another threshold is another judge; of other judges nothing of a cascade is hashed."""
    assert cascade(threshold=0.5).hash != cascade(threshold=0.6).hash
    assert cascade().canonical["member_names"] == ["lexical", "reference-free"]
    assert not {"threshold", "confidence", "guarantee", "member_names"} & set(LARGE.canonical)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        (LEXICAL, CascadeConfidence.MARGIN),
        (PREFERENCE, CascadeConfidence.MARGIN),
        (LARGE.using(order="both"), CascadeConfidence.ORDERS),
        (LARGE.using(votes=3, temperature=0.7), CascadeConfidence.VOTES),
        (load_spec("panel"), CascadeConfidence.VOTES),
        (LARGE, None),
    ],
)
def test_what_confidence_a_judge_has(spec: JudgeSpec, kind: CascadeConfidence | None) -> None:
    """Margins go before both orders, and these before votes; a rating in one order says nothing of itself."""
    assert usual_confidence(spec) is kind
    assert PREFERENCE.reply is ReplyFormat.LOGPROBS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('members = ["lexical", "reference-free"]\nthreshold = 0.5', "'confidence' is missing"),
        ('members = ["lexical", "reference-free"]\nconfidence = "margin"', "'threshold' is missing"),
        ('members = ["lexical"]\nconfidence = "margin"\nthreshold = 0.5', r"two 'members'.*1 given"),
        ('members = ["lexical", "lexical"]\nconfidence = "margin"\nthreshold = 0.5', "named 'lexical'"),
        (
            'members = ["reference-free", "lexical"]\nconfidence = "margin"\nthreshold = 0.5',
            "needs of reference-free: replies in grades or logprobs",
        ),
        ('members = ["lexical", "panel"]\nconfidence = "orders"\nthreshold = 0.5', "order = 'both'"),
        ('members = ["lexical", "panel"]\nconfidence = "votes"\nthreshold = 0.5', "'votes' above 1"),
        ('members = ["lexical", "panel"]\nconfidence = "luck"\nthreshold = 0.5', "'confidence'"),
        ('members = ["lexical", "panel"]\nconfidence = "margin"\nthreshold = 1.5', "'threshold'"),
        (
            'members = ["lexical", "panel"]\nconfidence = "margin"\nthreshold = 0.5\n[guarantee]\nlevel = 2',
            r"guarantee\.against",
        ),
    ],
)
def test_specs_that_are_no_cascade_say_why(text: str, message: str, tmp_path: Path) -> None:
    """Each problem of a cascade's spec is named."""
    path = tmp_path / "bad.toml"
    path.write_text(f'kind = "cascade"\n{text}\n')
    with pytest.raises(SpecError, match=message):
        load_spec(str(path))


def test_the_keys_of_cascades_are_for_cascades() -> None:
    """A threshold in another judge is refused, and so is a cascade in a cascade."""
    with pytest.raises(SpecError, match="are for cascades"):
        LARGE.using(threshold=0.5)
    with pytest.raises(SpecError, match="member c is a cascade itself"):
        make_spec({**cascade().model_dump(), "members": (LEXICAL, cascade()), "name": "d"})
