"""Pending battles of a round in the random order of their questions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from data.models import PendingBattle
from data.store import Store

MIN_CHUNK = 1


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
    chunk: int = MIN_CHUNK
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
            taken = self.store.holds.battles(self.lease_id, self.round_id, limit=self.limit, among=among)
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
        self._at, self.chunk = 0, max(MIN_CHUNK, self.limit // each)
        return bool(self._order)
