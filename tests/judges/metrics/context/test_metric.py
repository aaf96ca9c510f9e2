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


def test_context_score_has_evidence(scripted_llm: Serve) -> None:
    score = scored("context-crux", rating_llm(scripted_llm).url, ITEM)
    assert score.score == 1 / 3
    details = score.details
    assert details["answerable"] == (0, 1, 2)
    assert (details["answered"], details["missing"]) == ((0,), (1, 2))
    assert details["by"] == {"0": ["p1"]}
    assert details["required"] == {"static": ("p1", "p2", "p3"), "dynamic": ("p1", "p2", "p3")}
    assert details["uses"] == [{"passage": "p1", "use": "required"}, {"passage": "p4", "use": "irrelevant"}]
    assert details["missing_passages"] == ["p2", "p3"]
    assert 0 < number(details["alpha_ndcg"]) < 1
    json.dumps(dict(details), allow_nan=False)


def test_answer_uses_same_sub_questions(scripted_llm: Serve) -> None:
    score = scored("answer-crux", rating_llm(scripted_llm).url, ITEM)
    assert score.score == 2 / 3
    assert score.details["missing"] == (2,)
    assert number(score.details["density"]) > 1


def test_unanswerable_sub_question_gains_nothing(scripted_llm: Serve) -> None:
    owner = Passage("x", "The tower is owned by the city.")
    score = scored("context-crux", rating_llm(scripted_llm).url, replace(ITEM, contexts=(owner,)))
    assert score.score == 0
    assert score.details["answerable"] == (0, 1, 2)


def test_losses_are_counted_by_stage(scripted_llm: Serve) -> None:
    url = rating_llm(scripted_llm).url
    context, answer = scored("context-crux", url, ITEM), scored("answer-crux", url, ITEM)
    score = losses_of(context, answer)
    assert score == losses(range(3), (0,), (0, 1))
    assert (score.lost_in_retrieval, score.lost_in_writing) == (2 / 3, 0)
    bare = scored("context-crux", url, replace(ITEM, contexts=()))
    assert losses_of(bare, answer) is None
    other = scored("answer-crux", url, replace(ITEM, sub_questions=ITEM.sub_questions[:2]))
    assert losses_of(context, other) is None


def test_repeated_passage_counts_once(scripted_llm: Serve) -> None:
    url = rating_llm(scripted_llm).url
    once = scored("context-crux", url, replace(ITEM, contexts=ITEM.passages[:2]))
    twice = scored("context-crux", url, replace(ITEM, contexts=(ITEM.passages[0], *ITEM.passages[:2])))
    assert twice.score == once.score == 2 / 3
    assert number(twice.details["density"]) < number(once.details["density"])
    assert number(twice.details["alpha_ndcg"]) < number(once.details["alpha_ndcg"])
    assert twice.details["required"] == once.details["required"]


def test_missing_sub_questions_are_written_from_reference(scripted_llm: Serve) -> None:
    server = rating_llm(scripted_llm)
    score = scored("answer-crux", server.url, replace(ITEM, sub_questions=()))
    assert score.score == 2 / 3
    assert score.details["sub_questions_from"] == "written from the reference"
    prompt = server.log.bodies[0]["messages"][-1]["content"]
    assert "repainted every seven years" in prompt
    assert "Write 10 questions" in prompt


def test_all_sub_questions_count_without_oracle(scripted_llm: Serve) -> None:
    score = scored("context-crux", rating_llm(scripted_llm).url, replace(ITEM, passages=(), reference=None))
    assert score.score == 1 / 4
    assert score.details["oracle"] == "none"
    assert score.details["density"] is None


def test_ratings_can_be_weighted_by_probability(scripted_llm: Serve) -> None:
    score = scored("answer-crux", rating_llm(scripted_llm).url, ITEM, weighted=True)
    ratings = [number(rating) for rating in listed(score.details["ratings"])]
    assert 4.8 < ratings[0] < 5
    assert 0 < ratings[2] < 0.5


def test_missing_contexts_send_no_requests(scripted_llm: Serve) -> None:
    server = rating_llm(scripted_llm)
    score = scored("context-crux", server.url, replace(ITEM, contexts=(Passage("c", "  "),)))
    assert (score.outcome, score.score, server.log.calls) == (Outcome.UNREADABLE, None, 0)


def test_reference_statements_replace_sub_questions() -> None:
    score = asyncio.run(build_metric("answer-crux").score(replace(ITEM, sub_questions=())))
    assert score.details["sub_questions_from"] == "statements of the reference"
    assert score.score is not None


@pytest.mark.parametrize("answer", ["", "I couldn't find an answer.", "…"])
def test_empty_answer_covers_nothing(scripted_llm: Serve, answer: str) -> None:
    server = rating_llm(scripted_llm)
    score = scored("answer-crux", server.url, replace(ITEM, answer=answer))
    assert score.score == 0
    assert all(
        answer.strip() not in body["messages"][-1]["content"] or not answer for body in server.log.bodies
    )


DEMO = Path(__file__).parents[4] / "data/sets/demo"


def test_embedded_rater_prefers_own_passages() -> None:
    questions = load_set(DEMO).questions.questions
    own: list[bool] = []
    foreign: list[bool] = []
    cells: list[bool] = []
    for place, question in enumerate(questions):
        rater = EmbeddedRater(item_of(question))
        passages = questions[(place + 7) % len(questions)].passages
        rows = asyncio.run(rater.passages(question.passages, question.sub_questions))
        wrong = asyncio.run(rater.passages(passages, question.sub_questions))
        assert isinstance(rows, list)
        assert isinstance(wrong, list)
        own.extend(np.max(rows, axis=0) >= THRESHOLD)
        foreign.extend(np.max(wrong, axis=0) >= THRESHOLD)
        cells.extend(np.ravel(np.array(rows) >= THRESHOLD))
    assert np.mean(own) > 0.9
    assert np.mean(foreign) < 0.05
    assert 0.2 < np.mean(cells) < 0.4
