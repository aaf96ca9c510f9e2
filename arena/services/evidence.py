"""What stands behind the numbers: one question with its answers, battles, judgments and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from arena.services.identity import PUBLIC, Caller
from arena.services.round_sight import RoundSight
from data.records import Answer, BattleEvidence, Preference, Question, Submission
from data.store import Store
from data.store.scores import ScoredAnswer


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
    """Everything a question page shows of one round."""

    set_name: str
    domain_label: str
    question: Question
    answers: tuple[AnswerView, ...]
    battles: tuple[BattleEvidence, ...]


class EvidenceService:
    """Use cases of readers who trace a number to its evidence."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def question(self, round_name: str, question_id: str, *, caller: Caller = PUBLIC) -> QuestionView:
        """Everything about a question in a round that the caller may see; best answer first.

        Raises:
            NotFoundError: There is no such round, or no such question in its set.
        """
        found = self._store.rounds.get(round_name)
        seen = RoundSight(self._store, caller, found)
        summary = self._store.sets.summary(found.set_name)
        question = self._store.sets.question(found.set_name, question_id)
        battles = tuple(map(seen.evidence, self._store.verdicts.of_question(round_name, question_id)))
        scores = tuple(map(seen.score, self._store.scores.of_question(found.set_name, question_id)))
        reference = self._store.submissions.reference(found.set_name)
        entered: Mapping[str, int] = {**found.plan["systems"], reference.system: reference.version}
        views = [
            _answer_view(self._store.submissions.get(number), answer, reference, battles, scores)
            for number, answer in self._store.submissions.to_question(found.set_name, question_id).items()
        ]
        shown = [
            replace(view, submission=seen.submission(view.system) or view.submission)
            for view in views
            if entered.get(view.system) == view.submission.version and seen.answers_of(view.system, question)
        ]
        return QuestionView(
            set_name=found.set_name,
            domain_label=summary.domains[question.domain],
            question=seen.question(question),
            answers=tuple(sorted(shown, key=lambda view: (view.losses - view.wins, view.system))),
            battles=battles,
        )


def _answer_view(
    submission: Submission,
    answer: Answer,
    reference: Submission,
    battles: tuple[BattleEvidence, ...],
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


def _result(evidence: BattleEvidence, system: str) -> Preference | None:
    """The verdict as if `system` were side a; None where it did not meet or was not judged."""
    battle = evidence.battle
    if battle.preference is None or system not in {battle.system_a, battle.system_b}:
        return None
    return battle.preference if system == battle.system_a else battle.preference.flipped
