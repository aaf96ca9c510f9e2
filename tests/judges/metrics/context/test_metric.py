"""Ranked coverage against TREC's own implementation, and the embedded rater on the bundled set."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.files.question_sets.registry import load_set
from data.models import Outcome, Passage
from judges.metrics.context.diagnosis import losses, losses_of
from judges.metrics.context.raters import EmbeddedRater
from judges.metrics.context.ratings import THRESHOLD
from judges.metrics.registry import build_metric
from tests.judges.asking import item_of, scored
from tests.judges.metrics.context.conftest import ITEM, rating_llm
from tests.narrow import listed, number

Serve = Callable[..., Any]


def test_a_context_is_scored_with_its_evidence(scripted_llm: Serve) -> None:
    found = scored("context-crux", rating_llm(scripted_llm).url, ITEM)
    assert found.score == 1 / 3
    details = found.details
    assert details["answerable"] == (0, 1, 2)
    assert (details["answered"], details["missing"]) == ((0,), (1, 2))
    assert details["by"] == {"0": ["p1"]}
    assert details["required"] == {"static": ("p1", "p2", "p3"), "dynamic": ("p1", "p2", "p3")}
    assert details["uses"] == [{"passage": "p1", "use": "required"}, {"passage": "p4", "use": "irrelevant"}]
    assert details["missing_passages"] == ["p2", "p3"]
    assert 0 < number(details["alpha_ndcg"]) < 1
    json.dumps(dict(details), allow_nan=False)


def test_an_answer_is_scored_by_the_same_sub_questions(scripted_llm: Serve) -> None:
    found = scored("answer-crux", rating_llm(scripted_llm).url, ITEM)
    assert found.score == 2 / 3
    assert found.details["missing"] == (2,)
    assert number(found.details["density"]) > 1


def test_question_beyond_the_oracle_gains_nothing(scripted_llm: Serve) -> None:
    owner = Passage("x", "The tower is owned by the city.")
    found = scored("context-crux", rating_llm(scripted_llm).url, replace(ITEM, contexts=(owner,)))
    assert found.score == 0
    assert found.details["answerable"] == (0, 1, 2)


def test_a_system_page_can_say_where_it_loses(scripted_llm: Serve) -> None:
    url = rating_llm(scripted_llm).url
    context, answer = scored("context-crux", url, ITEM), scored("answer-crux", url, ITEM)
    found = losses_of(context, answer)
    assert found == losses(range(3), (0,), (0, 1))
    assert (found.lost_in_retrieval, found.lost_in_writing) == (2 / 3, 0)
    bare = scored("context-crux", url, replace(ITEM, contexts=()))
    assert losses_of(bare, answer) is None
    other = scored("answer-crux", url, replace(ITEM, sub_questions=ITEM.sub_questions[:2]))
    assert losses_of(context, other) is None


def test_a_passage_given_twice_counts_once(scripted_llm: Serve) -> None:
    url = rating_llm(scripted_llm).url
    once = scored("context-crux", url, replace(ITEM, contexts=ITEM.passages[:2]))
    twice = scored("context-crux", url, replace(ITEM, contexts=(ITEM.passages[0], *ITEM.passages[:2])))
    assert twice.score == once.score == 2 / 3
    assert number(twice.details["density"]) < number(once.details["density"])
    assert number(twice.details["alpha_ndcg"]) < number(once.details["alpha_ndcg"])
    assert twice.details["required"] == once.details["required"]


def test_missing_sub_questions_are_written_from_the_reference(scripted_llm: Serve) -> None:
    server = rating_llm(scripted_llm)
    found = scored("answer-crux", server.url, replace(ITEM, sub_questions=()))
    assert found.score == 2 / 3
    assert found.details["sub_questions_from"] == "written from the reference"
    asked = server.log.bodies[0]["messages"][-1]["content"]
    assert "repainted every seven years" in asked
    assert "Write 10 questions" in asked


def test_without_an_oracle_no_sub_question_is_left_out(scripted_llm: Serve) -> None:
    found = scored("context-crux", rating_llm(scripted_llm).url, replace(ITEM, passages=(), reference=None))
    assert found.score == 1 / 4
    assert found.details["oracle"] == "none"
    assert found.details["density"] is None


def test_ratings_can_be_weighted_by_probability(scripted_llm: Serve) -> None:
    found = scored("answer-crux", rating_llm(scripted_llm).url, ITEM, weighted=True)
    ratings = [number(rating) for rating in listed(found.details["ratings"])]
    assert 4.8 < ratings[0] < 5
    assert 0 < ratings[2] < 0.5


def test_without_contexts_nobody_is_asked(scripted_llm: Serve) -> None:
    server = rating_llm(scripted_llm)
    found = scored("context-crux", server.url, replace(ITEM, contexts=(Passage("c", "  "),)))
    assert (found.outcome, found.score, server.log.calls) == (Outcome.UNREADABLE, None, 0)


def test_statements_of_the_reference_stand_in_for_sub_questions() -> None:
    found = asyncio.run(build_metric("answer-crux").score(replace(ITEM, sub_questions=())))
    assert found.details["sub_questions_from"] == "statements of the reference"
    assert found.score is not None


@pytest.mark.parametrize("answer", ["", "I couldn't find an answer.", "…"])
def test_an_answer_that_says_nothing_covers_nothing(scripted_llm: Serve, answer: str) -> None:
    server = rating_llm(scripted_llm)
    found = scored("answer-crux", server.url, replace(ITEM, answer=answer))
    assert found.score == 0
    assert all(
        answer.strip() not in body["messages"][-1]["content"] or not answer for body in server.log.bodies
    )


DEMO = Path(__file__).parents[4] / "data/sets/demo"


def test_the_embedded_rater_tells_own_passages_from_others() -> None:
    questions = load_set(DEMO).questions.questions
    own: list[bool] = []
    foreign: list[bool] = []
    cells: list[bool] = []
    for place, question in enumerate(questions):
        rater = EmbeddedRater(item_of(question))
        others = questions[(place + 7) % len(questions)].passages
        rows = asyncio.run(rater.passages(question.passages, question.sub_questions))
        wrong = asyncio.run(rater.passages(others, question.sub_questions))
        assert isinstance(rows, list)
        assert isinstance(wrong, list)
        own.extend(np.max(rows, axis=0) >= THRESHOLD)
        foreign.extend(np.max(wrong, axis=0) >= THRESHOLD)
        cells.extend(np.ravel(np.array(rows) >= THRESHOLD))
    assert np.mean(own) > 0.9
    assert np.mean(foreign) < 0.05
    assert 0.2 < np.mean(cells) < 0.4
