"""What subscribers are told of: events, who wants them, and what became of each delivery.

An event holds names, numbers and states alone: never an answer, a reference, a mail address or a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from data.records.policies import Phase
from data.records.problems import Problem
from data.records.questions import Submission
from data.records.rounds import Board

CHANGED = "changed"
"""The state of a board's section `drift` where the judge is not the one that it was."""


class EventKind(StrEnum):
    """Everything that a subscriber can be told of."""

    SUBMISSION_ACCEPTED = "submission.accepted"
    SUBMISSION_REFUSED = "submission.refused"
    SUBMISSION_JUDGED = "submission.judged"
    BOARD_PUBLISHED = "board.published"
    BOARD_RETRACTED = "board.retracted"
    PHASE_CLOSING = "phase.closing"
    ROUND_PAUSED = "round.paused"
    ROUND_OUT_OF_BUDGET = "round.out_of_budget"
    WORKER_LOST = "worker.lost"
    JUDGE_DRIFT = "judge.drift"
    APPLICATION_WAITING = "application.waiting"
    TEST = "notification.test"


OF_SUBMISSIONS = (
    EventKind.SUBMISSION_ACCEPTED,
    EventKind.SUBMISSION_REFUSED,
    EventKind.SUBMISSION_JUDGED,
)
"""What teams may be told of; each is about one team."""


class PauseReason(StrEnum):
    """Why a round is paused."""

    ASKED = "asked"
    FAILED = "failed"
    STOPPED = "stopped"


class DeliveryState(StrEnum):
    """What became of telling one subscriber of one event."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """Something that happened.

    Attributes:
        kind: What.
        data: Names, numbers and states.
        team: Whose it is; empty where it is the organisers' alone.
        path: Where the site shows it.
        key: Of events with one key only the first is recorded; None for no such rule.
    """

    kind: EventKind
    data: Mapping[str, Any]
    team: str = ""
    path: str = ""
    key: str | None = None

    @classmethod
    def of_submission(cls, kind: EventKind, submission: Submission) -> NewEvent:
        """An event of a submission that is stored."""
        return cls(
            kind=kind,
            data={
                "submission": submission.id,
                "set": submission.set_name,
                "system": submission.system,
                "version": submission.version,
                "holds": submission.kind.value,
                "team": submission.team,
            },
            team=submission.team,
            path="/team",
        )

    @classmethod
    def of_refusal(
        cls, set_name: str, system: str, team: str, problems: tuple[Problem, ...], at: datetime
    ) -> NewEvent:
        """A file that was refused; of one system, one event an hour."""
        codes: dict[str, int] = {}
        for problem in problems:
            codes[str(problem.code)] = codes.get(str(problem.code), 0) + 1
        return cls(
            kind=EventKind.SUBMISSION_REFUSED,
            data={"set": set_name, "system": system, "team": team, "problems": codes},
            team=team,
            path="/submit",
            key=f"refused {set_name} {system} {team} {at:%Y-%m-%dT%H}",
        )

    @classmethod
    def of_application(cls, number: int, team: str) -> NewEvent:
        """An application for a team that waits for a decision; nothing of the person behind it."""
        return cls(
            kind=EventKind.APPLICATION_WAITING,
            data={"application": number, "team": team},
            path="/admin",
            key=f"application {number}",
        )

    @classmethod
    def of_phase(cls, set_name: str, phase: Phase, closes_at: datetime) -> NewEvent:
        """A phase that closes in a day."""
        moment = closes_at.astimezone(UTC).isoformat()
        return cls(
            kind=EventKind.PHASE_CLOSING,
            data={"set": set_name, "phase": phase.name, "closes_at": moment},
            path="/submit",
            key=f"closing {set_name} {phase.name} {moment}",
        )

    @classmethod
    def of_board(cls, kind: EventKind, board: Board) -> NewEvent:
        """An event of a board."""
        return cls(
            kind=kind,
            data={
                "board": board.name,
                "round": board.round_name,
                "content_hash": board.content_hash,
            },
            path=f"/leaderboard.html?board={board.name}",
        )


def published_events(board: Board) -> tuple[NewEvent, ...]:
    """What a board that was just published, or renewed, is to be told of."""
    published = NewEvent.of_board(EventKind.BOARD_PUBLISHED, board)
    if (board.standings.get("drift") or {}).get("state") != CHANGED:
        return (published,)
    drift = NewEvent(
        kind=EventKind.JUDGE_DRIFT,
        data={"board": board.name, "round": board.round_name},
        path=f"/trust?board={board.name}",
        key=f"drift {board.name} {board.content_hash}",
    )
    return (published, drift)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event as it is recorded; `uid` names it for whoever is told of it twice."""

    uid: str
    kind: EventKind
    data: Mapping[str, Any]
    path: str
    at: datetime


def message_id(uid: str) -> str:
    """The header `webhook-id` of an event; it stays the same however often the event is sent."""
    return f"msg_{uid}"


class Channel(StrEnum):
    """How a subscriber is told."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    MAIL = "mail"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubscription:
    """What a subscription is to be.

    Attributes:
        name: What people call it.
        team: Whose events it gets; empty for those of the whole arena.
        channel: How it is told.
        address: Where; it may hold secrets.
        secret: What webhooks are signed with; empty for other channels.
        kinds: What it is told of; empty for everything that it may be.
    """

    name: str
    team: str
    channel: Channel
    address: str = field(repr=False)
    secret: str = field(repr=False)
    kinds: tuple[EventKind, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription(NewSubscription):
    """A subscription as it is stored."""

    id: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one subscriber.

    Attributes:
        attempts: How often it was sent, or tried to be.
        status: The HTTP status of the last answer; None where there was none.
        error: Why the last attempt failed; empty where it did not.
        wait: Seconds until the next attempt, by the database's clock; None where there is none.
    """

    id: int
    subscription_id: int
    subscription: str
    team: str
    kind: EventKind
    uid: str
    at: datetime
    state: DeliveryState
    attempts: int
    status: int | None
    error: str
    delivered_at: datetime | None
    wait: float | None

    @property
    def message_id(self) -> str:
        """What names the message for whoever gets it twice."""
        return message_id(self.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedDelivery:
    """A delivery that a worker is to send now; `claim` fences off whoever had it before."""

    id: int
    claim: str
    attempts: int
    event: Event
    subscription: Subscription


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """How one attempt to deliver ended.

    Attributes:
        delivered: Whether the subscriber took it.
        status: The HTTP status of the answer.
        error: Why it was not delivered.
        final: Whether trying again is of no use.
        wait: Seconds that the subscriber asked to wait.
    """

    delivered: bool = False
    status: int | None = None
    error: str = ""
    final: bool = False
    wait: float | None = None
