"""Store for access tokens and sessions, whose secrets are hashed."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, delete, insert, select, update

from data.errors import NotFoundError, StoreError
from data.models import Token, TokenScope
from data.models.base import now
from data.models.teams import accounts, teams, tokens, web_sessions
from data.store.base import AnyRow, StorePart, to_record
from data.store.engine import new_id

USE_EVERY = timedelta(minutes=1)
"""How exactly the last use of a token is known: a write for every request would cost more than it tells."""

USE_WAIT_MS = 50


class TokenStore(StorePart):
    """Keeps tokens and sessions."""

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
        """Store a token of a team or an account, by the store's number of it."""
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
        """A token."""
        row = self._first(_select().where(tokens.c.id == number))
        if row is None:
            raise NotFoundError(f"There is no token {number}.", advice="`arena teams show TEAM` lists them.")
        return _token(row)

    def with_prefix(self, prefix: str) -> Token | None:
        """The token of a prefix, or None."""
        row = self._first(_select().where(tokens.c.prefix == prefix))
        return None if row is None else _token(row)

    def all(self, *, team: str | None = None) -> tuple[Token, ...]:
        """Every token, or those of a team."""
        query = _select().order_by(tokens.c.id)
        if team is not None:
            query = query.where(teams.c.name == team)
        return tuple(_token(row) for row in self._all(query))

    def revoke(self, number: int) -> Token:
        """Make a token useless; its sessions end with it."""
        with self._database.begin() as connection:
            connection.execute(
                update(tokens)
                .where(tokens.c.id == number, tokens.c.revoked_at.is_(None))
                .values(revoked_at=now())
            )
            connection.execute(delete(web_sessions).where(web_sessions.c.token_id == number))
        return self.get(number)

    def used(self, token: Token) -> None:
        """Remember that a token was used, to the minute.

        Where SQLite's one writer is busy, as while a large file is stored, a later use is remembered instead:
        nobody who may come in waits for that.
        """
        at = now()
        if token.used_at is not None and at - token.used_at < USE_EVERY:
            return
        with suppress(StoreError), self._database.together(wait_ms=USE_WAIT_MS) as connection:
            connection.execute(update(tokens).where(tokens.c.id == token.id).values(used_at=at))

    def open_session(self, digest: str, token: int, expires_at: datetime) -> None:
        """Remember a browser that signed in; sessions that have ended are forgotten."""
        with self._database.begin() as connection:
            connection.execute(delete(web_sessions).where(web_sessions.c.expires_at <= now()))
            row = {"digest": digest, "token_id": token, "expires_at": expires_at}
            connection.execute(insert(web_sessions).values(row))

    def of_session(self, digest: str) -> Token | None:
        """The token that a browser signed in with, None where its session is unknown or over."""
        query = _select().join(web_sessions, web_sessions.c.token_id == tokens.c.id)
        query = query.where(web_sessions.c.digest == digest, web_sessions.c.expires_at > now())
        row = self._first(query)
        return None if row is None else _token(row)

    def close_session(self, digest: str) -> bool:
        """Forget a browser; whether it was signed in."""
        return bool(self._change(delete(web_sessions).where(web_sessions.c.digest == digest)))


def _select() -> Select[Any]:
    return (
        select(tokens, teams.c.name.label("team"), accounts.c.name.label("account"))
        .outerjoin(teams, teams.c.id == tokens.c.team_id)
        .outerjoin(accounts, accounts.c.id == tokens.c.account_id)
    )


def _token(row: AnyRow) -> Token:
    return to_record(Token, row, scopes=frozenset(map(TokenScope, row.scopes)))
