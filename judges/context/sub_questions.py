"""The sub-questions of an item: its own, else written from its reference."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from data.records import MetricItem, Outcome
from judges.comprehensiveness.claims import Missing
from judges.context.tasks import SUB_QUESTIONS
from judges.llm.requests import Unanswered
from judges.llm.tasks import TaskRunner
from judges.llm.templates import Input
from judges.text.sentences import split_clauses, split_sentences
from judges.text.statements import read_statements


class Origin(StrEnum):
    """Where sub-questions come from."""

    GIVEN = "given"
    WRITTEN = "written from the reference"
    STATEMENTS = "statements of the reference"


@dataclass(frozen=True, slots=True)
class SubQuestions:
    """What coverage counts, and where it comes from."""

    texts: tuple[str, ...]
    origin: Origin


async def find_sub_questions(
    item: MetricItem, runner: TaskRunner | None, *, most: int
) -> SubQuestions | Missing:
    """Return an item's sub-questions.

    Where it has none, an LLM writes them from the reference; without an LLM the statements of the reference
    stand in for them, each asking whether a text says it too.

    Raises:
        JudgeError: Asking as a whole cannot go on.

    Source: CRUX, section 3.2 ("diverse sub-questions").
    """
    given = tuple(dict.fromkeys(text.strip() for text in item.sub_questions if text.strip()))
    if given:
        return SubQuestions(given, Origin.GIVEN)
    reference = (item.reference or "").strip()
    if not reference:
        return Missing(Outcome.UNREADABLE, "There are no sub-questions, and no reference to write them from.")
    if runner is None:
        clauses = (clause for sentence in split_sentences(reference) for clause in split_clauses(sentence))
        said = tuple(dict.fromkeys(clause for clause in clauses if read_statements(clause)))
        if not said:
            return Missing(Outcome.UNREADABLE, "The reference says nothing that could be asked for.")
        return SubQuestions(said, Origin.STATEMENTS)
    inputs: dict[str, Input] = {"question": item.question, "text": reference, "most": most}
    reply = await runner.run(SUB_QUESTIONS, inputs)
    if isinstance(reply, Unanswered):
        return Missing(reply.outcome, f"No sub-questions could be written: {reply.detail}")
    return SubQuestions(tuple(dict.fromkeys(reply.sub_questions))[:most], Origin.WRITTEN)
