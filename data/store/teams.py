"""Stores for teams, accounts, memberships, access tokens and sessions; secrets are hashed."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, insert, select, update

from data.errors import ConflictError, NotFoundError, StoreError
from data.models import Membership, Role, Team, Token, TokenScope, UserAccount, require_label
from data.models.base import now
from data.models.teams import accounts, invitations, memberships, teams, tokens, web_sessions
from data.store.base import AnyRow, StorePart, to_record, unique
from data.store.engine import new_id


class TeamStore(StorePart):
    """Store for teams, accounts and memberships."""

    def add(self, name: str, *, title: str = "", contact: str = "") -> Team:
        """Store a team."""
        require_label(name, "Team name")
        values = {"name": name, "title": title or name, "contact": contact}
        conflict = ConflictError(f"Team {name!r} already exists.", advice="Choose another name.")
        with unique(teams.c.name, conflict=lambda: conflict):
            self._change(insert(teams).values(values))
        return self.get(name)

    def find(self, name: str) -> Team | None:
        """Return a team, or None."""
        row = self._first(select(teams).where(teams.c.name == name))
        return None if row is None else to_record(Team, row)

    def get(self, name: str) -> Team:
        """Return a team."""
        with self._database.begin() as connection:
            return to_record(Team, _row_of(connection, teams, "team", name))

    def lock(self, name: str) -> None:
        """Lock a team until the transaction ends."""
        self._all(select(teams.c.id).where(teams.c.name == name).with_for_update(key_share=True))

    def all(self) -> tuple[Team, ...]:
        """Return all teams by name."""
        return tuple(to_record(Team, row) for row in self._all(select(teams).order_by(teams.c.name)))

    def add_account(
        self, name: str, *, subject: str | None = None, email: str | None = None, is_organiser: bool = False
    ) -> UserAccount:
        """Store an account."""
        require_label(name, "Account name")
        conflict = ConflictError(
            f"An account with the name {name!r}, this subject or this e-mail address already exists.",
            advice="`arena teams accounts` lists them.",
        )
        with unique(accounts.c.name, accounts.c.subject, accounts.c.email, conflict=lambda: conflict):
            self._change(
                insert(accounts).values(
                    name=name,
                    subject=subject or None,
                    email=email.casefold() if email else None,
                    is_organiser=is_organiser,
                )
            )
        return self.account(name)

    def change_account(self, name: str, *, is_organiser: bool | None, closed: bool | None) -> UserAccount:
        """Change whether an account is an organiser and whether it is closed; None keeps the value."""
        values: dict[str, Any] = {}
        if is_organiser is not None:
            values["is_organiser"] = is_organiser
        if closed is not None:
            values["closed_at"] = now() if closed else None
        with self._database.begin() as connection:
            _row_of(connection, accounts, "account", name)
            if values:
                connection.execute(update(accounts).where(accounts.c.name == name).values(values))
            return to_record(UserAccount, _row_of(connection, accounts, "account", name))

    def sign_out(self, name: str) -> None:
        """Invalidate all sessions of an account at its provider."""
        self._change(update(accounts).where(accounts.c.name == name).values(signed_out_at=now()))

    def organisers(self) -> tuple[str, ...]:
        """Return the accounts of organisers, locked until the transaction ends."""
        query = select(accounts.c.name).where(accounts.c.is_organiser).order_by(accounts.c.id)
        return tuple(self._values(query.with_for_update()))

    def account(self, name: str) -> UserAccount:
        """Return an account."""
        with self._database.begin() as connection:
            return to_record(UserAccount, _row_of(connection, accounts, "account", name))

    def accounts(self) -> tuple[UserAccount, ...]:
        """Return all accounts by name."""
        rows = self._all(select(accounts).order_by(accounts.c.name))
        return tuple(to_record(UserAccount, row) for row in rows)

    def account_of(self, *, subject: str, email: str | None) -> UserAccount | None:
        """Return the account of a subject, else one without a subject that has the e-mail address."""
        with self._database.begin() as connection:
            row = connection.execute(select(accounts).where(accounts.c.subject == subject)).first()
            if row is None and email:
                row = connection.execute(
                    select(accounts).where(accounts.c.email == email.casefold(), accounts.c.subject.is_(None))
                ).first()
        return None if row is None else to_record(UserAccount, row)

    def bind(self, name: str, subject: str) -> UserAccount:
        """Set the subject of an account at its OIDC provider unless it has one."""
        with self._database.begin() as connection:
            connection.execute(
                update(accounts)
                .where(accounts.c.name == name, accounts.c.subject.is_(None))
                .values(subject=subject)
            )
            return to_record(UserAccount, _row_of(connection, accounts, "account", name))

    def join(self, team: str, account: str, role: Role) -> Membership:
        """Add an account to a team, or change its role."""
        with self._database.begin() as connection:
            key = _membership_key(connection, team, account)
            changed = connection.execute(update(memberships).where(*_is(key)).values(role=role)).rowcount
            if not changed:
                connection.execute(insert(memberships).values(**key, role=role))
        return next(member for member in self.members(team) if member.account == account)

    def leave(self, team: str, account: str) -> None:
        """Remove an account from a team."""
        with self._database.begin() as connection:
            key = _membership_key(connection, team, account)
            if not connection.execute(delete(memberships).where(*_is(key))).rowcount:
                raise NotFoundError(
                    f"{account} is not a member of {team}.", advice=f"`arena teams show {team!r}` lists them."
                )

    def invite(self, team: str, digest: str, *, uses: int, expires_at: datetime) -> None:
        """Store an invitation to a team by the digest of its code, and delete expired ones."""
        with self._database.begin() as connection:
            number = _row_of(connection, teams, "team", team).id
            expired = (invitations.c.expires_at <= now()) | (invitations.c.uses_left <= 0)
            connection.execute(delete(invitations).where(expired))
            values = {"digest": digest, "team_id": number, "uses_left": uses, "expires_at": expires_at}
            connection.execute(insert(invitations).values(values))

    def invited_to(self, digest: str) -> str | None:
        """Return the team of a valid invitation, or None."""
        query = select(teams.c.name).join(invitations, invitations.c.team_id == teams.c.id)
        return next(iter(self._values(query.where(*_usable(digest)))), None)

    def use_invitation(self, digest: str) -> bool:
        """Use an invitation once; False if it is not valid."""
        used = update(invitations).where(*_usable(digest)).values(uses_left=invitations.c.uses_left - 1)
        return bool(self._change(used))

    def members(self, team: str) -> tuple[Membership, ...]:
        """Return the members of a team by name."""
        rows = self._all(_memberships().where(teams.c.name == team))
        return tuple(to_record(Membership, row) for row in rows)

    def teams_of(self, account: str) -> tuple[Membership, ...]:
        """Return the memberships of an account."""
        rows = self._all(_memberships().where(accounts.c.name == account))
        return tuple(to_record(Membership, row) for row in rows)


def _row_of(connection: Connection, table: Table, kind: str, name: str) -> AnyRow:
    row: AnyRow | None = connection.execute(select(table).where(table.c.name == name)).first()
    if row is None:
        command = "arena teams list" if kind == "team" else "arena teams accounts"
        raise NotFoundError(f"There is no {kind} {name!r}.", advice=f"See `{command}`.")
    return row


def _usable(digest: str) -> tuple[ColumnElement[bool], ...]:
    is_open = (invitations.c.uses_left > 0, invitations.c.expires_at > now())
    return (invitations.c.digest == digest, *is_open)


def _membership_key(connection: Connection, team: str, account: str) -> dict[str, int]:
    return {
        "team_id": _row_of(connection, teams, "team", team).id,
        "account_id": _row_of(connection, accounts, "account", account).id,
    }


def _is(key: dict[str, int]) -> tuple[Any, ...]:
    return tuple(memberships.c[name] == value for name, value in key.items())


def _memberships() -> Select[*tuple[Any, ...]]:
    return (
        select(teams.c.name.label("team"), accounts.c.name.label("account"), memberships)
        .join(teams, teams.c.id == memberships.c.team_id)
        .join(accounts, accounts.c.id == memberships.c.account_id)
        .order_by(teams.c.name, accounts.c.name)
    )


USE_EVERY = timedelta(minutes=1)
"""Precision of a token's last use, since a write for every request would be expensive."""
USE_WAIT_MS = 50


