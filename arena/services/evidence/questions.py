"""The evidence behind the numbers: one question with its answers, battles, judgments and scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from arena.models.results import BattleEvidence, QuestionEvidence, RoundAnswer
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.rounds.visibility import RoundAccess
from data.models import Answer, Preference, Question, Round, Submission
from data.models import BattleEvidence as StoredEvidence
from data.store import Store
from data.store.boards.scores import ScoredAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """One answer on a question page; `wins`, `ties` and `losses` are over the round's battles on it."""

    system: str
    submission: Submission
    is_reference: bool
    answer: Answer
    wins: int
    ties: int
    losses: int
    scores: tuple[ScoredAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """Everything a question page shows of one round; `notice` says which texts are left out, and why."""

    set_name: str
    domain_label: str
    question: Question
    answers: tuple[AnswerView, ...]
    battles: tuple[StoredEvidence, ...]
    notice: str = ""


class RoundEvidence:
    """The questions of one round as a caller sees them; states and rights are those of when it was made.

    Raises:
        NotFoundError: The round is not for the caller.
        RetractedError: Its board was retracted, and the caller is no organiser.
    """

    def __init__(self, store: Store, round_: Round, caller: Caller) -> None:
        self._store, self._round = store, round_
        self._seen = RoundAccess(store, caller, round_)
        self._reference = store.submissions.reference(round_.set_name)
        entrants = self._seen.entrants.values()
        self._sides = {side.id: side for side in (*entrants, self._reference)}
        self._shown = {side.system: self._seen.submission(side.system) or side for side in entrants}

    def question(self, question_id: str) -> QuestionView:
        """Everything about a question that the caller may see; best answer first.

        Raises:
            NotFoundError: There is no such question in the round's set.
        """
        seen, set_name = self._seen, self._round.set_name
        question = self._store.sets.question(set_name, question_id)
        battles = tuple(map(seen.evidence, self._store.verdicts.of_question(self._round.name, question_id)))
        scores = tuple(map(seen.score, self._store.scores.of_question(set_name, question_id)))
        views = [
            _answer_view(self._sides[number], answer, self._reference, battles, scores)
            for number, answer in self._store.submissions.to_question(set_name, question_id).items()
            if number in self._sides
        ]
        shown = [
            replace(view, submission=self._shown.get(view.system, view.submission))
            for view in views
            if seen.answers_of(view.system, question)
        ]
        return QuestionView(
            set_name=set_name,
            domain_label=seen.texts.domains[question.domain],
            question=seen.question(question),
            answers=tuple(sorted(shown, key=lambda view: (view.losses - view.wins, view.system))),
            battles=battles,
            notice=seen.texts.notice,
        )

    def evidence(self, question_id: str) -> QuestionEvidence:
        """The same as what routes, commands and tools give.

        Raises:
            NotFoundError: There is no such question in the round's set.
        """
        view = self.question(question_id)
        return QuestionEvidence.of(
            view.question,
            view,
            round=self._round.name,
            set=view.set_name,
            answers=[
                RoundAnswer.of(
                    answer,
                    answer=answer.answer.answer,
                    context_ids=[passage.id for passage in answer.answer.contexts],
                )
                for answer in view.answers
            ],
            battles=[BattleEvidence.of(one.battle, judgments=one.judgments) for one in view.battles],
        )


class EvidenceService:
    """Use cases of readers who trace a number to its evidence."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def question(self, round_name: str, question_id: str, *, caller: Caller = PUBLIC) -> QuestionView:
        """Everything about a question in a round that the caller may see; best answer first.

        Raises:
            NotFoundError: There is no such round, or no such question in its set.
        """
        return self.of_round(round_name, caller=caller).question(question_id)

    def notice(self, round_name: str, *, caller: Caller = PUBLIC) -> str:
        """Which texts of a round are kept from the caller, and why; empty where none are.

        Raises:
            NotFoundError: There is no such round that the caller may see.
            RetractedError: Its board was retracted, and the caller is no organiser.
        """
        return RoundAccess(self._store, caller, self._store.rounds.get(round_name)).texts.notice

    def of_round(self, round_name: str, *, caller: Caller = PUBLIC) -> RoundEvidence:
        """What gives the questions of a round one after another.

        Raises:
            NotFoundError: There is no such round that the caller may see.
            RetractedError: Its board was retracted, and the caller is no organiser.
        """
        return RoundEvidence(self._store, self._store.rounds.get(round_name), caller)


def _answer_view(
    submission: Submission,
    answer: Answer,
    reference: Submission,
    battles: tuple[StoredEvidence, ...],
    scores: tuple[ScoredAnswer, ...],
) -> AnswerView:
    results = Counter(_result(battle, submission.system) for battle in battles)
    return AnswerView(
        system=submission.system,
        submission=submission,
        is_reference=submission.id == reference.id,
        answer=answer,
        wins=results[Preference.A],
        ties=results[Preference.TIE],
        losses=results[Preference.B],
        scores=tuple(score for score in scores if score.submission == submission.id),
    )


def _result(evidence: StoredEvidence, system: str) -> Preference | None:
    """The verdict as if `system` were side a; None where it did not meet or was not judged."""
    battle = evidence.battle
    if battle.preference is None or system not in {battle.system_a, battle.system_b}:
        return None
    return battle.preference if system == battle.system_a else battle.preference.flipped
