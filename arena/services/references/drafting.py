"""Drafts of references by an LLM, for people to start from."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from arena.services.accounts.auth import Caller, require
from arena.services.annotation.tasks import subject_of
from arena.services.judging.llm_access import open_access, paid_before
from arena.services.references.auditing import task_of
from arena.services.references.marks import with_marks
from arena.settings import Settings
from data.progress import Progress, Report, Stopwatch
from data.records import Action, Question, TokenScope
from data.records.references import Draft
from data.store import Store
from judges.base import each
from judges.generation import AnswerGenerator, Generation
from judges.llm.costs import MemoryLedger

DRAFT_PROMPT = "draft-reference"
DRAFTED = "drafted"


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
    ) -> dict[str, Any]:
        """Draft every question of a task; a draft takes the place of an earlier one.

        The same again asks only what is missing. Its cap holds for all runs together.

        Args:
            name: The task.
            generation: The LLM and what it is asked; all passages of a question are shown.
            report: Is told how far it is.
            budget_usd: The cap.
            concurrency: Calls in flight at most.
            caller: Who asks.

        Returns:
            The object that `arena references draft --json` prints.

        Raises:
            NotFoundError: There is no such task.
            BudgetError: There is a cap, and no price is known for the model.
            JudgeError: Asking cannot go on.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        task = task_of(self._store, name)
        by_id = self._store.sets.get(task.set_name).by_id
        questions = [
            (item.id, with_marks(by_id[item.question_id])) for item in self._store.annotations.items(task.id)
        ]
        most = max((len(question.passages) for _, question in questions), default=1)
        generation = replace(generation, passages=max(1, most), thinking=False)
        result = asyncio.run(self._draft(generation, questions, report, budget_usd, concurrency))
        with self._store.audit.audited() as notes:
            model, drafts = generation.model, result["drafts"]
            note = caller.note(Action.REFERENCES_DRAFTED, subject_of(name), model=model, drafts=drafts)
            notes.take(note)
        return result

    async def _draft(
        self,
        generation: Generation,
        questions: Sequence[tuple[int, Question]],
        report: Report,
        budget_usd: float | None,
        concurrency: int,
    ) -> dict[str, Any]:
        keys = [generation.request(question).key for _, question in questions]
        paid = await asyncio.to_thread(paid_before, self._store, self._settings, keys)
        ledger = None if budget_usd is None else MemoryLedger(max(0.0, budget_usd - paid))
        outcomes, reasons, watch = Counter[str](), Counter[str](), Stopwatch()
        async with open_access(self._store, self._settings, concurrency=concurrency, ledger=ledger) as client:
            generator = AnswerGenerator(generation, client)

            async def draft(question: tuple[int, Question]) -> None:
                made = await generator.generate(question[1])
                outcome = "no answer" if made.no_answer else made.outcome.value
                if made.answer is None:
                    reasons[f"{outcome}: {made.detail}"] += 1
                elif not made.no_answer:
                    outcome, text = DRAFTED, made.answer.answer
                    one = Draft(text=text, model=generation.model, prompt_hash=generation.prompt.hash)
                    await asyncio.to_thread(self._store.references.put_draft, question[0], one)
                outcomes[outcome] += 1
                report(Progress(outcomes.total(), len(questions), watch.seconds))

            await each(draft, questions, at_once=concurrency)
            usage = client.usage
        return {
            "drafts": outcomes[DRAFTED],
            "outcomes": dict(outcomes),
            "reasons": dict(reasons.most_common(20)),
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_usd": usage.total_usd,
            "paid_before_usd": paid,
        }
