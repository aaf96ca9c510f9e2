"""Claims: the atomic statements of an answer, each standing by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from data.records import MetricItem
from judges.factuality.tasks import CLAIMS
from judges.llm.requests import Unanswered
from judges.llm.tasks import TaskRunner
from judges.text.sentences import split_clauses
from judges.text.statements import read_statements


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer; ids are a1, a2, … in the order of the answer."""

    id: str
    text: str


class ClaimSource(Protocol):
    """Finds the claims of an answer."""

    async def claims(self, item: MetricItem) -> tuple[Claim, ...] | Unanswered:
        """Return the claims, none repeated, or why there are none."""
        ...


def numbered(texts: list[str]) -> tuple[Claim, ...]:
    """Number claims, leaving out empty and repeated ones."""
    distinct = dict.fromkeys(" ".join(text.split()) for text in texts)
    return tuple(Claim(f"a{number}", text) for number, text in enumerate(filter(None, distinct), start=1))


class LexicalClaims:
    """Takes the clauses of an answer as its claims."""

    async def claims(self, item: MetricItem) -> tuple[Claim, ...] | Unanswered:
        """Return the clauses that say something."""
        sentences = (statement.text for statement in read_statements(item.answer))
        clauses = (clause for sentence in sentences for clause in split_clauses(sentence))
        return numbered([clause for clause in clauses if read_statements(clause)])


class LlmClaims:
    """Asks an LLM to cut an answer into statements that stand by themselves (Atomizer and Reviser)."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def claims(self, item: MetricItem) -> tuple[Claim, ...] | Unanswered:
        """Ask once for the claims of the whole answer."""
        found = await self._runner.run(CLAIMS, {"question": item.question, "answer": item.answer})
        return found if isinstance(found, Unanswered) else numbered(list(found.claims))
