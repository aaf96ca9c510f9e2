"""One question of a retrieval board: what each system retrieved, and which relevant passages it missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import submission_visibility
from arena.services.accounts.set_access import SetAccess
from arena.services.accounts.visibility import Kind, Visibility
from arena.services.retrieval_boards.controlled import required_passages
from arena.services.retrieval_boards.service import RetrievalBoard, RetrievalBoards
from data.corpora.chunking import document_of
from data.errors import ForbiddenError, NotFoundError
from data.records import Question
from data.records.rankings import Grades
from data.store import Store

DEPTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageLine:
    """A passage at its place in a ranking.

    Attributes:
        rank: From 1; None where it was not retrieved.
        id: Its id.
        grade: The highest grade that it was given; None where nobody judged it.
        relevant: Whether that is high enough.
        subtopics: The subtopics that it answers.
        new: Those of them that no passage before it answers.
        text: Empty where it is not known.
        title: The same.
    """

    rank: int | None
    id: str
    grade: float | None
    relevant: bool
    subtopics: tuple[str, ...]
    new: tuple[str, ...]
    text: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRanking:
    """What a system retrieved for a question.

    Attributes:
        system: Its name.
        values: By measure; None where it does not exist.
        shown: Whether the caller may see its passages: those of its own team, or published.
        retrieved: How many passages it retrieved; 0 where the question is missing from its file.
        unjudged: How many of those that are listed nobody judged.
        passages: The first ones.
        missed: Relevant passages that are not among those, with their ranks where they come later.
        unanswered: Subtopics that none of the first ones answers.
    """

    system: str
    values: Mapping[str, float | None]
    shown: bool
    retrieved: int
    unjudged: int
    passages: tuple[PassageLine, ...]
    missed: tuple[PassageLine, ...]
    unanswered: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRankings:
    """A question with what systems retrieved for it.

    Attributes:
        question: As the caller may see it.
        relevant: How many passages are relevant.
        subtopics: What each subtopic asks, by its id; empty texts where that is not known.
        required: Ids of the required subset of the relevant passages, Z*; empty without subtopics.
        systems: In the order of the board.
        depth: How many passages of a ranking are listed.
    """

    question: Question
    relevant: int
    subtopics: Mapping[str, str]
    required: tuple[str, ...]
    systems: tuple[SystemRanking, ...]
    depth: int


class RankedQuestions:
    """Shows single questions of retrieval boards."""

    def __init__(self, store: Store, boards: RetrievalBoards) -> None:
        self._store = store
        self._boards = boards

    def of(
        self, board: RetrievalBoard, question_id: str, *, depth: int = DEPTH, caller: Caller = PUBLIC
    ) -> QuestionRankings:
        """A question of a board.

        Raises:
            NotFoundError: The board does not count such a question.
            ForbiddenError: The set hides what is relevant to it.
        """
        table, set_name = board.table, board.questions.name
        if question_id not in table.questions:
            raise NotFoundError(
                f"The board has no question {question_id!r}.",
                advice="It has the questions of the set to which some passage is relevant.",
            )
        stored = board.questions.by_id[question_id]
        seen = SetAccess(self._store, caller, set_name)
        question = seen.question(stored)
        if question is not stored and seen.private:
            raise ForbiddenError(seen.notice, advice="The board's means are public.")
        if question is not stored:
            message = f"{set_name} hides its references, and so which passages are relevant."
            raise ForbiddenError(message, advice="The board's means are public.")
        return QuestionRankings(
            question=question,
            relevant=len(board.qrels.relevant[question_id]),
            subtopics=_subtopics(board, question),
            required=required_passages(board.qrels, question_id) if board.qrels.has_subtopics else (),
            systems=tuple(self._system(board, system, question, depth, caller) for system in table.systems),
            depth=depth,
        )

    def _system(
        self, board: RetrievalBoard, system: str, question: Question, depth: int, caller: Caller
    ) -> SystemRanking:
        submission = self._store.submissions.get(board.entrants[system].stored)
        seen = submission_visibility(caller, submission, published=False, kind=Kind.ANSWERS)
        ranking = self._boards.ranking(board, system, question.id)
        retrieved = () if ranking is None else ranking.passages
        values = {
            measure.name: board.table.value(measure.name, system, question.id)
            for measure in board.table.measures
        }
        judged = _Judged(board, question)
        lines = judged.lines([(passage.id, passage.text, passage.title) for passage in retrieved])
        first = lines[:depth]
        named = {line.id for line in first}
        later = {line.id: line for line in lines[depth:]}
        missed = [
            later.get(passage) or judged.line(None, passage)
            for passage in sorted(board.qrels.relevant[question.id] - named)
        ]
        answered = {subtopic for line in first for subtopic in line.subtopics}
        is_shown = seen is Visibility.FULL
        return SystemRanking(
            system=system,
            values=values,
            shown=is_shown,
            retrieved=len(retrieved),
            unjudged=sum(line.grade is None for line in first),
            passages=first if is_shown else (),
            missed=tuple(missed) if is_shown else (),
            unanswered=tuple(name for name in judged.subtopics if name not in answered) if is_shown else (),
        )


class _Judged:
    """What is known of the passages of one question."""

    def __init__(self, board: RetrievalBoard, question: Question) -> None:
        self._grades: Grades = board.qrels.grades[question.id]
        self._relevant = board.qrels.relevant[question.id]
        self.subtopics = board.qrels.answering(question.id) if board.qrels.has_subtopics else {}
        self._texts = {passage.id: (passage.text, passage.title) for passage in question.passages}
        if board.by_document:
            for passage in question.passages:
                self._texts.setdefault(document_of(passage.id), (passage.text, passage.title))

    def lines(self, passages: list[tuple[str, str, str]]) -> tuple[PassageLine, ...]:
        before: set[str] = set()
        found = []
        for rank, (name, text, title) in enumerate(passages, start=1):
            line = self.line(rank, name, text, title, before)
            before |= set(line.subtopics)
            found.append(line)
        return tuple(found)

    def line(
        self,
        rank: int | None,
        name: str,
        text: str = "",
        title: str = "",
        before: set[str] | frozenset[str] = frozenset(),
    ) -> PassageLine:
        own = tuple(subtopic for subtopic, passages in self.subtopics.items() if name in passages)
        known, headed = self._texts.get(name, ("", ""))
        return PassageLine(
            rank=rank,
            id=name,
            grade=self._grades.get(name),
            relevant=name in self._relevant,
            subtopics=own,
            new=tuple(subtopic for subtopic in own if subtopic not in before),
            text=text or known,
            title=title or headed,
        )


def _subtopics(board: RetrievalBoard, question: Question) -> dict[str, str]:
    """What each subtopic asks: numbered ones are the set's sub-questions."""
    if not board.qrels.has_subtopics:
        return {}
    texts = {str(place): text for place, text in enumerate(question.sub_questions, start=1)}
    return {name: texts.get(name, "") for name in board.qrels.answering(question.id)}
