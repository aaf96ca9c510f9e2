"""Boards of what systems retrieved: one for each set and its relevance judgments, computed when asked for."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock

import numpy as np

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import redacted
from arena.services.accounts.set_access import SetAccess
from arena.services.accounts.visibility import Visibility
from arena.services.question_sets.qrels import GOLD, SetQrels
from arena.services.retrieval_boards.controlled import controlled_values
from arena.services.submissions.status import StatusReader
from data.corpora.chunking import Documents
from data.errors import NotFoundError
from data.progress import working
from data.records import Question, QuestionSet, Submission, SubmissionKind
from data.records.rankings import Qrels, RankedPassage, Ranking
from data.stats import Floats
from data.store import Store
from leaderboard.retrieval.board import RetrievalTable
from leaderboard.retrieval.measures import JUDGED, Values, measure_rankings, measures_for

CACHE_SIZE = 256
RETRIEVED = "retrieved"
"""Beside the measures: 1 where a submission has passages for a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A submission on a board, as the caller sees it.

    Attributes:
        submission: With a stand-in for its name where that is hidden.
        stored: Its number, which is never shown.
        visibility: How much of it is seen.
        judged: The mean share of its first ten passages that somebody judged, 0–1.
    """

    submission: Submission
    stored: int
    visibility: Visibility
    judged: float


@dataclass(frozen=True, eq=False, kw_only=True)
class RetrievalBoard:
    """What systems retrieved, measured.

    Attributes:
        questions: The set.
        qrels: The judgments.
        choices: Names of all judgments that the set has.
        entrants: By the names on the board.
        table: The values.
        content_hash: sha256 of set, judgments and submissions.
    """

    questions: QuestionSet
    qrels: Qrels
    choices: tuple[str, ...]
    entrants: Mapping[str, Entrant]
    table: RetrievalTable
    content_hash: str

    @property
    def unjudged(self) -> int:
        """Questions without any judgment; the board leaves them out."""
        return sum(question.id not in self.qrels.judgments for question in self.questions.questions)

    @property
    def without_relevant(self) -> int:
        """Questions whose judged passages are all irrelevant; the board leaves them out."""
        return len(self.qrels.judgments) - len(self.qrels.relevant)

    @property
    def by_document(self) -> bool:
        """Whether chunks count as their documents, as gold documents want."""
        return self.qrels.name == GOLD


class RetrievalBoards:
    """Use cases around boards of contexts. What is public of a submission is as everywhere."""

    def __init__(self, store: Store, qrels: SetQrels) -> None:
        self._store = store
        self._qrels = qrels
        self._kept: OrderedDict[tuple[int, str], Values] = OrderedDict()
        self._lock = Lock()

    def sets(self) -> tuple[str, ...]:
        """The sets that somebody submitted contexts to, by name."""
        submissions = self._store.submissions.find(kind=SubmissionKind.CONTEXTS, newest=True)
        return tuple(sorted({submission.set_name for submission in submissions}))

    def board(self, set_name: str, *, qrels: str = "", caller: Caller = PUBLIC) -> RetrievalBoard:
        """The board of a set: the version of each system that represents it.

        Args:
            set_name: The set.
            qrels: Which judgments; by default those attached last, else the set's gold documents.
            caller: Who asks.

        Raises:
            NotFoundError: There is no such set, it has no judgments, or nobody submitted contexts to it.
        """
        questions = self._store.sets.get(set_name)
        judged = self._qrels.get(questions, qrels)
        seen = self._seen(set_name, caller)
        if not seen:
            raise NotFoundError(
                f"Nobody submitted contexts to {set_name} yet.",
                advice="Add a run with `arena submissions add FILE --kind contexts`.",
            )
        asked = [question for question in questions.questions if question.id in judged.relevant]
        with working("measuring rankings", len(seen)) as work:
            values = []
            for stored, _, _ in seen:
                values.append(self._values(stored, judged, questions))
                work.done += 1
        entrants = {
            shown.system: Entrant(
                submission=shown,
                stored=stored.id,
                visibility=visibility,
                judged=_mean([own[JUDGED][question.id] for question in asked]),
            )
            for (stored, shown, visibility), own in zip(seen, values, strict=True)
        }
        shown_texts = SetAccess(self._store, caller, set_name)
        return RetrievalBoard(
            questions=questions.with_questions(map(shown_texts.question, questions.questions)),
            qrels=judged,
            choices=self._qrels.names(questions),
            entrants=entrants,
            table=self._table(judged, asked, entrants, values),
            content_hash=_content(questions, judged, [stored for stored, _, _ in seen]),
        )

    def ranking(self, board: RetrievalBoard, system: str, question: str) -> Ranking | None:
        """What a system of a board retrieved for a question, as the board counts it; None for nothing.

        Raises:
            NotFoundError: The board does not have the system.
        """
        board.table.place_of(system)
        found = self._store.retrieval.ranking(board.entrants[system].stored, question)
        return None if found is None else _counted(_names(board.qrels), found)

    def _seen(self, set_name: str, caller: Caller) -> list[tuple[Submission, Submission, Visibility]]:
        """The submissions that represent systems: as stored, as the caller sees them, and how much."""
        statuses, places = StatusReader(self._store, set_name), self._store.submissions.places(set_name)
        found = []
        for stored in self._store.submissions.find(
            set_name=set_name, kind=SubmissionKind.CONTEXTS, newest=True
        ):
            shown = redacted(caller, stored, published=statuses.published(stored), places=places)
            if shown is not None:
                found.append((stored, *shown))
        return found

    def _values(self, submission: Submission, qrels: Qrels, questions: QuestionSet) -> Values:
        """What a submission scores; neither it nor judgments ever change, so it is kept."""
        key = (submission.id, qrels.content_hash)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        named = _names(qrels)
        rankings = {
            question: _counted(named, ranking)
            for question, ranking in self._store.retrieval.rankings(submission.id).items()
            if question in qrels.relevant
        }
        ids = {
            question: [passage.id for passage in ranking.passages] for question, ranking in rankings.items()
        }
        controlled = controlled_values(qrels, questions.by_id, rankings) if qrels.has_subtopics else {}
        retrieved = {question: float(bool(passages)) for question, passages in ids.items()}
        values = {**measure_rankings(qrels, ids), **controlled, RETRIEVED: retrieved}
        with self._lock:
            self._kept[key] = values
            while len(self._kept) > CACHE_SIZE:
                self._kept.popitem(last=False)
        return values

    def _table(
        self,
        qrels: Qrels,
        asked: Sequence[Question],
        entrants: Mapping[str, Entrant],
        values: Sequence[Values],
    ) -> RetrievalTable:
        measures = measures_for(qrels)
        arrays: dict[str, Floats] = {
            measure.name: np.array([[own[measure.name][question.id] for question in asked] for own in values])
            for measure in measures
        }
        missing = [[not own[RETRIEVED].get(question.id) for question in asked] for own in values]
        return RetrievalTable(
            systems=tuple(entrants),
            questions=tuple(question.id for question in asked),
            domains=tuple(question.domain for question in asked),
            measures=measures,
            values=arrays,
            missing=np.array(missing, dtype=np.bool_).reshape(len(entrants), len(asked)),
        )


def _names(qrels: Qrels) -> Callable[[str], str]:
    """What judgments call a passage; judgments of gold documents call it by its document."""
    documents = Documents(frozenset(chain.from_iterable(qrels.grades.values())))
    return documents.of if qrels.name == GOLD else documents.own


def _counted(named: Callable[[str], str], ranking: Ranking) -> Ranking:
    """A ranking by the names of judgments, each name once, where it stands first."""
    passages: dict[str, RankedPassage] = {}
    for passage in ranking.passages:
        name = named(passage.id)
        passages.setdefault(name, passage if name == passage.id else replace(passage, id=name))
    return Ranking(ranking.question_id, tuple(passages.values()))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _content(questions: QuestionSet, qrels: Qrels, submissions: Sequence[Submission]) -> str:
    hashes = sorted(f"{submission.system} {submission.content_hash}" for submission in submissions)
    parts = [questions.name, questions.version, qrels.content_hash, *hashes]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
