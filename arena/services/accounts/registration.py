"""Registration: people apply for a team of their own, and organisers decide."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain

from arena.services.accounts.auth import PERSONAL, PUBLIC, Caller, digest_of, on_behalf
from arena.services.accounts.mail import LONGEST_ADDRESS, mailbox_of, require_mail_address
from arena.services.accounts.registration_emails import RegistrationEmails
from arena.services.accounts.tokens import CreatedToken, TokenService
from arena.settings import Registration
from data.errors import (
    ClosedError,
    ConflictError,
    InputError,
    NotFoundError,
    TooManyAttemptsError,
    UnavailableError,
)
from data.records import Action, AuditNote
from data.records.applications import Application, ApplicationState, Channel, NewApplication
from data.store import Store
from data.system_names import RESERVED, look_alike

CODE_BYTES = 32
CONFIRMED_WITHIN = timedelta(hours=24)
TOKEN_DAYS = 365
WINDOW = timedelta(hours=1)
MOST_OF_CLIENT, MOST_IN_ALL = 5, 60
"""Applications in the window from one address of a machine, and from all."""
MAIL_WINDOW = timedelta(days=1)
MOST_FOR_MAIL = 3
"""Mails in that window to one address, whoever asks for them."""
MOST_WAITING = 500
SHORTEST_TEAM, LONGEST_TEAM = 2, 40
LONGEST_LINE, LONGEST_REASON = 200, 1_000
TEAM_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._")
TEAM_RULE = "Use 2 to 40 of a-z, 0-9, '-', '.' and '_', with a letter or digit at both ends."
NOT_TEAMS = ("admin", "answer-arena", "arena", "operator", "organiser", "organizer", "public", "root", "team")
"""What the audit log and the pages call something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRequest:
    """What somebody applies with; `mail` is not read where they signed in by a provider."""

    team: str
    title: str
    contact: str
    reason: str
    mail: str = ""


