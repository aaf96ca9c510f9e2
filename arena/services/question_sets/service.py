"""Question sets: import, read, count, export."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from arena.models.sets import SetStatistics
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, require
from arena.services.accounts.set_access import SetAccess
from data.errors import FileFormatError, InputError
from data.models import Problem, Question, QuestionSet, SetPolicy, SetSummary, Severity, TokenScope
from data.store import Store

OVERALL = "overall"
MANY_DOCUMENTS = 10
MAX_COUNTED = 5
"""Sentences with at least this many documents are counted together."""


@dataclass(frozen=True, slots=True)
class ImportedSet:
    """Result of an import; `created` is False if the same set exists already."""

    summary: SetSummary
    created: bool
    warnings: tuple[Problem, ...]


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}."
        raise FileFormatError(message, advice="Check the path, its permissions and free space.") from error


RATINGS = "ratings.jsonl"
"""File of the ratings of `arena sets build` in the set's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortAnswerFile:
    """File of short answers, with counts of answers and of questions without one."""

    file: Path
    answers: int
    without: int

    def as_json(self) -> dict[str, object]:
        """Return the object that `arena sets export --format short-answers --json` prints."""
        return {"file": str(self.file), "answers": self.answers, "without": self.without}


class SetService:
    """Service for question sets; only the operator sees hidden references."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def import_from(self, path: Path, *, name: str | None = None, caller: Caller = OPERATOR) -> ImportedSet:
        """Import a question set from a folder or file; a repeated import changes nothing."""
        from data.files.question_sets.registry import load_set

        require(caller, TokenScope.ORGANISE)
        loaded = load_set(path, name=name)
        created = self.add(loaded.questions, loaded.policy, caller=caller)
        summary = self._store.sets.summary(loaded.questions.name)
        warnings = (*loaded.warnings, *self._same_title(summary))
        return ImportedSet(summary, created, warnings)

    def _same_title(self, summary: SetSummary) -> Iterator[Problem]:
        names = [
            other.name
            for other in self._store.sets.summaries()
            if summary.title and other.title == summary.title and other.name != summary.name
        ]
        if names:
            yield Problem(
                0,
                "title-taken",
                f"The title {summary.title!r} is already used by {', '.join(names)}.",
                Severity.WARNING,
                "Choose a different title, for example with the year.",
            )

    def add(
        self, questions: QuestionSet, policy: SetPolicy | None = None, *, caller: Caller = OPERATOR
    ) -> bool:
        """Store a question set, and return whether it is new."""
        from data.files.question_sets.rows import content_hash

        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            created = self._store.sets.add(questions, content_hash(questions))
            # The file's policy is only the initial policy.
            if created and policy is not None:
                self._store.policies.put(policy)
        if created:
            caller.log("set-imported", f"set {questions.name}", questions=len(questions.questions))
        return created

    def summaries(self) -> tuple[SetSummary, ...]:
        """Return all sets by name."""
        return self._store.sets.summaries()

    def summary(self, name: str) -> SetSummary:
        """Return a set without its questions."""
        return self._store.sets.summary(name)

    def get(self, name: str, *, caller: Caller = PUBLIC) -> QuestionSet:
        """Return a set with its questions."""
        question_set = self._store.sets.get(name)
        access = SetAccess(self._store, caller, name)
        return question_set.with_questions(map(access.question, question_set.questions))

    def question(self, name: str, question_id: str, *, caller: Caller = PUBLIC) -> Question:
        """Return a question of a set."""
        question = self._store.sets.question(name, question_id)
        return SetAccess(self._store, caller, name).question(question)

    def page(
        self, name: str, *, after: int, limit: int, caller: Caller = PUBLIC
    ) -> tuple[tuple[int, Question], ...]:
        """Return up to `limit` questions after position `after`, with their positions."""
        access = SetAccess(self._store, caller, name)
        rows = self._store.sets.page(self._store.sets.summary(name).id, after=after, limit=limit)
        return tuple((at, access.question(question)) for at, question in rows)

    def export(
        self, name: str, folder: Path, *, form: str = "jsonl", caller: Caller = OPERATOR
    ) -> SetSummary:
        """Write a set as a folder that can be imported."""
        from data.files.question_sets.registry import set_writer

        questions, write = self.get(name, caller=caller), set_writer(form)
        with _writing(folder):
            write(questions, folder)
        return self.summary(name)

    def write_short_answers(self, name: str, file: Path, *, caller: Caller = OPERATOR) -> ShortAnswerFile:
        """Write a file for `arena submissions add` with each question's short answers, one per line.

        Source: RAG-QA Arena, section 6.1 and Table 4, which submits RobustQA's extracted answers this way.
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

    def statistics(self, name: str) -> tuple[SetStatistics, ...]:
        """Return statistics of a set, overall and by domain in order."""
        summary = self._store.sets.summary(name)
        by_domain: dict[str, list[Question]] = {domain: [] for domain in summary.domains}
        for _, question in self._store.sets.numbered(summary.id):
            by_domain[question.domain].append(question)
        whole = [question for questions in by_domain.values() for question in questions]
        parts = [(domain, questions) for domain, questions in by_domain.items() if questions]
        return tuple(domain_statistics(domain, questions) for domain, questions in [(OVERALL, whole), *parts])


def domain_statistics(domain: str, questions: Sequence[Question]) -> SetStatistics:
    """Count words, documents, passages and short answers of questions.

    Source: RAG-QA Arena, tables 2 and 7 and figure 3.
    """
    documents = [len(set(question.gold_doc_ids)) for question in questions if question.gold_doc_ids]
    cited = [len(set(sentence)) for question in questions for sentence in question.citations]
    by_count = Counter(min(count, MAX_COUNTED) for count in cited)
    short = [question.short_answers for question in questions if question.short_answers]
    passages = [question.passages for question in questions if question.passages]
    references = [question.reference for question in questions if question.reference]
    return SetStatistics(
        domain=domain,
        questions=len(questions),
        references=len(references),
        reference_words=_mean_words(references),
        words_a_question=_mean_words([question.reference or "" for question in questions]),
        question_words=_mean_words([question.question for question in questions]),
        documents=_mean(documents),
        several_documents=_mean([count > 1 for count in documents]),
        many_documents=_mean([count >= MANY_DOCUMENTS for count in documents]),
        most_documents=max(documents, default=None),
        sentences=len(cited),
        documents_a_sentence=[by_count[count] / len(cited) for count in range(MAX_COUNTED + 1)]
        if cited
        else [],
        short_answers=_mean(list(map(len, short))),
        short_answer_words=_mean_words(chain.from_iterable(short)),
        passages=_mean(list(map(len, passages))),
        passage_words=_mean_words(passage.text for passage in chain.from_iterable(passages)),
    )


def _mean_words(texts: Iterable[str]) -> float | None:
    return _mean([len(text.split()) for text in texts])


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
