"""Drafts of references by an LLM, for people to start from."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena.services.accounts.auth import Caller, require
from arena.services.annotation.tasks import subject_of
from arena.services.judging.llm_access import open_access, paid_before
from arena.services.references.marks import with_marks
from arena.services.references.service import task_of
from arena.settings import Settings
from data.progress import Progress, Report, Stopwatch
from data.records import Action, Outcome, Question, TokenScope
from data.records.references import Draft
from data.store import Store
from judges.base import each
from judges.generation import AnswerGenerator, Generated, Generation
from judges.llm.costs import MemoryLedger, Usage

DRAFT_PROMPT = "draft-reference"
AT_ONCE = 200


@dataclass(slots=True)
class DraftReport:
    """What came of drafting: outcomes by name, why there is no draft, and what it took."""

    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    paid_usd: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The object that `arena references draft --json` prints."""
        return {
            "drafts": self.outcomes["drafted"],
            "outcomes": dict(self.outcomes),
            "reasons": dict(self.reasons.most_common(20)),
            "calls": self.usage.calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cost_usd": self.usage.total_usd,
            "paid_before_usd": self.paid_usd,
        }


class DraftService:
    """Lets an LLM write drafts."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def draft(
        self,
        name: str,
        generation: Generation,
        report: Report,
        *,
        budget_usd: float | None = None,
        concurrency: int = 16,
        caller: Caller,
    ) -> DraftReport:
        """Draft every question of a task; a draft takes the place of an earlier one.

        The same again asks only what is missing. Its cap holds for all runs together.

        Args:
            name: The task.
            generation: The LLM and what it is asked; all passages of a question are shown.
            report: Is told how far it is.
            budget_usd: The cap.
            concurrency: Calls in flight at most.
            caller: Who asks.

        Raises:
            NotFoundError: There is no such task.
            BudgetError: There is a cap, and no price is known for the model.
            JudgeError: Asking cannot go on.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        task = task_of(self._store, name)
        by_id = self._store.sets.get(task.set_name).by_id
        items = self._store.annotations.items(task.id)
        questions = [(item.id, with_marks(by_id[item.question_id])) for item in items]
        most = max((len(question.passages) for _, question in questions), default=1)
        generation = replace(generation, passages=max(1, most), thinking=False)
        result = asyncio.run(self._draft(generation, questions, report, budget_usd, concurrency))
        with self._store.audit.audited() as notes:
            drafts = result.outcomes["drafted"]
            note = caller.note(
                Action.REFERENCES_DRAFTED, subject_of(name), model=generation.model, drafts=drafts
            )
            notes.take(note)
        return result

    async def _draft(
        self,
        generation: Generation,
        questions: Sequence[tuple[int, Question]],
        report: Report,
        budget_usd: float | None,
        concurrency: int,
    ) -> DraftReport:
        result = DraftReport()
        keys = [generation.request(question).key for _, question in questions]
        result.paid_usd = await asyncio.to_thread(paid_before, self._store, self._settings, keys)
        ledger = None if budget_usd is None else MemoryLedger(max(0.0, budget_usd - result.paid_usd))
        watch = Stopwatch()
        async with open_access(self._store, self._settings, concurrency=concurrency, ledger=ledger) as client:
            generator = AnswerGenerator(generation, client)
            for start in range(0, len(questions), AT_ONCE):
                chunk = questions[start : start + AT_ONCE]
                made = await each(
                    generator.generate, [question for _, question in chunk], at_once=concurrency
                )
                drafts = {
                    item: Draft(
                        text=one.answer.answer, model=generation.model, prompt_hash=generation.prompt.hash
                    )
                    for (item, _), one in zip(chunk, made, strict=True)
                    if one.answer is not None and not one.no_answer
                }
                await asyncio.to_thread(self._store.references.put_drafts, drafts)
                for one in made:
                    _count(result, one)
                report(Progress(min(start + AT_ONCE, len(questions)), len(questions), watch.seconds))
            result.usage = client.usage
        return result


def _count(result: DraftReport, generated: Generated) -> None:
    if generated.outcome is not Outcome.JUDGED:
        result.outcomes[generated.outcome.value] += 1
        result.reasons[f"{generated.outcome.value}: {generated.detail}"] += 1
    else:
        result.outcomes["no answer" if generated.no_answer else "drafted"] += 1
