"""What a system should fix first: kinds of error by the rating points that it would gain without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.evidence.answer_errors import (
    MEANINGS,
    TITLES,
    AnswerError,
    AnswerFacts,
    answer_errors,
)
from arena.services.evidence.weaknesses import MOST_ANSWERS
from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.visibility import RoundAccess
from data.errors import NotFoundError, StatisticsError
from data.records import Round
from data.records.plain import to_json
from data.store import Store
from data.store.boards.scores import EMBEDDED, ScoredAnswer
from data.store.rounds.question_stats import QuestionRecord
from judges.metrics.citation import CITATION_SUPPORT
from judges.metrics.comprehensiveness import COMPREHENSIVENESS
from judges.metrics.context import ANSWER, CONTEXT
from judges.metrics.factuality import FACTUALITY
from leaderboard.counterfactual import FEWEST_CLEAN, CounterfactualGain, RatedRound, counterfactual_gains

MOST_OTHERS = 9
"""Answers of so many other systems are the measure of what is long and of what covers little."""
MOST_QUESTIONS = 5
MOST_ROUNDS = 4
"""Of so many boards the ratings are kept, since reading them takes a second for a million battles."""
ASSUMPTION = (
    "Estimated from its battles: where its answer has the error, they are counted as it fares against "
    "opponents of the same strength where its answers do not have it; then it is rated again. What else "
    "goes with an error goes with its figure, and gains of errors in the same answers do not add up. "
    "Intervals: 95 %, 1,000 resamples of questions, each by itself."
)
HIDDEN = "The texts of its answers are not shown, and neither is what is wrong with them."
REFERENCE = "This is the reference."
NO_ERRORS = "No answer that was judged has a known kind of error."


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A kind of error and what the system would gain without it.

    Attributes:
        error: The kind.
        title: What it is called.
        meaning: When an answer has it.
        gain: What mending it would gain.
        lost: Questions with it on which more was lost than won, the clearest first; at most five.
    """

    error: AnswerError
    title: str
    meaning: str
    gain: CounterfactualGain
    lost: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The fields, the gain's beside the others; points and bounds are null where they cannot be told."""
        gain = to_json(self.gain)
        interval = self.gain.interval
        del gain["error"], gain["interval"]
        bounds = {
            "lower": None if interval is None else interval.lower,
            "upper": None if interval is None else interval.upper,
        }
        fields = {"error": self.error.value, "title": self.title, "meaning": self.meaning}
        return {**fields, **gain, **bounds, "lost_questions": list(self.lost)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixes:
    """What a system should fix first.

    Attributes:
        fixes: The kinds of error by the points that mending them would gain; last those that cannot be told.
        unknown: Why there are none; empty where there are.
        read: How many of its answers were looked at.
        answers: How many it has.
    """

    fixes: tuple[Fix, ...] = ()
    unknown: str = ""
    read: int = 0
    answers: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """On what the figures rest, in sentences."""
        if not self.fixes:
            return (self.unknown,)
        notes = [ASSUMPTION]
        if self.read < self.answers:
            notes.append(
                f"Scores of the first {self.read:,} of its {self.answers:,} answers were read; the others "
                "count as they are, so gains are rather too small."
            )
        if any(fix.gain.points is None for fix in self.fixes):
            notes.append(
                f"A dash: fewer than {FEWEST_CLEAN} judged questions are without the error, so that its gain "
                "cannot be told."
            )
        return tuple(notes)

    def as_json(self) -> dict[str, Any]:
        """What reports have of it."""
        return {"fixes": [fix.as_json() for fix in self.fixes], "notes": list(self.notes)}


class FixService:
    """Use cases of teams that ask what to mend first."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Of a published round the board's hash is asked too, so that another board is rated anew.
        self._rated_board = lru_cache(MOST_ROUNDS)(lambda name, _board: self._rated(name))

    def of(self, round_name: str, system: str, *, caller: Caller = PUBLIC) -> Fixes:
        """The kinds of error of a system in a round by what mending them would gain.

        Raises:
            NotFoundError: There is no such round that the caller may see.
        """
        round_ = self._store.rounds.get(round_name)
        seen = RoundAccess(self._store, caller, round_)
        entrant = seen.entrants.get(system)
        if entrant is None:
            return Fixes(unknown=REFERENCE)
        if not seen.answers_of(system):
            return Fixes(unknown=HIDDEN)
        errors = answer_errors(self._facts(round_, seen, entrant.id))
        if not any(names.present for names in errors.values()):
            return Fixes(unknown=NO_ERRORS)
        own = table_of_columns(self._store.verdicts.columns(round_name, systems=(system,)))
        board = self._store.boards.standing(round_.id)
        try:
            gains = counterfactual_gains(
                own,
                system,
                {error.value: names for error, names in errors.items()},
                rated=self._rated_board(round_name, board) if board else self._rated(round_name),
                seed=round_.seed,
            )
        except (StatisticsError, NotFoundError) as error:
            return Fixes(unknown=f"What mending an error would gain cannot be told. {error}")
        if not gains:
            return Fixes(unknown=NO_ERRORS)
        records = self._store.question_stats.records(round_.id, system)
        present = {error: frozenset(names.present) for error, names in errors.items()}
        return Fixes(
            fixes=tuple(_fix(gain, present, records) for gain in gains),
            read=min(entrant.answers, MOST_ANSWERS),
            answers=entrant.answers,
        )

    def _rated(self, round_name: str) -> RatedRound:
        return RatedRound.of(table_of_columns(self._store.verdicts.columns(round_name)))

    def _facts(self, round_: Round, seen: RoundAccess, own: int) -> AnswerFacts:
        reference = self._store.submissions.reference(round_.set_name)
        entrants = [other.id for other in seen.entrants.values() if other.id != own]
        compared = [own, *(entrants[:MOST_OTHERS] or [reference.id])]
        values, scores = self._store.scores.values, self._store.scores
        citing = next(iter(scores.judges([own], metric=CITATION_SUPPORT)), EMBEDDED)
        return AnswerFacts(
            submission=own,
            lengths=tuple(self._store.submissions.lengths(compared)),
            coverage=tuple(values(compared, metric=COMPREHENSIVENESS, judge=EMBEDDED)),
            citations=tuple(values([own], metric=CITATION_SUPPORT, judge=citing)),
            statements=self._details(own, COMPREHENSIVENESS),
            claims=self._details(own, FACTUALITY),
            contexts=self._details(own, CONTEXT),
            answered=self._details(own, ANSWER),
        )

    def _details(self, number: int, metric: str) -> Sequence[ScoredAnswer]:
        stored = self._store.scores.detailed([number], metric=metric, judge=EMBEDDED, former=True)
        return tuple(islice(stored, MOST_ANSWERS))


def _fix(
    gain: CounterfactualGain, present: Mapping[AnswerError, frozenset[str]], records: Iterable[QuestionRecord]
) -> Fix:
    error = AnswerError(gain.error)
    lost = [record for record in records if record.id in present[error] and record.losses > record.wins]
    clearest = sorted(lost, key=lambda record: record.wins - record.losses)[:MOST_QUESTIONS]
    return Fix(
        error=error,
        title=TITLES[error],
        meaning=MEANINGS[error],
        gain=gain,
        lost=tuple(record.id for record in clearest),
    )
