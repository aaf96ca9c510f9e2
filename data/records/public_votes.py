"""Public blind votes: a set's poll, the pairs that visitors are shown, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from data.records.vocabulary import Preference


class Rejection(StrEnum):
    """Why a public vote does not count, whoever gave it."""

    QUICK = "quick"
    LEAK = "leak"


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """Public votes on a set; `closed_at` is None while they are open."""

    id: int
    set_name: str
    salt: str
    opened_at: datetime
    closed_at: datetime | None

    @property
    def open(self) -> bool:
        """Whether votes are taken."""
        return self.closed_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPollPair:
    """A pair that is about to be shown; `question` and `decoy` are ids within the set."""

    token: str
    question: str
    a_id: int
    b_id: int
    decoy: str | None
    b_first: bool
    visitor: str
    address: str
    network: str
    served_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PollPair:
    """A pair that was shown, with its texts' keys; `question`, `decoy` are ids within the set."""

    id: int
    token: str
    question: str
    domain: str
    decoy: str | None
    a_id: int
    b_id: int
    system_a: str
    system_b: str
    b_first: bool
    visitor: str
    network: str
    served_at: datetime
    preference: Preference | None
    rejection: Rejection | None

    @property
    def gold(self) -> bool:
        """Whether the better side is known: side b answers another question."""
        return self.decoy is not None
