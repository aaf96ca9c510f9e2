"""Question sets: import, read, export."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, require
from arena.services.accounts.set_access import SetAccess
from arena.services.question_sets.phases import PolicyService
from data.errors import FileFormatError, InputError
from data.files.text_files import file_name
from data.models import (
    Phase,
    Problem,
    Question,
    QuestionSet,
    SetPolicy,
    SetSummary,
    Severity,
    Submission,
    TokenScope,
)
from data.store import Store


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """Result of an import; `created` is False where the same set was there already."""

    summary: SetSummary
    created: bool
    warnings: tuple[Problem, ...]


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say which path it was that could not be written."""
    try:
        yield
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}."
        raise FileFormatError(message, advice="Check the path, its permissions and free space.") from error


RATINGS = "ratings.jsonl"
"""What `arena sets build` rated, beside the set that it built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortAnswerFile:
    """What was written: answers, and questions without short answers, which are not in the file."""

    file: Path
    answers: int
    without: int

    def as_json(self) -> dict[str, object]:
        """The object that `arena sets export --format short-answers --json` prints."""
        return {"file": str(self.file), "answers": self.answers, "without": self.without}


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
        from data.files.question_sets.registry import load_set  # noqa: PLC0415 - what reads files, which lists do without

        require(caller, TokenScope.ORGANISE)
        loaded = load_set(path, name=name)
        created = self.add(loaded.questions, loaded.policy, caller=caller)
        summary = self._store.sets.summary(loaded.questions.name)
        warnings = (*loaded.warnings, *self._same_title(summary))
        return ImportedSet(summary, created, warnings)

    def _same_title(self, summary: SetSummary) -> Iterator[Problem]:
        """A warning where another set has the title, by which teams would choose between the two."""
        others = [
            one.name
            for one in self._store.sets.summaries()
            if summary.title and one.title == summary.title and one.name != summary.name
        ]
        if others:
            yield Problem(
                0,
                "title-taken",
                f"The title {summary.title!r} is also that of {', '.join(others)}.",
                Severity.WARNING,
                "Pages add the sets' names; give this one a title of its own, such as with its year.",
            )

    def add(
        self, questions: QuestionSet, policy: SetPolicy | None = None, *, caller: Caller = OPERATOR
    ) -> bool:
        """Store a question set, and return whether it is new; the same again changes nothing.

        Raises:
            ConflictError: Another set has this name.
            ForbiddenError: Only organisers may.
        """
        from data.files.question_sets.rows import content_hash  # noqa: PLC0415 - as above

        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            created = self._store.sets.add(questions, content_hash(questions))
            # A policy that was changed since stays: the file says how a set begins.
            if created and policy is not None:
                self._store.policies.put(policy)
        if created:
            caller.log("set-imported", f"set {questions.name}", questions=len(questions.questions))
        return created

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
        question_set = self._store.sets.get(name)
        seen = SetAccess(self._store, caller, name)
        return question_set.with_questions(map(seen.question, question_set.questions))

    def question(self, name: str, question_id: str, *, caller: Caller = PUBLIC) -> Question:
        """One question of a set.

        Raises:
            NotFoundError: There is no such set, or no such question in it.
        """
        question = self._store.sets.question(name, question_id)
        return SetAccess(self._store, caller, name).question(question)

    def page(
        self, name: str, *, after: int, limit: int, caller: Caller = PUBLIC
    ) -> tuple[tuple[int, Question], ...]:
        """Up to `limit` questions of a set with their positions, from the one after position `after` on.

        Raises:
            NotFoundError: There is no such set.
        """
        seen = SetAccess(self._store, caller, name)
        rows = self._store.sets.page(self._store.sets.summary(name).id, after=after, limit=limit)
        return tuple((at, seen.question(question)) for at, question in rows)

    def export(
        self,
        name: str,
        folder: Path,
        *,
        form: str = "jsonl",
        caller: Caller = OPERATOR,
    ) -> SetSummary:
        """Write a set as a folder that an import reads.

        Args:
            name: The set.
            folder: The folder.
            form: The name of a format of question sets.
            caller: Who asks.

        Raises:
            NotFoundError: There is no such set or format.
            ConflictError: The folder holds data files or judgments already.
            FileFormatError: It cannot be written.
        """
        from data.files.question_sets.registry import set_writer  # noqa: PLC0415 - as above

        questions, write = self.get(name, caller=caller), set_writer(form)
        with _writing(folder):
            write(questions, folder)
        return self.summary(name)

    def write_short_answers(self, name: str, file: Path, *, caller: Caller = OPERATOR) -> ShortAnswerFile:
        """Write a file for `arena submissions add`: of each question its short answers, a line each.

        Source: RAG-QA Arena, section 6.1 and Table 4, which enters RobustQA's extracted answers so.

        Raises:
            NotFoundError: There is no such set.
            ForbiddenError: Only organisers may: short answers give references away.
            InputError: No question of the set has short answers.
            FileFormatError: The file cannot be written.
        """
        require(caller, TokenScope.ORGANISE)
        questions = self._store.sets.get(name).questions
        rows = [
            {"question_id": question.id, "answer": "\n".join(question.short_answers)}
            for question in questions
            if question.short_answers
        ]
        if not rows:
            raise InputError(
                f"No question of {name} has short answers.",
                advice="Import the set with `short_answers` in its questions.",
            )
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        with _writing(file):
            file.write_text(lines, encoding="utf-8")
        return ShortAnswerFile(file=file, answers=len(rows), without=len(questions) - len(rows))


ZIP = b"PK"
DEEPEST = 3
"""Names in the path of a file of a set in a zip file: `scifact/qrels/test.tsv`."""
CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetView:
    """A set as organisers see it.

    `splits` counts questions by split, `references` those that have one; `entrants` are the submissions that
    a round would take; `frozen` says that no phase is open or will open.
    """

    summary: SetSummary
    policy: SetPolicy
    splits: Mapping[str, int]
    references: int
    entrants: tuple[Submission, ...]
    frozen: bool


class SetAdmin:
    """Use cases of organisers around sets; every one asks who the caller is."""

    def __init__(self, store: Store, sets: SetService, policies: PolicyService) -> None:
        self._store = store
        self._sets = sets
        self._policies = policies

    def bring(
        self, given_name: str, content: bytes, *, name: str | None = None, caller: Caller
    ) -> ImportedSet:
        """Import an uploaded set: a zip file of a folder, a questions file, Parquet, or one of LFRQA's files.

        LFRQA's files are known by their names.

        Raises:
            InvalidFileError: The files have problems; all are listed and nothing is stored.
            FileFormatError: It cannot be unpacked or read.
            ConflictError: Another set has this name.
        """
        require(caller, TokenScope.ORGANISE)
        from data.files.zip_files import ArchiveLimits, unpack  # noqa: PLC0415 - as above

        plain = file_name(given_name)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / plain
            file.write_bytes(content)
            if not content.startswith(ZIP):
                return self._sets.import_from(file, name=name, caller=caller)
            # The folder's name is what a set without set.toml is called.
            inside = Path(folder) / "unpacked" / (PurePosixPath(plain).stem or "set")
            inside.mkdir(parents=True)
            unpacked = unpack(file, inside, ArchiveLimits(deepest=DEEPEST))
            return self._sets.import_from(unpacked, name=name, caller=caller)

    def view(self, name: str, *, caller: Caller) -> SetView:
        """One set.

        Raises:
            NotFoundError: There is none of this name.
        """
        require(caller, TokenScope.ORGANISE)
        summary = self._sets.summary(name)
        policy = self._policies.get(name)
        splits: Counter[str] = Counter()
        references = 0
        for _, question in self._store.sets.numbered(summary.id):
            splits[question.split.value] += 1
            references += bool(question.reference)
        return SetView(
            summary=summary,
            policy=policy,
            splits=splits,
            references=references,
            entrants=self._store.submissions.find(set_name=name, newest=True),
            frozen=is_frozen(policy, datetime.now(UTC)),
        )

    def freeze(self, name: str, *, caller: Caller) -> SetPolicy:
        """Close a set for good: open phases end now, later ones are dropped; what was accepted stays.

        Raises:
            NotFoundError: There is no such set.
        """
        return self._policies.put(frozen(self._policies.get(name), datetime.now(UTC)), caller=caller)


def frozen(policy: SetPolicy, at: datetime) -> SetPolicy:
    """A policy under which nothing is taken from a moment on."""
    begun = [phase for phase in policy.phases if phase.opens_at is None or phase.opens_at < at]
    ended = [
        phase if phase.closes_at and phase.closes_at <= at else replace(phase, closes_at=at)
        for phase in begun
    ]
    return replace(policy, phases=tuple(ended) or (Phase(name=CLOSED, closes_at=at),))


def is_frozen(policy: SetPolicy, at: datetime) -> bool:
    """Whether a set takes nothing now and never will."""
    return bool(policy.phases) and all(phase.closes_at and phase.closes_at <= at for phase in policy.phases)
