"""Question sets: import, look at, export."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.services.identity import OPERATOR, PUBLIC, Caller, require
from arena.services.masks import masked_question
from data.no_answer import is_no_answer
from data.question_files import content_hash, load_set, write_set
from data.records import (
    Action,
    Answer,
    AuditNote,
    Problem,
    Question,
    QuestionSet,
    SetSummary,
    SystemCard,
    TokenScope,
    require_name,
)
from data.store import Store
from data.store.new_submissions import NewSubmission


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """What an import did; `created` is False where the same set was there already.

    `systems` are those whose answers came with the file.
    """

    summary: SetSummary
    created: bool
    warnings: tuple[Problem, ...]
    systems: tuple[str, ...] = ()


class SetService:
    """Use cases around question sets; what a set hides is shown to nobody but the operator."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def import_from(self, path: Path, *, name: str | None = None, caller: Caller = OPERATOR) -> ImportedSet:
        """Import a question set from a folder or file; the same import twice changes nothing.

        Raises:
            InvalidFileError: The files have problems; nothing was stored.
            ConflictError: Another set has this name.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        loaded = load_set(path, name=name)
        with self._store.audit.noting() as notes:
            created = self._store.sets.add(loaded.questions, content_hash(loaded.questions))
            if created:
                notes.take(
                    AuditNote(
                        actor=caller.name,
                        action=Action.SET_IMPORTED,
                        subject=f"set {loaded.questions.name}",
                        detail={"questions": len(loaded.questions.questions)},
                    )
                )
            # A policy that was changed since stays: the file says how a set begins.
            if created and loaded.policy is not None:
                self._store.policies.put(loaded.policy)
        for system, answers in loaded.answers.items():
            self._submit(loaded.questions.name, system, answers)
        summary = self._store.sets.summary(loaded.questions.name)
        return ImportedSet(summary, created, loaded.warnings, tuple(loaded.answers))

    def summaries(self) -> tuple[SetSummary, ...]:
        """Every set, by name."""
        return self._store.sets.summaries()

    def summary(self, name: str) -> SetSummary:
        """One set without its questions."""
        return self._store.sets.summary(name)

    def get(self, name: str, *, caller: Caller = PUBLIC) -> QuestionSet:
        """One set with its questions.

        Raises:
            NotFoundError: There is no such set.
        """
        found = self._store.sets.get(name)
        hidden = self._hides(name)
        return found.with_questions(
            masked_question(caller, question, hidden=hidden) for question in found.questions
        )

    def question(self, name: str, question_id: str, *, caller: Caller = PUBLIC) -> Question:
        """One question of a set.

        Raises:
            NotFoundError: There is no such set, or no such question in it.
        """
        found = self._store.sets.question(name, question_id)
        return masked_question(caller, found, hidden=self._hides(name))

    def page(
        self, name: str, *, after: int, limit: int, caller: Caller = PUBLIC
    ) -> tuple[tuple[int, Question], ...]:
        """Up to `limit` questions of a set with their positions, from the one after position `after` on.

        Raises:
            NotFoundError: There is no such set.
        """
        hidden = self._hides(name)
        found = self._store.sets.page(self._store.sets.summary(name).id, after=after, limit=limit)
        return tuple((at, masked_question(caller, one, hidden=hidden)) for at, one in found)

    def export(self, name: str, folder: Path, *, caller: Caller = OPERATOR) -> SetSummary:
        """Write a set as the folder that an import reads."""
        write_set(self.get(name, caller=caller), folder)
        return self.summary(name)

    def _hides(self, name: str) -> bool:
        return self._store.policies.get(name).hidden_references

    def _submit(self, set_name: str, system: str, answers: Sequence[Answer]) -> None:
        """Store the answers that came with a set; the same again change nothing."""
        digest = hashlib.sha256()
        for answer in answers:
            digest.update(f"{answer.question_id}\0{answer.answer}\0".encode())
        new = NewSubmission(
            set_name=set_name,
            system=require_name(system, "System name"),
            team="",
            card=SystemCard(notes="Its answers came with the question set."),
            content_hash=digest.hexdigest(),
        )
        self._store.submissions.add(new, ((answer, is_no_answer(answer.answer)) for answer in answers))
