"""Nuggets: the six scores of TREC's RAG track, and the metric without an LLM."""

from __future__ import annotations

import pickle
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import pytest

from data.errors import JudgeError
from data.models import Importance, MetricItem, Nugget, Outcome
from judges.metrics.nuggets.metric import Assignment, nugget_scores
from tests.judges.asking import embedded

scored = partial(embedded, "nuggets")
VITAL, OKAY = Importance.VITAL, Importance.OKAY
FULL, PART, NONE = Assignment.SUPPORT, Assignment.PARTIAL, Assignment.NONE
ITEM = MetricItem(
    id="q",
    question="Tell me about the iron bridge.",
    answer="The iron bridge was opened in 1905. Two stone towers carry it.",
    nuggets=(
        Nugget("The iron bridge was opened in 1905.", VITAL),
        Nugget("The bridge has two towers of stone."),
        Nugget("A ferry crossed the river until 1904 and carried mail.", OKAY),
    ),
)


def test_nugget_scores_match_definitions() -> None:
    graded = [(VITAL, FULL), (VITAL, PART), (VITAL, NONE), (OKAY, FULL), (OKAY, PART)]
    assert asdict(nugget_scores(graded)) == {
        "all": pytest.approx(3 / 5),
        "all_strict": pytest.approx(2 / 5),
        "vital": pytest.approx(1.5 / 3),
        "vital_strict": pytest.approx(1 / 3),
        "weighted": pytest.approx((1.5 + 0.5 * 1.5) / 4),
        "weighted_strict": pytest.approx((1 + 0.5) / 4),
    }


def test_vital_score_requires_vital_nugget() -> None:
    scores = nugget_scores([(OKAY, PART)])
    assert (scores.vital, scores.vital_strict, scores.weighted, scores.all_strict) == (None, None, 0.5, 0)
    with pytest.raises(JudgeError, match="without nuggets"):
        nugget_scores([])


def test_nuggets_are_graded() -> None:
    """Two vital nuggets are stated, one of them without a mark; the okay one is not: (1 + 1) / 2.5."""
    score = scored(ITEM)
    details: Any = score.details
    assert [row["assignment"] for row in details["nuggets"]] == [FULL.value, FULL.value, NONE.value]
    assert [row["importance"] for row in details["nuggets"]] == ["vital", "vital", "okay"]
    assert score.score == pytest.approx(2 / 2.5)
    assert (details["vital"], details["all"], details["counts"]["okay"]) == (1.0, pytest.approx(2 / 3), 1)
    assert pickle.loads(pickle.dumps(ITEM)) == ITEM  # noqa: S301 - our own, as processes exchange it


def test_missing_figure_is_partial_support() -> None:
    vague = replace(ITEM, answer="The iron bridge was opened long ago.", nuggets=ITEM.nuggets[:1])
    assert (scored(vague).score, scored(vague).details["all_strict"]) == (0.5, 0)


@pytest.mark.parametrize("answer", ["I couldn't find an answer.", "  "])
def test_refusal_supports_no_nugget(answer: str) -> None:
    score = scored(replace(ITEM, answer=answer))
    assert (score.outcome, score.score) == (Outcome.JUDGED, 0)
    details: Any = score.details
    assert details["counts"]["not_support"] == len(ITEM.nuggets)
    assert details["vital"] == details["all"] == 0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("There is not enough information in the passages, no answer was found.", 1.0),
        ("I don't know.", 1.0),
        ("The bridge was opened by Anna Petrov in 2019 and has no answer to critics.", 0.0),
        ("", 0.0),
    ],
)
def test_refusal_supports_unanswerable_nugget(answer: str, score: float) -> None:
    silence = Nugget("Not enough information, no answer found", VITAL)
    item = replace(ITEM, question="Who opened the iron bridge?", answer=answer, nuggets=(silence,))
    assert scored(item).score == score
    both: Any = scored(replace(ITEM, nuggets=(silence, *ITEM.nuggets))).details
    assert [row["assignment"] for row in both["nuggets"]] == [NONE.value, FULL.value, FULL.value, NONE.value]
