"""The evidence behind the numbers: one question with its answers, battles, judgments and scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.rounds.visibility import RoundAccess
from data.records import Answer, BattleEvidence, Preference, Question, Submission
from data.store import Store
from data.store.boards.scores import ScoredAnswer
from data.store.rounds.question_stats import BattleResult, QuestionStats


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
        round_ = self._store.rounds.get(round_name)
        seen = RoundAccess(self._store, caller, round_)
        summary = self._store.sets.summary(round_.set_name)
        question = self._store.sets.question(round_.set_name, question_id)
        battles = tuple(map(seen.evidence, self._store.verdicts.of_question(round_name, question_id)))
        scores = tuple(map(seen.score, self._store.scores.of_question(round_.set_name, question_id)))
        reference = self._store.submissions.reference(round_.set_name)
        entered: Mapping[str, int] = {**round_.plan["systems"], reference.system: reference.version}
        views = [
            _answer_view(self._store.submissions.get(number), answer, reference, battles, scores)
            for number, answer in self._store.submissions.to_question(round_.set_name, question_id).items()
        ]
        shown = [
            replace(view, submission=seen.submission(view.system) or view.submission)
            for view in views
            if entered.get(view.system) == view.submission.version and seen.answers_of(view.system, question)
        ]
        return QuestionView(
            set_name=round_.set_name,
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


REACH = 60
"""Characters that are shown on each side of a word that was found."""


class Trait(StrEnum):
    """What a question's battles may have in common."""

    FLIPPED = "flipped"
    DISPUTED = "disputed"
    UNDECIDED = "undecided"
    TIED = "tied"
    REPORTED = "reported"


class Result(StrEnum):
    """How a system's battles on a question ended."""

    WON = "won"
    LOST = "lost"
    TIED = "tied"
    UNDECIDED = "undecided"


RESULTS: Mapping[Preference | None, Result] = {
    Preference.A: Result.WON,
    Preference.B: Result.LOST,
    Preference.TIE: Result.TIED,
    None: Result.UNDECIDED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFilter:
    """What a reader searches for; what is None or empty does not filter.

    Each of the `words` must be part of the question or its id, or each of the answer of `system`; `opponent`
    and `result` count only with `system`.
    """

    domain: str | None = None
    words: str = ""
    trait: Trait | None = None
    system: str | None = None
    opponent: str | None = None
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class QuestionList:
    """The questions of a round, ready to be searched: made once, read by every session."""

    questions: tuple[QuestionStats, ...]
    haystack: tuple[str, ...]

    @classmethod
    def of(cls, questions: Sequence[QuestionStats]) -> QuestionList:
        """Prepare for searching."""
        return cls(
            tuple(questions),
            tuple(f"{question.id}\n{question.question}".casefold() for question in questions),
        )

    def matching(
        self,
        wanted: QuestionFilter,
        *,
        endings: Iterable[BattleResult] = (),
        reported: frozenset[str] = frozenset(),
        answered: Collection[str] = (),
    ) -> tuple[QuestionStats, ...]:
        """The questions that a reader searches for, in the set's order.

        `endings` are of the battles of the wanted system (and opponent); `reported` are ids of questions with
        reports, `answered` of those whose answer by the system has the words.
        """
        words = wanted.words.casefold().split()
        met = _met(endings, wanted.result) if wanted.system is not None else None
        return tuple(
            question
            for question, text in zip(self.questions, self.haystack, strict=True)
            if (wanted.domain is None or question.domain == wanted.domain)
            and (met is None or question.id in met)
            and (_holds(text, words) or question.id in answered)
            and (wanted.trait is None or _has(question, wanted.trait, reported))
        )


class QuestionListService:
    """Use cases of readers who search for questions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, *, caller: Caller = PUBLIC) -> QuestionList:
        """Every question of a round.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        round_ = self._store.rounds.get(round_name)
        RoundAccess(self._store, caller, round_)
        return QuestionList.of(self._store.question_stats.of_round(round_.id))

    def endings(
        self, round_name: str, system: str, opponent: str | None, *, caller: Caller = PUBLIC
    ) -> tuple[BattleResult, ...]:
        """How a system's battles (against one opponent) ended.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        RoundAccess(self._store, caller, self._store.rounds.get(round_name))
        return self._store.question_stats.endings(round_name, system, opponent)

    def answers_with(
        self, round_name: str, system: str, words: str, *, caller: Caller = PUBLIC
    ) -> Mapping[str, str]:
        """Where a system's answers have every one of some words, in upper or lower case.

        Read and compared here, not by the database: engines differ in what they hold equal outside of
        English, and the question's own search must mean the same.

        Returns:
            By question id, the text around the first of the words. Nothing where there are no words,
            and where the caller may not read the system's answers.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        round_ = self._store.rounds.get(round_name)
        seen = RoundAccess(self._store, caller, round_)
        search_words = words.casefold().split()
        if not search_words or not seen.answers_of(system):
            return {}
        entrant = seen.entrants.get(system)
        reference = self._store.submissions.reference(round_.set_name)
        if entrant is None and system != reference.system:
            return {}
        number = reference.id if entrant is None else entrant.id
        return {
            fact.question_id: around(fact.text, search_words[0])
            for fact in self._store.submissions.facts(number)
            if _holds(fact.text.casefold(), search_words)
        }

    def reported(self, round_name: str) -> frozenset[str]:
        """Ids of questions with reported judgments."""
        return frozenset(report.question_id for report in self._store.reports.of_round(round_name))


def around(text: str, word: str, *, reach: int = REACH) -> str:
    """The text around the first occurrence of a word, whole words on one line, cut off with dots.

    The word is casefolded; `reach` is in characters to each side.
    """
    one_line = " ".join(text.split())
    at = max(one_line.casefold().find(word), 0)
    start, end = max(at - reach, 0), min(at + len(word) + reach, len(one_line))
    if start:
        start = one_line.find(" ", start, at) + 1 or start
    if end < len(one_line):
        end = max(one_line.rfind(" ", at + len(word), end), at + len(word))
    return f"{'… ' if start else ''}{one_line[start:end]}{' …' if end < len(one_line) else ''}"


def _holds(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)


def _met(endings: Iterable[BattleResult], result: Result | None) -> frozenset[str]:
    by_question: dict[str, set[Result]] = defaultdict(set)
    for ending in endings:
        by_question[ending.question].add(RESULTS[ending.preference])
    return frozenset(
        question for question, results in by_question.items() if result is None or result in results
    )


def _has(question: QuestionStats, trait: Trait, reported: frozenset[str]) -> bool:
    match trait:
        case Trait.FLIPPED:
            return question.flips > 0
        case Trait.DISPUTED:
            return question.disputed > 0
        case Trait.UNDECIDED:
            return question.undecided > 0
        case Trait.TIED:
            return question.ties > 0
        case Trait.REPORTED:
            return question.id in reported
