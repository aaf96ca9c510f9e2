"""The order in which questions are judged, and the rule that may stop a round at any look without erring.

The order is random: by a hash of the round's seed and the question's id, so that it is the same for every
worker and after every interruption, and has nothing to do with verdicts. The rule takes questions in that
order and waits for the first that has not ended, whatever came back sooner: slow replies may not change what
it sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from data.errors import InputError, NotFoundError
from data.records import STOPPED, BattleEnd, PendingBattle, Round
from data.store import Store

if TYPE_CHECKING:
    # What judges loads no arrays before a rule needs them.
    from leaderboard.trust.sequences import Floats, SeparationTest

SEPARATED = "separated"
WINDOW = 50
"""Questions that a look reads at once."""
LEAST_CHUNK = 1
PAIR = 2


@dataclass(frozen=True, slots=True)
class StopWhen:
    """When a round may stop: once its leader is separated from all other systems, or two named ones are."""

    systems: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> StopWhen:
        """Read `separated` or `separated:A,B`.

        Raises:
            InputError: It is something else.
        """
        word, colon, rest = text.strip().partition(":")
        named = tuple(name.strip() for name in rest.split(",") if name.strip())
        pair = len(named) == PAIR and named[0] != named[1]
        if word != SEPARATED or (colon and not pair):
            raise InputError(
                f"{text!r} is no rule to stop by.", advice="Use --stop-when separated, or separated:A,B."
            )
        return cls(named)

    def require(self, systems: Sequence[str]) -> None:
        """Check that the systems of a round can be separated by it.

        Raises:
            NotFoundError: A named system is not in the round.
            InputError: The round has fewer than two systems.
        """
        unknown = [name for name in self.systems if name not in systems]
        if unknown:
            raise NotFoundError(
                f"The round has no system {', '.join(unknown)}.", advice=f"There are: {', '.join(systems)}."
            )
        if len(systems) < PAIR:
            raise InputError(
                "A round with one system has nobody to separate it from.",
                advice="Leave out --stop-when, or judge more systems.",
            )

    def error(self, systems: int, chance: float) -> float:
        """The chance of error that each bet may have; see `SeparationTest`."""
        return chance / (PAIR if self.systems else systems)

    def __str__(self) -> str:
        return f"{SEPARATED}:{','.join(self.systems)}" if self.systems else SEPARATED


def in_random_order(questions: Iterable[tuple[int, str]], seed: int) -> list[int]:
    """Numbers of questions (number, id) in the order in which a round with this seed judges them."""
    ranked = sorted((sha256(f"{seed}:{key}".encode()).digest(), number) for number, key in questions)
    return [number for _, number in ranked]


@dataclass(slots=True)
class QuestionFeed:
    """Hands a lease the pending battles of a round, a few questions at a time in the random order.

    Attributes:
        limit: How many battles at most at a time.
        chunk: How many questions are looked through for them.
    """

    store: Store
    lease_id: int
    round_id: int
    seed: int
    limit: int
    chunk: int = LEAST_CHUNK
    _order: list[int] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)
    _at: int = 0

    def take(self) -> list[PendingBattle]:
        """The next battles; none where nothing is free.

        Raises:
            LeaseLostError: The lease was given up.
        """
        fresh = False
        while True:
            if self._at >= len(self._order):
                # Read once more at the end: claims that others released come before it.
                if fresh or not self._read():
                    return []
                fresh = True
            among = self._order[self._at : self._at + self.chunk]
            taken, _ = self.store.holds.battles(self.lease_id, self.round_id, limit=self.limit, among=among)
            if len(taken) < self.limit:
                self._at += self.chunk
            if taken:
                return sorted(taken, key=lambda battle: self._places[battle.question.id])

    def _read(self) -> bool:
        free = self.store.holds.questions(self.round_id)
        self._order = in_random_order(free, self.seed)
        keys = dict(free)
        self._places = {keys[number]: place for place, number in enumerate(self._order)}
        pending = self.store.holds.pending(self.round_id)
        each = max(1, pending // max(1, len(self._order)))
        self._at, self.chunk = 0, max(LEAST_CHUNK, self.limit // each)
        return bool(self._order)


@dataclass(slots=True)
class StopRule:
    """A round's stopping rule, evaluated from the stored verdicts; this process's progress is in memory.

    Attributes:
        when: The rule.
        systems: Numbers of the submissions that are compared, by place.
        order: Every question of the round in the random order.
        fired: Whether a look said that the round may stop.
    """

    store: Store
    round_id: int
    when: StopWhen
    names: tuple[str, ...]
    systems: Mapping[int, int]
    order: Sequence[int]
    test: SeparationTest
    fired: bool = False
    _at: int = 0

    @classmethod
    def of_round(cls, store: Store, round_: Round) -> StopRule | None:
        """The rule of a round; None where it has none.

        Raises:
            InputError: The plan's rule cannot be read.
        """
        text = round_.plan.get("stop_when")
        if not text:
            return None
        from leaderboard.trust.sequences import ERROR, SeparationTest  # noqa: PLC0415 - see above

        when = StopWhen.parse(text)
        versions: Mapping[str, int] = round_.plan["systems"]
        entrants = [
            entrant
            for entrant in store.submissions.find(set_name=round_.set_name)
            if versions.get(entrant.system) == entrant.version
        ]
        return cls(
            store=store,
            round_id=round_.id,
            when=when,
            names=tuple(entrant.system for entrant in entrants),
            systems={entrant.id: place for place, entrant in enumerate(entrants)},
            order=in_random_order(store.battles.questions(round_.id), round_.seed),
            test=SeparationTest.of(len(entrants), error=when.error(len(entrants), ERROR)),
        )

    @property
    def detail(self) -> str:
        """The detail of the battles that it leaves out."""
        return f"{STOPPED}{self.when}"

    def look(self) -> bool:
        """Take the questions that ended since the last look, and say whether the round may stop."""
        while not self.fired and self._at < len(self.order):
            window = self.order[self._at : self._at + WINDOW]
            open_ = self.store.battles.open_among(self.round_id, window)
            ended = [number in open_ for number in window].index(True) if open_ else len(window)
            taken = self._take(window[:ended])
            self._at += taken
            if taken < len(window):
                break
        return self.fired

    def _separated(self) -> bool:
        if not self.when.systems:
            return self.test.leader() is not None
        first, second = (self.names.index(name) for name in self.when.systems)
        return bool(self.test.won[first, second] or self.test.won[second, first])

    def _take(self, window: Sequence[int]) -> int:
        """Bet on questions that have ended, up to one that the rule left out, and return how many."""
        if not window:
            return 0
        ends = self.store.battles.ends(self.round_id, window)
        places = {number: place for place, number in enumerate(window)}
        taken = min((places[end.question] for end in ends if end.left_out), default=len(window))
        for row in self._scores(places, ends)[:taken]:
            self.test.add(row)
            self.fired = self.fired or self._separated()
        return taken

    def _scores(self, places: Mapping[int, int], ends: Sequence[BattleEnd]) -> Floats:
        """(questions, systems) scores."""
        import numpy as np  # noqa: PLC0415 - see above

        from leaderboard.trust.sequences import question_scores  # noqa: PLC0415 - see above

        question, first, second, share, _ = zip(*ends, strict=True) if ends else ((),) * 5
        won = np.array(share, dtype=np.float64)
        a, b = (
            np.array([self.systems.get(number, -1) for number in side], dtype=np.int64)
            for side in (first, second)
        )
        return question_scores(
            np.array([places[number] for number in question], dtype=np.int64),
            (a, b),
            won,
            np.isnan(won),
            (len(places), len(self.systems)),
        )
