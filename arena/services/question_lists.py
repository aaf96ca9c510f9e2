"""Lists of a round's questions: by domain, words, outcome, disagreement, flips, flags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.services.identity import PUBLIC, Caller
from arena.services.round_sight import RoundSight
from data.records import Preference
from data.store import Store
from data.store.digests import Ending, QuestionDigest

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
    """What a reader looks for; what is None or empty does not filter.

    Attributes:
        domain: Of the question.
        words: Each must be part of the question or its id, or each of the answer of `system`.
        trait: Of its battles.
        system: A system that has a battle on it.
        opponent: Against whom; only with `system`.
        result: How such a battle ended for the system; only with `system`.
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

    questions: tuple[QuestionDigest, ...]
    haystack: tuple[str, ...]

    @classmethod
    def of(cls, questions: Sequence[QuestionDigest]) -> QuestionList:
        """Prepare for searching."""
        return cls(tuple(questions), tuple(f"{one.id}\n{one.question}".casefold() for one in questions))

    def matching(
        self,
        wanted: QuestionFilter,
        *,
        endings: Iterable[Ending] = (),
        reported: frozenset[str] = frozenset(),
        answered: Collection[str] = (),
    ) -> tuple[QuestionDigest, ...]:
        """The questions that a reader looks for, in the set's order.

        Args:
            wanted: What for.
            endings: Of the battles of the wanted system (and opponent).
            reported: Ids of questions with reports.
            answered: Ids of questions whose answer by the wanted system has the words.
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
    """Use cases of readers who look for questions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, round_name: str, *, caller: Caller = PUBLIC) -> QuestionList:
        """Every question of a round.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        found = self._store.rounds.get(round_name)
        RoundSight(self._store, caller, found)
        return QuestionList.of(self._store.digests.of_round(found.id))

    def endings(
        self, round_name: str, system: str, opponent: str | None, *, caller: Caller = PUBLIC
    ) -> tuple[Ending, ...]:
        """How a system's battles (against one opponent) ended.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        RoundSight(self._store, caller, self._store.rounds.get(round_name))
        return self._store.digests.endings(round_name, system, opponent)

    def answers_with(
        self, round_name: str, system: str, words: str, *, caller: Caller = PUBLIC
    ) -> Mapping[str, str]:
        """Where a system's answers have every one of some words, in upper or lower case.

        Read and compared here, not by the database: engines differ in what they hold equal outside of
        English, and the question's own search must mean the same.

        Returns:
            By question id, what stands around the first of the words. Nothing where there are no words,
            and where the caller may not read the system's answers.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        found = self._store.rounds.get(round_name)
        seen = RoundSight(self._store, caller, found)
        wanted = words.casefold().split()
        if not wanted or not seen.answers_of(system):
            return {}
        entrant = seen.entrants.get(system)
        reference = self._store.submissions.reference(found.set_name)
        if entrant is None and system != reference.system:
            return {}
        number = reference.id if entrant is None else entrant.id
        return {
            fact.question_id: around(fact.text, wanted[0])
            for fact in self._store.submissions.facts(number)
            if _holds(fact.text.casefold(), wanted)
        }

    def reported(self, round_name: str) -> frozenset[str]:
        """Ids of questions with reported judgments."""
        return frozenset(report.question_id for report in self._store.reports.of_round(round_name))


def around(text: str, word: str, *, reach: int = REACH) -> str:
    """What stands around the first place of a word, whole words on one line, cut off with dots.

    Args:
        text: To look in.
        word: Casefolded.
        reach: How far to each side, in characters.
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


def _met(endings: Iterable[Ending], result: Result | None) -> frozenset[str]:
    found: dict[str, set[Result]] = defaultdict(set)
    for ending in endings:
        found[ending.question].add(RESULTS[ending.preference])
    return frozenset(question for question, results in found.items() if result is None or result in results)


def _has(question: QuestionDigest, trait: Trait, reported: frozenset[str]) -> bool:
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
