"""Notifications: events, and who subscribed to them.

An event holds names, numbers and states alone: never an answer, a reference, a mail address or a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from data.records.policies import Phase
from data.records.problems import Problem
from data.records.questions import Submission
from data.records.rounds import Board


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
    APPLICATION_WAITING = "application.waiting"
    SUBMISSION_QUESTIONED = "submission.questioned"
    SUBMISSION_DISQUALIFIED = "submission.disqualified"
    SUBMISSION_WITHDRAWN = "submission.withdrawn"
    SUBMISSION_ON_BOARD = "submission.on_board"
    TEST = "notification.test"


class Channel(StrEnum):
    """How a subscriber is notified."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    MAIL = "mail"


CHANNELS = {
    "https": Channel.WEBHOOK,
    "http": Channel.WEBHOOK,
    "slack": Channel.SLACK,
    "mailto": Channel.MAIL,
    "mailtos": Channel.MAIL,
}
"""The channels by the schemes of addresses."""
OF_SUBMISSIONS = (
    EventKind.SUBMISSION_ACCEPTED,
    EventKind.SUBMISSION_REFUSED,
    EventKind.SUBMISSION_JUDGED,
    EventKind.SUBMISSION_QUESTIONED,
    EventKind.SUBMISSION_DISQUALIFIED,
    EventKind.SUBMISSION_WITHDRAWN,
    EventKind.SUBMISSION_ON_BOARD,
)
"""What teams may be told of; each is about one team."""


class PauseReason(StrEnum):
    """Why a round is paused."""

    ASKED = "asked"
    FAILED = "failed"
    STOPPED = "stopped"


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
    def of_submission(cls, kind: EventKind, submission: Submission, **more: str) -> NewEvent:
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
                **more,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event as it is recorded; `uid` names it for whoever gets it twice."""

    uid: str
    kind: EventKind
    data: Mapping[str, Any]
    path: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubscription:
    """What a subscription is to be.

    Attributes:
        name: What people call it.
        team: Whose events it gets; empty for those of the whole arena.
        address: Where they go; it may hold secrets.
        kinds: What it gets; empty for everything that it may.
    """

    name: str
    team: str
    address: str = field(repr=False)
    kinds: tuple[EventKind, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription(NewSubscription):
    """A subscription as it is stored; `error` says why the last attempt that failed, at `failed_at`, did."""

    id: int
    created_at: datetime
    delivered: int
    failed: int
    error: str
    failed_at: datetime | None

    @property
    def channel(self) -> Channel:
        """How it is notified."""
        return CHANNELS[urlsplit(self.address).scheme]

    @property
    def place(self) -> str:
        """Where it is notified, without what may be secret in its address."""
        parts = urlsplit(self.address)
        return (
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2] if self.channel is Channel.WEBHOOK else ''}/…"
        )