class RegistrationService:
    """Use cases around applications for teams. Nothing here says whether a mail address is known."""

    def __init__(self, store: Store, tokens: TokenService, emails: RegistrationEmails) -> None:
        self._store = store
        self._tokens = tokens
        self._emails = emails
        self.mode = emails.mode

    def apply(self, wanted: RegistrationRequest, *, client: str, subject: str = "") -> ApplicationState:
        """Apply for a team, and say what comes next: a link in a mail, or the organisers.

        Args:
            wanted: What they apply with.
            client: The address of their machine, which is counted and not stored.
            subject: Their name at the OIDC provider, issuer included, where they signed in by one.

        Raises:
            ClosedError: Applications are not taken, or not in this way.
            InputError: Something that they wrote cannot be used.
            ConflictError: The team's name or title is taken, or they applied already.
            TooManyAttemptsError: Too many applications came from this address, or from all.
            UnavailableError: The queue is full, or the mail cannot be sent.
        """
        wanted = _readable(wanted)
        self._require_open(subject)
        address = subject if self.mode is Registration.OIDC else require_mail_address(wanted.mail)
        with self._store.audit.audited():
            state, code = self._take(wanted, address, _mark(client))
        if self.mode is Registration.MAIL:
            try:
                self._answer_by_mail(wanted.team, address, code)
            except UnavailableError:
                # Nobody has its code, and it counts for nothing: they can apply again.
                if code is not None:
                    self._store.applications.forget(digest_of(code))
                raise
        return state

    def behind(self, code: str) -> Application | None:
        """The application that a mailed link leads to; None where it was used, or is over."""
        return self._store.applications.with_code(digest_of(code))

    def confirm(self, code: str) -> Application:
        """Put the application of a mailed link before the organisers.

        Raises:
            NotFoundError: The link is unknown, was used, or is over.
            ConflictError: The team's name or title was taken in the meantime.
        """
        with self._store.audit.audited() as notes:
            application = self._behind(code, ApplicationState.UNCONFIRMED)
            self._require_free(application.team, application.title)
            if not self._store.applications.confirm(application.id):
                raise _spent()
            notes.take(note_of(PUBLIC, Action.APPLICATION_CONFIRMED, application))
        return self._store.applications.get(application.id)

    def claim(self, code: str) -> CreatedToken:
        """Make the first token of an approved application's owner. Its text is in the answer alone.

        Raises:
            NotFoundError: The link is unknown, was used, or is over.
        """
        with self._store.audit.audited():
            application = self._behind(code, ApplicationState.APPROVED)
            if not self._store.applications.claim(digest_of(code)):
                raise _spent()
            return self._tokens.create(
                name="first token",
                scopes=PERSONAL,
                account=application.account,
                days=TOKEN_DAYS,
                caller=on_behalf(f"{application.account}, by a mailed link"),
            )

    def last_of(self, subject: str) -> Application | None:
        """The newest application of who signed in by a provider; None where there is none."""
        return self._store.applications.last_of(Channel.OIDC, subject)

    def _take(
        self, wanted: RegistrationRequest, address: str, client: str
    ) -> tuple[ApplicationState, str | None]:
        """Store an application; its state, and the code of the link that confirms it, where it has one."""
        self._store.applications.expire(forget_clients_before=datetime.now(UTC) - WINDOW)
        self._require_rate(client)
        self._require_free(wanted.team, wanted.title)
        if self.mode is Registration.OIDC:
            self._require_new(address)
            channel, code, state = Channel.OIDC, None, ApplicationState.WAITING
        else:
            channel, state = Channel.MAIL, ApplicationState.UNCONFIRMED
            code = None if self._is_known(address) else secrets.token_urlsafe(CODE_BYTES)
        by_mail = channel is Channel.MAIL
        added = self._store.applications.add(
            NewApplication(
                team=wanted.team,
                title=wanted.title,
                contact=wanted.contact,
                reason=wanted.reason,
                channel=channel,
                address=address,
                client=client,
                code=None if code is None else digest_of(code),
                expires_at=datetime.now(UTC) + CONFIRMED_WITHIN if by_mail else None,
                state=state,
            )
        )
        if not by_mail:
            self._store.audit.write(note_of(PUBLIC, Action.APPLICATION_CONFIRMED, added))
        return state, code

    def _require_open(self, subject: str) -> None:
        if self.mode is Registration.OFF:
            raise ClosedError("This arena takes no applications.", advice="Ask the organisers for a team.")
        if self.mode is Registration.OIDC and not 0 < len(subject) <= LONGEST_ADDRESS:
            raise ClosedError(
                "Applications are taken from who signed in by the provider.",
                advice="Open the page Register a team on the site and sign in there.",
            )
        if self._store.applications.counts()[ApplicationState.WAITING] >= MOST_WAITING:
            raise UnavailableError("Too many applications are waiting.", advice="Try again in a few days.")

    def _require_rate(self, client: str) -> None:
        since = datetime.now(UTC) - WINDOW
        for most, count, first in (
            (MOST_OF_CLIENT, *self._store.applications.sent(since=since, client=client)),
            (MOST_IN_ALL, *self._store.applications.sent(since=since)),
        ):
            if count >= most and first is not None:
                wait = max(1, round((first + WINDOW - datetime.now(UTC)).total_seconds()))
                raise TooManyAttemptsError(
                    "Too many applications were sent.",
                    retry_after=wait,
                    advice=f"Try again in {wait} seconds.",
                )

    def _require_free(self, team: str, title: str) -> None:
        """Refuse a name or title that is reserved, or looks like another team's."""
        teams = self._store.teams.all()
        waiting = self._store.applications.all(ApplicationState.WAITING)
        taken = [*chain.from_iterable((each.name, each.title) for each in teams)]
        taken += chain.from_iterable((each.team, each.title) for each in waiting)
        for label, text in (("name", team), ("title", title)):
            if look_alike(text, (*RESERVED, *NOT_TEAMS)) is not None:
                raise ConflictError(f"The {label} {text!r} is reserved.", advice="Choose another.")
            if look_alike(text, taken) is not None:
                message = f"The {label} {text!r} is taken, or looks like another team's."
                raise ConflictError(message, advice="Choose another.")

    def _require_new(self, subject: str) -> None:
        account = self._store.teams.account_of(subject=subject, email=None)
        if account is not None:
            raise ConflictError(
                f"You have the account {account.name} already.",
                advice="Ask the organisers for another team.",
            )
        last = self._store.applications.last_of(Channel.OIDC, subject)
        if last is not None and last.state is ApplicationState.WAITING:
            raise ConflictError(
                f"Your application for {last.team} is waiting.", advice="Wait for the answer."
            )

    def _is_known(self, mail: str) -> bool:
        last = self._store.applications.last_of(Channel.MAIL, mail)
        return (last is not None and last.state is ApplicationState.WAITING) or any(
            account.email == mail for account in self._store.teams.accounts()
        )

    def _answer_by_mail(self, team: str, address: str, code: str | None) -> None:
        lately = self._store.applications.addresses(since=datetime.now(UTC) - MAIL_WINDOW)
        if sum(mailbox_of(one) == mailbox_of(address) for one in lately) > MOST_FOR_MAIL:
            # Nobody's post is filled by strangers; and the answer says nothing of the address.
            return
        if code is None:
            self._emails.known(address, team)
        else:
            self._emails.confirm(address, team, code, hours=round(CONFIRMED_WITHIN / timedelta(hours=1)))

    def _behind(self, code: str, state: ApplicationState) -> Application:
        application = self.behind(code)
        if application is None or application.state is not state:
            raise _spent()
        return application


def _readable(wanted: RegistrationRequest) -> RegistrationRequest:
    """What was written, without space around it.

    Raises:
        InputError: Something is missing, too long, or cannot be printed.
    """
    team = wanted.team.strip()
    if (
        not SHORTEST_TEAM <= len(team) <= LONGEST_TEAM
        or not set(team) <= TEAM_SIGNS
        or not (team[0].isalnum() and team[-1].isalnum())
    ):
        raise InputError(f"{team[:LONGEST_TEAM]!r} is no name for a team.", advice=TEAM_RULE)
    return RegistrationRequest(
        team=team,
        title=one_line("The title", wanted.title, LONGEST_LINE),
        contact=one_line("The contact", wanted.contact, LONGEST_LINE),
        reason=one_line("The reason", wanted.reason, LONGEST_REASON),
        mail=wanted.mail,
    )


def one_line(what: str, text: str, longest: int) -> str:
    """A text on one line; line breaks are spaces."""
    line = " ".join(text.split())
    if not 0 < len(line) <= longest or not line.isprintable():
        raise InputError(
            f"{what} is empty, too long or cannot be printed.",
            advice=f"Use 1 to {longest:,} printable characters.",
        )
    return line


def _mark(client: str) -> str:
    return digest_of(f"registration\x1f{client}")


def _spent() -> NotFoundError:
    return NotFoundError(
        "This link was used already, or is over.", advice="Apply again, or ask the organisers for another."
    )


def note_of(
    caller: Caller, action: Action, application: Application, *, team: str = "", **detail: object
) -> AuditNote:
    """What the log says of an application; never whose it is."""
    return caller.note(action, f"application {application.id}", team=team, name=application.team, **detail)
