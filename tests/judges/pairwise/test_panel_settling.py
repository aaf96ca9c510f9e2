from __future__ import annotations

import pytest

from data.models import Judgment, Outcome, Preference, Presentation
from judges.pairwise.panel import settle
from judges.spec import ReplyFormat


def _vote(preference: Preference, margin: float) -> Judgment:
    return Judgment(
        judge="j",
        model="m",
        presentation=Presentation.A_FIRST,
        outcome=Outcome.JUDGED,
        preference=preference,
        margin=margin,
    )


@pytest.mark.parametrize(
    ("margins", "score"), [((-0.02, -0.02, 0.98), None), ((-0.5, -0.5, 0.4), pytest.approx(0.6))]
)
def test_no_verdict_has_a_score_of_the_other_side(margins: tuple[float, ...], score: float | None) -> None:
    votes = [_vote(Preference.B if margin > 0 else Preference.A, margin) for margin in margins]
    verdict = settle([votes], reply_format=ReplyFormat.LOGPROBS)
    assert (verdict.preference, verdict.score) == (Preference.A, score)
