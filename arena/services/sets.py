"""Question sets: import, look at, export."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from data.question_files import content_hash, load_set, write_set
from data.records import Problem, Question, QuestionSet, SetSummary
from data.store import Store


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """What an import did; `created` is False where the same set was there already."""

    summary: SetSummary
    created: bool
    warnings: tuple[Problem, ...]


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
        return ImportedSet(self._store.sets.summary(loaded.questions.name), created, loaded.warnings)

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
