"""The audit of written references: a random sample of each batch, what it comes to, and how far a task is.

Source: Han et al. (2024), RAG-QA Arena, section 3.1: linguists audit 10 % of each batch; one with fewer than
90 % valid answers goes back to its writers, until it has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.services.accounts.auth import Caller, require
from arena.services.annotation.queue import require_words
from arena.services.annotation.tasks import subject_of
from arena.services.annotation.writing import without_reference
from arena.services.references.marks import unseen_short_answers
from data.errors import InputError, NotFoundError
from data.records import Action, AnnotationTask, Question, TaskKind, TokenScope
from data.records.references import VALID_FROM, AuditBatch, Failure, ReferenceState
from data.store import Store

AUDITED_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditItem:
    """A text of the sample as an auditor sees it; nothing tells who wrote it."""

    number: int
    batch: AuditBatch
    question: Question
    text: str

    def to_json(self) -> dict[str, Any]:
        """As `arena references audit --json` prints it."""
        passages = enumerate(self.question.passages, start=1)
        return {
            "number": self.number,
            "batch": self.batch.to_json(),
            "question_id": self.question.id,
            "question": self.question.question,
            "passages": [{"number": number, **asdict(passage)} for number, passage in passages],
            "short_answers": list(self.question.short_answers),
            "text": self.text,
        }


class AuditingService:
    """Use cases of auditors, who are organisers."""

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
        with self._store.audit.audited() as notes:
            batch = self._store.references.draw(task.id, share=share, seed=seed)
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
        for text in sorted(self._store.references.written(task.id), key=lambda one: one.check or 0):
            waits = text.check is not None and text.failures is None
            if waits and text.state is ReferenceState.IN_AUDIT and text.writer != caller.account:
                question = self._store.sets.question(task.set_name, text.question_id)
                return AuditItem(
                    number=text.check or 0,
                    batch=self._store.references.batches(task.id)[-1],
                    question=without_reference(question),
                    text=text.text,
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
        with self._store.audit.audited() as notes:
            decided = self._store.references.decide(
                task.id,
                number,
                tuple(dict.fromkeys(failures)),
                remark=remark.strip(),
                auditor=caller.account or caller.name,
                least=VALID_FROM,
            )
            if decided.accepted is not None:
                counts = {"drawn": decided.drawn, "valid": decided.valid}
                note = caller.note(
                    Action.REFERENCES_AUDITED, subject_of(name), batch=decided.number, counts=counts
                )
                notes.take(note)
        return decided

    def status(self, name: str, *, caller: Caller) -> dict[str, Any]:
        """How far a task is, as the object that `arena labels show --json` prints of a task of references.

        `failures` are those of the last audit of each text, `audit` is over all samples.
        `unseen_short_answers` stand in no passage, and so are marked nowhere.

        Raises:
            NotFoundError: There is no such task.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        task = task_of(self._store, name)
        texts, drafts = self._store.references.written(task.id), self._store.references.drafts(task.id)
        items, found = self._store.annotations.items(task.id), self._store.references.findings(task.id)
        by_id = self._store.sets.get(task.set_name).by_id
        by_question: list[dict[str, Any]] = [
            {
                "question_id": item.question_id,
                "domain": item.domain,
                "writers": [text.writer for text in texts if text.item == item.id and not text.excluded],
                "states": [text.state.value for text in texts if text.item == item.id and not text.excluded],
                "draft": item.id in drafts,
            }
            for item in items
        ]
        states = Counter(state for question in by_question for state in question["states"])
        failures = Counter(failure for text in texts for failure in text.failures or ())

        def share(kind: Failure) -> float | None:
            return 1 - sum(kind in failing for failing in found) / len(found) if found else None

        return {
            "task": task.name,
            "set": task.set_name,
            "closed": task.closed,
            "writers_per_question": task.terms.overlap,
            "questions": len(by_question),
            "untouched": sum(not question["states"] for question in by_question),
            "with_accepted": sum(ReferenceState.ACCEPTED in question["states"] for question in by_question),
            "texts": {state.value: states[state.value] for state in ReferenceState},
            "drafts": sum(item.id in drafts for item in items),
            "unchanged_drafts": sum(
                text.item in drafts and text.text == drafts[text.item].text.strip() for text in texts
            ),
            "unseen_short_answers": sum(len(unseen_short_answers(by_id[item.question_id])) for item in items),
            "audit": {
                "texts": len(found),
                "completeness": share(Failure.INCOMPLETENESS),
                "citation_accuracy": share(Failure.CITATION_ERROR),
            },
            "failures": {failure.value: failures[failure] for failure in Failure},
            "batches": [batch.to_json() for batch in self._store.references.batches(task.id)],
            "by_question": by_question,
        }


def task_of(store: Store, name: str) -> AnnotationTask:
    """A task of references.

    Raises:
        NotFoundError: None has this name.
    """
    task = store.annotations.task(name)
    if task.terms.kind is not TaskKind.REFERENCES:
        raise NotFoundError(f"{name} is no task of references.", advice="`arena labels show` names them.")
    return task
