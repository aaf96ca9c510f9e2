"""Question sets: import, look at, export."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data.no_answer import is_no_answer
from data.question_files import content_hash, load_set, write_set
from data.records import Answer, Problem, Question, QuestionSet, SetSummary, SystemCard, require_name
from data.store import Store
from data.store.submissions import NewSubmission


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
    """Use cases around question sets."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def import_from(self, path: Path, *, name: str | None = None) -> ImportedSet:
        """Import a question set from a folder or file; the same import twice changes nothing.

        Raises:
            InvalidFileError: The files have problems; nothing was stored.
            ConflictError: Another set has this name.
        """
        loaded = load_set(path, name=name)
        created = self._store.sets.add(loaded.questions, content_hash(loaded.questions))
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

    def get(self, name: str) -> QuestionSet:
        """One set with its questions."""
        return self._store.sets.get(name)

    def question(self, name: str, question_id: str) -> Question:
        """One question of a set."""
        return self._store.sets.question(name, question_id)

    def export(self, name: str, folder: Path) -> SetSummary:
        """Write a set as the folder that an import reads."""
        write_set(self.get(name), folder)
        return self.summary(name)

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
