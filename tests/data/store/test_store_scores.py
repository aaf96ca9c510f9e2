"""Scores in the store, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from data.files.question_sets.rows import content_hash
from data.models import EMBEDDED_ENGINE, Json, Outcome, Passage, QuestionSet, Score
from data.store import Store
from tests.data.conftest import make_set

METRIC = "factuality-fr1"


def _stored(store: Store, questions: QuestionSet) -> int:
    store.sets.add(questions, content_hash(questions))
    return store.submissions.reference("tiny").id


def _put(store: Store, number: int, judge: str, details: Mapping[str, Json]) -> None:
    (key,) = [key for key in store.scores.answers_of([number]) if key.question_id == "q0"]
    score = Score(id="q0", metric=METRIC, outcome=Outcome.JUDGED, score=0.5, details=details)
    store.scores.put(judge, [(key.number, score)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "details", "is_current"),
    [
        ("", {}, False),
        ("", {"engine": "lexical-2"}, False),
        ("", {"engine": f"{EMBEDDED_ENGINE}0"}, False),
        ("corpus=c@1f", {"engine": "lexical-2"}, False),
        ("", {"engine": EMBEDDED_ENGINE}, True),
        ("nli=x", {"engine": f"{EMBEDDED_ENGINE}, nli:x@1f"}, True),
        ("kind@model", {}, True),
        ("kind@model k=2 corpus=c@1f", {"engine": "model"}, True),
    ],
)
def test_score_of_old_embedded_version_is_pending(
    store: Store, judge: str, details: Mapping[str, Json], is_current: bool
) -> None:
    number = _stored(store, make_set())
    _put(store, number, judge, details)
    scores = store.scores
    assert scores.pending([number], metric=METRIC, judge=judge) == 5 - is_current
    assert len(list(scores.unscored({METRIC: [number]}, judge=judge))) == 5 - is_current
    assert scores.judges([number], metric=METRIC) == (judge,)
    assert len(list(scores.of_submissions([number]))) == 1
    assert len(list(scores.detailed([number], metric=METRIC, judge=judge))) == 1
    assert len(scores.of_question("tiny", "q0")) == 1
    _put(store, number, judge, {"engine": EMBEDDED_ENGINE})
    assert [score.details for score in scores.of_question("tiny", "q0")] == [{"engine": EMBEDDED_ENGINE}]


def test_unscored_answer_is_returned_with_its_reason(store: Store) -> None:
    number = _stored(store, make_set())
    (key,) = [key for key in store.scores.answers_of([number]) if key.question_id == "q0"]
    failure = Score(id="q0", metric=METRIC, outcome=Outcome.FAILED, details={"reason": "time_limit"})
    store.scores.put("", [(key.number, failure)])
    (score,) = store.scores.detailed([number], metric=METRIC, judge="")
    assert score.details == {"reason": "time_limit"}
    again = store.scores.unscored({METRIC: [number]}, judge="", again=(Outcome.FAILED,))
    assert len(list(again)) == 5


@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("So it is [1].", True),
        ("So it is [2-3].", True),
        ("So it is\u30104:1\u2020source\u3011.", True),
        ("So it is [^1].", True),
        ("So it is [d7].", True),
        ("Set x[1] = 3.", False),
        ("A [link](https://example.org) and (1905).", False),
        ("So it is.", False),
    ],
)
def test_with_citations_finds_all_styles(store: Store, text: str, cites: bool) -> None:
    made = make_set()
    passages = (Passage("d7", "A text."),)
    first = replace(made.questions[0], reference=text, passages=passages)
    number = _stored(store, replace(made, questions=(first, *made.questions[1:])))
    assert store.scores.with_citations([number]) is cites
