from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from data.errors import RecordError
from data.models import Outcome, Passage
from judges.llm.tasks import TaskRunner
from judges.metrics.comprehensiveness.graph import UnscoredError
from judges.metrics.context.controlled import (
    Controlled,
    ControlledSetBuilder,
    Source,
    build_all,
    cut_document,
)
from judges.metrics.context.measures import ContextSettings
from tests.judges.asking import with_runner
from tests.judges.metrics.context.conftest import ITEM, rating_llm

Serve = Callable[..., Any]


SOURCE = Source(
    id="c-1",
    domain="travel",
    summary=ITEM.reference or "",
    documents=(
        Passage("d1", " ".join(passage.text for passage in ITEM.passages[:2]), "History"),
        Passage("d2", " ".join(passage.text for passage in ITEM.passages[2:])),
    ),
)


@pytest.fixture
def writing_llm(scripted_llm: Serve) -> Serve:
    """Start a scripted LLM that writes one passage per sentence pair, and one request."""

    def passages(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        sentences = ask.tagged("document")[0].split(". ")
        return {"passages": [". ".join(sentences[at : at + 2]) for at in range(0, len(sentences), 2)]}

    def serve(**script: object) -> Any:  # noqa: ANN401 - as above
        server = rating_llm(scripted_llm, **script)
        server.handlers["write_passages"] = passages
        server.handlers["write_request"] = lambda _: {"request": "Write a report on the tower."}
        return server

    return serve


def build(url: str, *sources: Source) -> tuple[tuple[Controlled, ...], dict[str, UnscoredError]]:
    async def use(runner: TaskRunner) -> tuple[tuple[Controlled, ...], dict[str, UnscoredError]]:
        return await build_all(ControlledSetBuilder(runner, ContextSettings()), sources)

    return with_runner(url, use)


def test_source_becomes_question_with_known_oracle(writing_llm: Serve) -> None:
    (built,), failed = build(writing_llm().url, SOURCE)
    assert not failed
    question = built.question
    assert question.question == "Write a report on the tower."
    assert question.reference == SOURCE.summary
    assert [passage.id for passage in question.passages] == ["d1-1", "d1-2", "d2-1"]
    assert question.passages[0].title == "History"
    assert len(question.sub_questions) == 3
    assert built.dropped == ("Who owns the tower today?",)
    assert built.ratings.answerable == (0, 1, 2)
    assert built.required() == ("d1-1", "d1-2", "d2-1")


@pytest.mark.parametrize("task", ["write_passages", "write_request", "rate_answerability"])
def test_failed_step_builds_no_question(writing_llm: Serve, task: str) -> None:
    server = writing_llm()
    server.handlers[task] = lambda _: {"nonsense": 1}
    built, failed = build(server.url, SOURCE)
    assert not built
    assert failed["c-1"].outcome is Outcome.UNREADABLE


def test_source_without_answers_is_skipped(writing_llm: Serve) -> None:
    server = writing_llm()
    server.handlers["rate_answerability"] = lambda _: {"rating": 2}
    _, failed = build(server.url, SOURCE)
    assert "None of the sub-questions" in failed["c-1"].reason


def test_long_documents_are_split_between_sentences() -> None:
    text = " ".join(f"Sentence number {number} says something of its own." for number in range(100))
    pieces = list(cut_document(text, maximum=64))
    assert " ".join(pieces) == text
    assert len(pieces) > 10
    assert max(len(piece) for piece in pieces) <= 64 * 4 + 8
    assert list(cut_document(" \n")) == []


@pytest.mark.parametrize("change", [{"summary": " "}, {"documents": ()}, {"documents": (Passage("d", ""),)}])
def test_source_requires_summary_and_documents(change: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        Source(
            **{"id": "c", "domain": "d", "summary": SOURCE.summary, "documents": SOURCE.documents, **change}
        )
