"""One question of a retrieval board: what each system retrieved, and which relevant passages it missed."""

from __future__ import annotations

from arena.models.retrieval import (
    QuestionRankings,
    RankedPassage,
    SystemRanking,
)
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import submission_visibility
from arena.services.accounts.set_access import SetAccess
from arena.services.accounts.visibility import Kind, Visibility
from arena.services.retrieval_boards.controlled import required_passages
from arena.services.retrieval_boards.service import RetrievalBoard, RetrievalBoards
from data.corpora.chunking import Documents
from data.errors import ForbiddenError, NotFoundError
from data.records import Question
from data.records.rankings import Grades
from data.store import Store

DEPTH = 20


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
            question_id=question.id,
            domain=question.domain,
            question=question.question,
            relevant=len(board.qrels.relevant[question_id]),
            subtopics=_subtopics(board, question),
            required=required_passages(board.qrels, question_id) if board.qrels.has_subtopics else [],
            systems=[self._system(board, system, question, depth, caller) for system in table.systems],
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
            passages=first if is_shown else [],
            missed=missed if is_shown else [],
            unanswered=[name for name in judged.subtopics if name not in answered] if is_shown else [],
        )


class _Judged:
    """What is known of the passages of one question."""

    def __init__(self, board: RetrievalBoard, question: Question) -> None:
        self._grades: Grades = board.qrels.grades[question.id]
        self._relevant = board.qrels.relevant[question.id]
        self.subtopics = board.qrels.answering(question.id) if board.qrels.has_subtopics else {}
        self._texts = {passage.id: (passage.text, passage.title) for passage in question.passages}
        if board.by_document:
            gold = Documents(self._grades)
            for passage in question.passages:
                self._texts.setdefault(gold.of(passage.id), (passage.text, passage.title))

    def lines(self, passages: list[tuple[str, str, str]]) -> list[RankedPassage]:
        before: set[str] = set()
        found = []
        for rank, (name, text, title) in enumerate(passages, start=1):
            line = self.line(rank, name, text, title, before)
            before |= set(line.subtopics)
            found.append(line)
        return found

    def line(
        self,
        rank: int | None,
        name: str,
        text: str = "",
        title: str = "",
        before: set[str] | frozenset[str] = frozenset(),
    ) -> RankedPassage:
        own = [subtopic for subtopic, passages in self.subtopics.items() if name in passages]
        known, headed = self._texts.get(name, ("", ""))
        return RankedPassage(
            rank=rank,
            id=name,
            grade=self._grades.get(name),
            relevant=name in self._relevant,
            subtopics=own,
            new=[subtopic for subtopic in own if subtopic not in before],
            text=text or known,
            title=title or headed,
        )


def _subtopics(board: RetrievalBoard, question: Question) -> dict[str, str]:
    """What each subtopic asks: numbered ones are the set's sub-questions."""
    if not board.qrels.has_subtopics:
        return {}
    texts = {str(place): text for place, text in enumerate(question.sub_questions, start=1)}
    return {name: texts.get(name, "") for name in board.qrels.answering(question.id)}
