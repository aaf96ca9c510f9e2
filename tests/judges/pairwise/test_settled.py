from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from data.models import JudgeKind, Judgment, Outcome, Preference, Presentation, Reply
from judges.pairwise.llm_judge import in_battle_terms, settled
from judges.pairwise.parsing import read
from judges.spec import ReplyFormat

AB, BA = Presentation.A_FIRST, Presentation.B_FIRST
NOTHING = "Both have their merits."


def _rated(number: int) -> str:
    return f"<rating>{number}</rating>"


def _judged(
    order: Presentation, text: str, *, earlier: Sequence[str] = (), shown: str = "as given", spec: str = "s"
) -> Judgment:
    replies = [
        Reply(key=f"k{n}", endpoint="e", model="m", text=one) for n, one in enumerate((*earlier, text))
    ]
    reading = read(replies[-1], ReplyFormat.RATING)
    preference, margin = in_battle_terms(reading, order)
    return Judgment(
        judge="j",
        model="m",
        presentation=order,
        outcome=reading.outcome,
        preference=preference,
        margin=margin,
        settings=json.dumps({"text": shown, "vote": 0, "spec": spec}),
        reply=replies[-1],
        earlier=tuple(replies[:-1]),
    )


@pytest.mark.parametrize(
    ("judgments", "preference"),
    [
        pytest.param([_judged(AB, NOTHING), _judged(AB, _rated(1))], Preference.A, id="tried again"),
        pytest.param(
            [_judged(AB, _rated(0)), _judged(BA, NOTHING), _judged(AB, _rated(1))],
            Preference.A,
            id="the second attempt asks less than the first",
        ),
        pytest.param(
            [_judged(AB, _rated(2)), _judged(BA, _rated(1)), _judged(AB, _rated(1)), _judged(BA, _rated(2))],
            Preference.A,
            id="both orders twice",
        ),
        pytest.param(
            [_judged(AB, _rated(2)), _judged(BA, _rated(2), spec="corrected")],
            Preference.A,
            id="a corrected judge in another order",
        ),
        pytest.param([_judged(AB, _rated(1), earlier=[_rated(2)])], Preference.A, id="asked again"),
        pytest.param(
            [_judged(AB, _rated(2)), _judged(AB, _rated(1), shown="stripped")],
            Preference.A,
            id="without what steers the judge",
        ),
        pytest.param([_judged(AB, _rated(1)), _judged(AB, NOTHING)], None, id="unreadable in the end"),
    ],
)
def test_only_the_last_attempt_settles_a_battle(
    judgments: list[Judgment], preference: Preference | None
) -> None:
    verdict = settled({"kind": JudgeKind.LLM}, judgments)
    assert verdict is not None
    assert verdict.preference is preference
    assert (verdict.outcome is Outcome.JUDGED) == (preference is not None)
