"""The audit of written references: a random sample of each batch, and what it comes to.

Source: Han et al. (2024), RAG-QA Arena, section 3.1: linguists audit 10 % of each batch; one with fewer than
90 % valid answers goes back to its writers, until it has them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from random import Random

from arena.services.accounts.auth import Caller, require
from arena.services.annotation.queue import require_words
from arena.services.annotation.tasks import subject_of
from arena.services.references.marks import unseen_short_answers
from arena.services.references.models import AuditItem, ReferenceStatus, marked_passages, question_states
from arena.services.references.service import question_of, task_of
from data.errors import ForbiddenError, InputError
from data.records import Action, AnnotationTask, TokenScope
from data.records.references import VALID_FROM, AuditBatch, Failure
from data.store import Store

AUDITED_SHARE = 0.1


class AuditingService:
    """Use cases of auditors, who are organisers, and how far a task is."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def draw(
        self, name: str, *, share: float = AUDITED_SHARE, seed: int = 0, caller: Caller
    ) -> AuditBatch | None:
        """Make a batch of all texts that are in none, and draw its sample; None where there is no text.

        Args:
            name: The task.
            share: Of the batch that is audited, at least one text.
            seed: Of the sample.
            caller: Who asks.

        Raises:
            NotFoundError: There is no such task.
            InputError: The share is none.
            ConflictError: A batch is being audited.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        if not 0 < share <= 1:
            raise InputError(f"{share} is no share of a batch.", advice="Use a number above 0, up to 1.")
        task = task_of(self._store, name)

        def choose(labels: Sequence[int]) -> Collection[int]:
            draw = Random(f"{seed}:{task.id}:{labels[0]}")  # noqa: S311 - a sample, no secret
            return draw.sample(labels, math.ceil(share * len(labels)))

        with self._store.audit.audited() as notes:
            batch = self._store.references.draw(task.id, seed, choose)
            if batch is not None:
                counts = {"texts": batch.texts, "drawn": batch.drawn}
                note = caller.note(
                    Action.REFERENCES_DRAWN, subject_of(name), batch=batch.number, counts=counts
                )
                notes.take(note)
        return batch

    def audit_next(self, name: str, *, caller: Caller) -> AuditItem | None:
        """The next text of the open batch's sample that is not decided and not the caller's own.

        Raises:
            NotFoundError: There is no such task.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        task = task_of(self._store, name)
        texts = {text.label: text for text in self._store.references.written(task.id)}
        for batch in self._store.references.batches(task.id):
            for check in self._store.references.checks(batch.id) if batch.accepted is None else ():
                text = texts.get(check.label)
                if check.failures is None and text is not None and text.writer != caller.account:
                    question = question_of(self._store, task, text.question_id)
                    return AuditItem(
                        number=check.id,
                        batch=batch,
                        question=question,
                        marked=marked_passages(question),
                        text=text.text,
                        failures=check.failures,
                        remark=check.remark,
                    )
        return None

    def decide(
        self,
        name: str,
        number: int,
        failures: Sequence[Failure] = (),
        *,
        remark: str = "",
        caller: Caller,
    ) -> AuditBatch:
        """Keep what an auditor found of a text: valid, or what fails. The last one decides the batch.

        Raises:
            NotFoundError: It is in no sample of this task.
            ConflictError: Its batch is decided.
            ForbiddenError: Only organisers may, and nobody decides their own text.
        """
        require(caller, TokenScope.ORGANISE)
        require_words(remark, "remark")
        task = task_of(self._store, name)
        for batch in self._store.references.batches(task.id):
            if any(check.id == number for check in self._store.references.checks(batch.id)):
                self._require_foreign(task, batch, number, caller)
        kinds = tuple(dict.fromkeys(failures))
        with self._store.audit.audited() as notes:
            decided = self._store.references.decide(
                task.id, number, kinds, remark=remark.strip(), auditor=caller.name, least=VALID_FROM
            )
            if decided.accepted is not None:
                counts = {"drawn": decided.drawn, "valid": decided.valid}
                note = caller.note(
                    Action.REFERENCES_AUDITED, subject_of(name), batch=decided.number, counts=counts
                )
                notes.take(note)
        return decided

    def status(self, name: str, *, caller: Caller) -> ReferenceStatus:
        """How far a task is, by question.

        Raises:
            NotFoundError: There is no such task.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        task = task_of(self._store, name)
        texts, drafts = self._store.references.written(task.id), self._store.references.drafts(task.id)
        items = self._store.annotations.items(task.id)
        batches = self._store.references.batches(task.id)
        found = [
            check.failures
            for batch in batches
            for check in self._store.references.checks(batch.id)
            if check.failures is not None
        ]
        set_questions = self._store.sets.get(task.set_name).by_id
        return ReferenceStatus(
            task=task,
            questions=question_states(
                [(item.id, item.question_id, item.domain) for item in items], texts, drafts
            ),
            batches=batches,
            audited=len(found),
            incomplete=sum(Failure.INCOMPLETENESS in failures for failures in found),
            wrongly_cited=sum(Failure.CITATION_ERROR in failures for failures in found),
            failures=Counter(failure for text in texts for failure in text.failures or ()),
            unseen_short_answers=sum(
                len(unseen_short_answers(set_questions[item.question_id])) for item in items
            ),
            unchanged_drafts=sum(
                text.item in drafts and text.text == drafts[text.item].text.strip() for text in texts
            ),
        )

    def _require_foreign(self, task: AnnotationTask, batch: AuditBatch, number: int, caller: Caller) -> None:
        label = next(check.label for check in self._store.references.checks(batch.id) if check.id == number)
        texts = self._store.references.written(task.id)
        if any(text.label == label and text.writer == caller.account for text in texts):
            raise ForbiddenError("Nobody audits their own text.", advice="Let another organiser decide it.")
