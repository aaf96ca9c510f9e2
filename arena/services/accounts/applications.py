"""The organisers' side of registration: who applied for a team, and what is decided."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

from arena.services.accounts.auth import Caller, digest_of, require
from arena.services.accounts.registration import CODE_BYTES, LONGEST_REASON, WINDOW, note_of, one_line
from arena.services.accounts.registration_emails import RegistrationEmails
from arena.services.accounts.teams import TeamService
from data.errors import ConflictError
from data.records import Action, Role, TokenScope
from data.records.applications import Application, ApplicationState, Channel
from data.store import Store

CLAIMED_WITHIN = timedelta(days=7)


class ApplicationService:
    """Use cases around deciding on applications."""

    def __init__(self, store: Store, teams: TeamService, emails: RegistrationEmails) -> None:
        self._store = store
        self._teams = teams
        self._emails = emails

    def all(self, state: ApplicationState | None = None, *, caller: Caller) -> tuple[Application, ...]:
        """The applications, the oldest first; those in a state only where one is given.

        Raises:
            AccessError, ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        self._expire()
        return self._store.applications.all(*([state] if state else []))

    def counts(self, *, caller: Caller) -> dict[ApplicationState, int]:
        """How many applications there are in each state; raises as `all`."""
        require(caller, TokenScope.ORGANISE)
        self._expire()
        return self._store.applications.counts()

    def approve(self, number: int, *, account: str = "", caller: Caller) -> Application:
        """Make the team and its owner's account; who applied by mail gets a link to their first token.

        An approved one whose token was not fetched gets another link.

        Args:
            number: The application.
            account: Name of the account; by default that of the team.
            caller: Who decides.

        Raises:
            NotFoundError: There is none of this number.
            ConflictError: It does not wait, or the name or address has been taken in the meantime.
            UnavailableError: The mail cannot be sent; the approval holds.
            AccessError, ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        application = self._store.applications.get(number)
        by_mail = application.channel is Channel.MAIL
        code = secrets.token_urlsafe(CODE_BYTES) if by_mail else None
        until = datetime.now(UTC) + CLAIMED_WITHIN if by_mail else None
        with self._store.audit.audited() as notes:
            if application.state is ApplicationState.APPROVED and code and until:
                if not self._store.applications.renew(number, code=digest_of(code), expires_at=until):
                    raise _decided(application, "its first token was fetched")
            else:
                name = account or application.team
                self._make(application, name, caller)
                digest = None if code is None else digest_of(code)
                if not self._store.applications.approve(
                    number, account=name, by=caller.name, code=digest, expires_at=until
                ):
                    raise _decided(application, f"it is {application.state}")
            notes.take(note_of(caller, Action.APPLICATION_APPROVED, application, team=application.team))
        if code is not None:
            self._emails.approved(application, code, days=CLAIMED_WITHIN.days)
        return self._store.applications.get(number)

    def reject(self, number: int, reason: str, *, caller: Caller) -> Application:
        """Reject an application for a reason, which the applicant is told.

        Raises:
            NotFoundError: There is none of this number.
            ConflictError: It does not wait.
            InputError: The reason is empty or cannot be used.
            UnavailableError: The mail cannot be sent; the rejection holds.
            AccessError, ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        reason = one_line("The reason", reason, LONGEST_REASON)
        application = self._store.applications.get(number)
        with self._store.audit.audited() as notes:
            if not self._store.applications.reject(number, by=caller.name, reason=reason):
                raise _decided(application, f"it is {application.state}")
            notes.take(note_of(caller, Action.APPLICATION_REJECTED, application, reason=reason))
        if application.channel is Channel.MAIL:
            self._emails.rejected(application, reason)
        return self._store.applications.get(number)

    def _make(self, application: Application, account: str, caller: Caller) -> None:
        """Make the team of an application with its owner."""
        name, by_mail = application.team, application.channel is Channel.MAIL
        if application.state is not ApplicationState.WAITING:
            raise _decided(application, f"it is {application.state}")
        self._teams.add(name, title=application.title, contact=application.contact, caller=caller)
        self._teams.add_account(
            account,
            email=application.address if by_mail else None,
            subject=None if by_mail else application.address,
            caller=caller,
        )
        self._teams.add_member(name, account, role=Role.OWNER, caller=caller)

    def _expire(self) -> None:
        self._store.applications.expire(forget_clients_before=datetime.now(UTC) - WINDOW)


def _decided(application: Application, state: str) -> ConflictError:
    return ConflictError(
        f"Application {application.id} cannot be decided: {state}.",
        advice="`arena teams applications` shows what waits.",
    )
