"""Applications for teams in the store. Of codes in links only the sha256 is ever kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select, update

from data.errors import NotFoundError
from data.records.applications import Application, ApplicationState, Channel, NewApplication
from data.store.base import StorePart, to_record, to_row
from data.store.engine import new_id, pairs
from data.tables.columns import now
from data.tables.teams import applications

FORGOTTEN: Mapping[str, Any] = {"title": "", "contact": "", "reason": "", "address": "", "code": None}


class ApplicationStore(StorePart):
    """Keeps applications, and forgets the people behind those that were never confirmed."""

    def add(self, new: NewApplication) -> Application:
        """Store an application."""
        row = to_row(applications, new, account="", decided_by="", decision="")
        with self._database.begin() as connection:
            number = new_id(connection.execute(insert(applications).values(row)))
        return self.get(number)

    def get(self, number: int) -> Application:
        """An application.

        Raises:
            NotFoundError: None has this number.
        """
        row = self._first(select(applications).where(applications.c.id == number))
        if row is None:
            raise NotFoundError(
                f"There is no application {number}.", advice="`arena teams applications` names them."
            )
        return to_record(Application, row)

    def all(self, *states: ApplicationState) -> tuple[Application, ...]:
        """The applications in some states, the oldest first; in any where none is given."""
        query = select(applications).order_by(applications.c.id)
        query = query.where(applications.c.state.in_(states)) if states else query
        return tuple(to_record(Application, row) for row in self._all(query))

    def with_code(self, digest: str) -> Application | None:
        """The application whose mailed link has a code, while that holds; None where there is none."""
        query = select(applications).where(applications.c.code == digest, applications.c.expires_at > now())
        row = self._first(query)
        return None if row is None else to_record(Application, row)

    def last_of(self, channel: Channel, address: str) -> Application | None:
        """The newest application of somebody; None where there is none."""
        query = select(applications).where(
            applications.c.channel == channel, applications.c.address == address
        )
        row = self._first(query.order_by(applications.c.id.desc()).limit(1))
        return None if row is None else to_record(Application, row)

    def addresses(self, *, since: datetime) -> tuple[str, ...]:
        """For which mail addresses some came in since a moment, each as often as it did."""
        query = select(applications.c.address).where(
            applications.c.created_at >= since, applications.c.channel == Channel.MAIL
        )
        return tuple(row.address for row in self._all(query))

    def forget(self, digest: str) -> None:
        """End one whose code reached nobody, and forget whose it was."""
        statement = update(applications).where(applications.c.code == digest)
        self._change(statement.values({**FORGOTTEN, "state": ApplicationState.EXPIRED}))

    def sent(self, *, since: datetime, client: str | None = None) -> tuple[int, datetime | None]:
        """How many came in since a moment, from a client or in all, and when the first did."""
        query = select(func.count(), func.min(applications.c.created_at)).where(
            applications.c.created_at >= since
        )
        query = query if client is None else query.where(applications.c.client == client)
        ((count, first),) = self._all(query)
        return int(count), first

    def counts(self) -> dict[ApplicationState, int]:
        """How many there are in each state; zeros too."""
        query = select(applications.c.state, func.count()).group_by(applications.c.state)
        counted: dict[ApplicationState, int] = pairs(self._all(query))
        return {state: counted.get(state, 0) for state in ApplicationState}

    def confirm(self, number: int) -> bool:
        """Put one into the queue and use up its code; False where that was done already."""
        return self._step(number, (ApplicationState.UNCONFIRMED,), state=ApplicationState.WAITING, **NO_CODE)

    def approve(
        self, number: int, *, account: str, by: str, code: str | None, expires_at: datetime | None
    ) -> bool:
        """Approve one, with the code of the link to its first token; False where it does not wait."""
        return self._step(
            number,
            (ApplicationState.WAITING,),
            state=ApplicationState.APPROVED,
            account=account,
            decided_at=now(),
            decided_by=by,
            code=code,
            expires_at=expires_at,
        )

    def renew(self, number: int, *, code: str, expires_at: datetime) -> bool:
        """Give an approved one another code; False where its token was fetched already."""
        unclaimed = applications.c.code.is_not(None)
        statement = update(applications).where(
            applications.c.id == number, applications.c.state == ApplicationState.APPROVED, unclaimed
        )
        return bool(self._change(statement.values(code=code, expires_at=expires_at)))

    def reject(self, number: int, *, by: str, reason: str) -> bool:
        """Reject one; False where it does not wait."""
        return self._step(
            number,
            (ApplicationState.WAITING,),
            state=ApplicationState.REJECTED,
            decided_at=now(),
            decided_by=by,
            decision=reason,
        )

    def claim(self, digest: str) -> bool:
        """Use up the code of an approved one; False where somebody did already, or it is over."""
        statement = update(applications).where(
            applications.c.code == digest,
            applications.c.state == ApplicationState.APPROVED,
            applications.c.expires_at > now(),
        )
        return bool(self._change(statement.values(NO_CODE)))

    def expire(self, *, forget_clients_before: datetime) -> None:
        """End those that were not confirmed in time, and forget whose they were; also old clients of all."""
        over = update(applications).where(
            applications.c.state == ApplicationState.UNCONFIRMED, applications.c.expires_at <= now()
        )
        old = update(applications).where(
            applications.c.created_at < forget_clients_before, applications.c.client != ""
        )
        with self._database.begin() as connection:
            connection.execute(over.values({**FORGOTTEN, "state": ApplicationState.EXPIRED}))
            connection.execute(old.values(client=""))

    def _step(self, number: int, states: Sequence[ApplicationState], **values: object) -> bool:
        """Change one that is in a state; whether it was."""
        statement = update(applications).where(applications.c.id == number, applications.c.state.in_(states))
        return bool(self._change(statement.values(values)))


NO_CODE: Mapping[str, Any] = {"code": None, "expires_at": None}