class TokenStore(StorePart):
    """Store for tokens and sessions."""

    def add(
        self,
        *,
        prefix: str,
        digest: str,
        name: str,
        scopes: frozenset[TokenScope],
        expires_at: datetime | None,
        team: int | None = None,
        account: int | None = None,
    ) -> Token:
        """Store a token of a team or an account."""
        with self._database.begin() as connection:
            statement = insert(tokens).values(
                prefix=prefix,
                digest=digest,
                name=name,
                team_id=team,
                account_id=account,
                scopes=sorted(scopes),
                expires_at=expires_at,
            )
            number = new_id(connection.execute(statement))
        return self.get(number)

    def get(self, number: int) -> Token:
        """Return a token."""
        row = self._first(_select().where(tokens.c.id == number))
        if row is None:
            raise NotFoundError(f"There is no token {number}.", advice="`arena teams show TEAM` lists them.")
        return _token(row)

    def with_prefix(self, prefix: str) -> Token | None:
        """Return the token with a prefix, or None."""
        row = self._first(_select().where(tokens.c.prefix == prefix))
        return None if row is None else _token(row)

    def all(self, *, team: str | None = None) -> tuple[Token, ...]:
        """Return all tokens, or those of a team."""
        query = _select().order_by(tokens.c.id)
        if team is not None:
            query = query.where(teams.c.name == team)
        return tuple(_token(row) for row in self._all(query))

    def revoke(self, number: int) -> Token:
        """Revoke a token and delete its sessions."""
        with self._database.begin() as connection:
            connection.execute(
                update(tokens)
                .where(tokens.c.id == number, tokens.c.revoked_at.is_(None))
                .values(revoked_at=now())
            )
            connection.execute(delete(web_sessions).where(web_sessions.c.token_id == number))
        return self.get(number)

    def used(self, token: Token) -> None:
        """Record the use of a token, to the minute.

        If SQLite's writer is busy, the use is not recorded, so that requests need not wait.
        """
        at = now()
        if token.used_at is not None and at - token.used_at < USE_EVERY:
            return
        with suppress(StoreError), self._database.together(wait_ms=USE_WAIT_MS) as connection:
            connection.execute(update(tokens).where(tokens.c.id == token.id).values(used_at=at))

    def open_session(self, digest: str, token: int, expires_at: datetime) -> None:
        """Store the session of a browser, and delete expired ones."""
        with self._database.begin() as connection:
            connection.execute(delete(web_sessions).where(web_sessions.c.expires_at <= now()))
            row = {"digest": digest, "token_id": token, "expires_at": expires_at}
            connection.execute(insert(web_sessions).values(row))

    def of_session(self, digest: str) -> Token | None:
        """Return the token of a session; None if it is unknown or expired."""
        query = _select().join(web_sessions, web_sessions.c.token_id == tokens.c.id)
        query = query.where(web_sessions.c.digest == digest, web_sessions.c.expires_at > now())
        row = self._first(query)
        return None if row is None else _token(row)

    def close_session(self, digest: str) -> bool:
        """Delete the session of a browser and return whether there was one."""
        return bool(self._change(delete(web_sessions).where(web_sessions.c.digest == digest)))


def _select() -> Select[Any]:
    return (
        select(tokens, teams.c.name.label("team"), accounts.c.name.label("account"))
        .outerjoin(teams, teams.c.id == tokens.c.team_id)
        .outerjoin(accounts, accounts.c.id == tokens.c.account_id)
    )


def _token(row: AnyRow) -> Token:
    return to_record(Token, row, scopes=frozenset(map(TokenScope, row.scopes)))
