"""The outbox: events are recorded in the transaction in which they happen, with a job for each message.

So none is lost, and none is sent of what was rolled back.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection, delete, exists, insert, select, update

from data.errors import NotFoundError
from data.records import (
    OUT_OF_BUDGET,
    Board,
    JobKind,
    JobState,
    NewJob,
    Outcome,
    Phase,
    RoundState,
    SubmissionKind,
)
from data.records.notifications import OF_SUBMISSIONS, Event, EventKind, NewEvent, PauseReason
from data.store.base import StorePart, own_insert, to_record, to_row
from data.store.submissions.writing import STORED_AS
from data.tables.columns import now
from data.tables.jobs import jobs
from data.tables.notifications import events, subscriptions
from data.tables.questions import question_sets, submissions
from data.tables.rounds import battles, rounds
from data.tables.teams import phases

CLOSES_WITHIN = timedelta(days=1)
RETENTION = timedelta(days=90)
"""How long events without a key, and messages that ended, stay."""
MOST_ATTEMPTS = 14
"""Attempts of a message, over most of a day."""


class OutboxStore(StorePart):
    """Records events for services; within `together` or `audited` with everything else that is done there."""

    def record(self, *happened: NewEvent) -> None:
        """Record events."""
        with self._database.begin() as connection:
            for event in happened:
                record(connection, event)

    def round_finished(self, name: str) -> None:
        """Record what the end of a round means to the submissions in it."""
        number = select(rounds.c.id).where(rounds.c.name == name)
        with self._database.begin() as connection:
            record_finished(connection, int(connection.execute(number).scalar_one()))

    def board(self, board: Board, what: str) -> None:
        """Record that a board was `published`, `corrected` or `retracted`, for each team on it too."""
        kind = EventKind.BOARD_RETRACTED if what == "retracted" else EventKind.BOARD_PUBLISHED
        with self._database.begin() as connection:
            record(connection, NewEvent.of_board(kind, board))
            if board.round_name is not None:
                on_board = EventKind.SUBMISSION_ON_BOARD
                more = {"board": board.name, "what": what}
                for event in _of_entrants(connection, board.round_name, on_board, **more):
                    if event.team:
                        record(connection, event)

    def round_paused(self, name: str, reason: PauseReason) -> None:
        """Record that somebody paused a round."""
        number = select(rounds.c.id).where(rounds.c.name == name)
        with self._database.begin() as connection:
            record_paused(connection, int(connection.execute(number).scalar_one()), reason)

    def closing_phases(self) -> None:
        """Record the phases that close within a day, each once."""
        moment = now()
        query = (
            select(phases, question_sets.c.name.label("set_name"))
            .join(question_sets, question_sets.c.id == phases.c.set_id)
            .where(phases.c.closes_at > moment, phases.c.closes_at <= moment + CLOSES_WITHIN)
            .order_by(phases.c.closes_at)
        )
        closing = [
            NewEvent.of_phase(row.set_name, to_record(Phase, row), row.closes_at) for row in self._all(query)
        ]
        known = set(self._values(select(events.c.key).where(events.c.key.in_([new.key for new in closing]))))
        self.record(*(new for new in closing if new.key not in known))

    def event(self, number: int) -> Event:
        """The event of a message that waits.

        Raises:
            NotFoundError: It is forgotten, since no worker sent the message in all that time.
        """
        row = self._first(select(events).where(events.c.id == number))
        if row is None:
            message = f"Event {number} is older than {RETENTION.days} days, and forgotten."
            raise NotFoundError(message, advice="Let a worker run, which sends messages.")
        return to_record(Event, row)

    def forget(self) -> None:
        """Delete messages that ended long ago, and events; those with a key, which keep out others, stay."""
        before = now() - RETENTION
        old_messages = (jobs.c.kind == JobKind.NOTIFY) & (jobs.c.finished_at < before)
        # Where workers run none waits that long: a message is tried for a day.
        old_events = (events.c.at < before) & events.c.key.is_(None)
        # Workers call this every minute: only where there is something is the database locked.
        (any_old,) = self._values(select(exists().where(old_messages) | exists().where(old_events)))
        if any_old:
            with self._database.begin() as connection:
                connection.execute(delete(jobs).where(old_messages))
                connection.execute(delete(events).where(old_events))


def record(connection: Connection, event: NewEvent) -> None:
    """Record an event, with a message for everybody who subscribed to it; nothing where its key is taken."""
    row = {
        "uid": uuid.uuid4().hex,
        "kind": event.kind,
        "key": event.key,
        "team": event.team,
        "path": event.path,
        "data": dict(event.data),
        "at": now(),
    }
    statement = own_insert(connection, events).values(row)
    new = statement.on_conflict_do_nothing(index_elements=["key"]).returning(events.c.id)
    added = connection.execute(new).scalar()
    if added is None:
        return
    # A team is notified of its own submissions alone, organisers of everything.
    whose = ["", event.team] if event.team and event.kind in OF_SUBMISSIONS else [""]
    wanted = select(subscriptions.c.id, subscriptions.c.kinds).where(subscriptions.c.team.in_(whose))
    messages = [
        to_row(
            jobs,
            NewJob(kind=JobKind.NOTIFY, most_attempts=MOST_ATTEMPTS),
            state=JobState.QUEUED,
            payload={"event": int(added), "subscription": int(number)},
        )
        for number, kinds in connection.execute(wanted).all()
        if not kinds or event.kind in kinds
    ]
    if messages:
        connection.execute(insert(jobs), messages)


def record_finished(connection: Connection, round_id: int) -> None:
    """Record once for each submission of a round that it was judged, and whether the budget ran out."""
    _record_out_of_budget(connection, round_id)
    name = connection.execute(select(rounds.c.name).where(rounds.c.id == round_id)).scalar_one()
    for event in _of_entrants(connection, str(name), EventKind.SUBMISSION_JUDGED, round=str(name)):
        record(connection, replace(event, key=f"judged {round_id} {event.data['submission']}"))


def _of_entrants(connection: Connection, round_name: str, kind: EventKind, **more: str) -> Iterator[NewEvent]:
    """An event for each submission of a round that is not withdrawn."""
    round_ = connection.execute(select(rounds).where(rounds.c.name == round_name)).one()
    query = (
        select(submissions, question_sets.c.name.label("set_name"))
        .join(question_sets, question_sets.c.id == submissions.c.set_id)
        .where(
            submissions.c.set_id == round_.set_id,
            submissions.c.kind == STORED_AS[SubmissionKind.ANSWERS],
            submissions.c.withdrawn_at.is_(None),
        )
        .order_by(submissions.c.id)
    )
    versions = round_.plan.get("systems", {})
    for row in connection.execute(query).all():
        if versions.get(row.system) == row.version:
            data = {
                "submission": row.id,
                "set": row.set_name,
                "system": row.system,
                "version": row.version,
                "team": row.team,
                **more,
            }
            yield NewEvent(kind=kind, data=data, team=row.team, path="/team")


def record_paused(connection: Connection, round_id: int, reason: PauseReason) -> None:
    """Record that a round was paused."""
    _record_of_round(connection, round_id, EventKind.ROUND_PAUSED, reason=reason.value)


def _record_out_of_budget(connection: Connection, round_id: int) -> None:
    """Record that a round ended with something not asked since its cap was reached; of each cap once."""
    skipped = exists().where(
        battles.c.round_id == round_id,
        battles.c.outcome == Outcome.SKIPPED,
        battles.c.detail.contains(OUT_OF_BUDGET, autoescape=True),
    )
    if connection.execute(select(skipped)).scalar():
        cap = connection.execute(select(rounds.c.budget_usd).where(rounds.c.id == round_id)).scalar()
        kind, key = EventKind.ROUND_OUT_OF_BUDGET, f"budget {round_id} {cap}"
        _record_of_round(connection, round_id, kind, key, budget_usd=cap)


def _record_of_round(
    connection: Connection, round_id: int, kind: EventKind, key: str | None = None, **data: object
) -> None:
    query = (
        select(rounds.c.name, question_sets.c.name.label("set_name"))
        .join(question_sets, question_sets.c.id == rounds.c.set_id)
        .where(rounds.c.id == round_id)
    )
    row = connection.execute(query).one()
    data = {"round": row.name, "set": row.set_name, **data}
    record(connection, NewEvent(kind=kind, data=data, path="/admin-rounds", key=key))


def record_lost_worker(connection: Connection, worker: str, job_id: int, round_id: int | None) -> None:
    """Record that a worker stopped without a word while it was on a job."""
    query = select(rounds.c.name).where(rounds.c.id == round_id)
    name = None if round_id is None else connection.execute(query).scalar()
    data = {"worker": worker, "job": job_id, "round": name}
    record(connection, NewEvent(kind=EventKind.WORKER_LOST, data=data, path="/admin-rounds"))


def finish_round(connection: Connection, round_id: int) -> None:
    """Let a running round be finished, and record what that means to the submissions in it."""
    finished = connection.execute(
        update(rounds)
        .where(rounds.c.id == round_id, rounds.c.state == RoundState.RUNNING)
        .values(state=RoundState.FINISHED, finished_at=now())
    )
    if finished.rowcount:
        record_finished(connection, round_id)
