"""Readers' reports of judgments: stored for the organisers, few at a time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from arena.services.accounts.auth import PUBLIC
from arena.services.rounds.visibility import RoundAccess
from data.errors import ConflictError, InputError, NotFoundError
from data.records import Presentation
from data.store import Store
from data.store.boards.judgment_flags import JudgmentReport, NewReport

LONGEST_REASON = 1000
SHORTEST_REASON = 10
AN_HOUR = timedelta(hours=1)
MOST_OF_ONE = 5
"""Reports of one reader within an hour."""
MOST_OF_ALL = 200
"""Reports of everyone within an hour; a reader may come under many names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What a reader says: which judgment of which battle, and what is wrong with it.

    `session` distinguishes readers; only its hash is stored.
    """

    round_name: str
    question_id: str
    battle: str
    judge: str
    presentation: Presentation
    reason: str
    session: str


class JudgmentReportService:
    """Use cases around readers' reports."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, complaint: Complaint) -> None:
        """Store a report.

        Raises:
            InputError: The reason is too short or too long.
            NotFoundError: The round is not public, or the battle has no such judgment.
            ConflictError: Too many reports within an hour.
        """
        reason = complaint.reason.strip()
        if not SHORTEST_REASON <= len(reason) <= LONGEST_REASON:
            raise InputError(
                f"The reason has {len(reason)} characters.",
                advice=f"Say in {SHORTEST_REASON} to {LONGEST_REASON} characters what is wrong.",
            )
        RoundAccess(self._store, PUBLIC, self._store.rounds.get(complaint.round_name))
        battle_id = self._battle(complaint)
        reporter = hashlib.sha256(complaint.session.encode()).hexdigest()
        since = datetime.now(UTC) - AN_HOUR
        if self._store.reports.count_since(since, reporter=reporter) >= MOST_OF_ONE:
            raise ConflictError(
                f"{MOST_OF_ONE} reports came from you within an hour.", advice="Go on in an hour."
            )
        if self._store.reports.count_since(since) >= MOST_OF_ALL:
            raise ConflictError("Too many reports came within an hour.", advice="Try again in an hour.")
        self._store.reports.add(
            NewReport(
                battle_id=battle_id,
                judge=complaint.judge,
                presentation=complaint.presentation,
                reason=reason,
                reporter=reporter,
            )
        )

    def of_round(self, round_name: str) -> tuple[JudgmentReport, ...]:
        """The reports on a round's judgments, the newest first.

        Raises:
            NotFoundError: There is no such round.
        """
        self._store.rounds.get(round_name)
        return self._store.reports.of_round(round_name)

    def _battle(self, complaint: Complaint) -> int:
        for shown in self._store.verdicts.of_question(complaint.round_name, complaint.question_id):
            if shown.battle.key == complaint.battle and any(
                (judgment.judge, judgment.presentation) == (complaint.judge, complaint.presentation)
                for judgment in shown.judgments
            ):
                return shown.battle.id
        raise NotFoundError("There is no such judgment.", advice="Report it on its question's page.")
