"""Invitations to teams by links with a random code; only its sha256 is stored."""

import secrets
from datetime import UTC, datetime, timedelta

from arena.services.accounts.auth import Caller, digest_of, on_behalf, require
from arena.services.accounts.tokens import TokenService
from data.errors import InputError, NotFoundError
from data.models import CreatedToken, Role, TokenScope
from data.store import Store

CODE_BYTES = 32
MAX_USES, MAX_DAYS = 100, 90
TOKEN_DAYS = 180


class InvitationService:
    """Create and accept invitations."""

    def __init__(self, store: Store, tokens: TokenService, *, public_url: str = "") -> None:
        self._store = store
        self._tokens = tokens
        self._public_url = public_url

    def invite(self, team: str, *, uses: int = 1, days: int = 7, caller: Caller) -> str:
        """Return a link that adds members to a team, for `uses` people within `days`."""
        require(caller, TokenScope.MANAGE, team=team)
        if not (1 <= uses <= MAX_USES and 1 <= days <= MAX_DAYS):
            raise InputError(
                f"An invitation cannot have {uses} uses within {days} days.",
                advice=f"Use 1 to {MAX_USES} uses and 1 to {MAX_DAYS} days.",
            )
        code = secrets.token_urlsafe(CODE_BYTES)
        with self._store.changing():
            self._store.teams.invite(
                team, digest_of(code), uses=uses, expires_at=datetime.now(UTC) + timedelta(days=days)
            )
        caller.log("member-invited", f"team {team}", team=team, uses=uses, days=days)
        return f"{self._public_url}/invite?code={code}"

    def team_of(self, code: str) -> str:
        """Return the team of a valid invitation."""
        team = self._store.teams.invited_to(digest_of(code))
        if team is None:
            raise NotFoundError(
                "This invitation is used up or has expired.", advice="Ask the team for a new one."
            )
        return team

    def join(self, code: str, *, caller: Caller) -> str:
        """Add the caller's account to the team unless it is a member, and return the team."""
        require(caller, TokenScope.READ)
        if caller.account is None:
            raise InputError("Only people can join a team.", advice="Sign in with your own account.")
        with self._store.changing():
            team = self.team_of(code)
            if caller.role_in(team) is None:
                self._use(code)
                self._store.teams.join(team, caller.account, Role.MEMBER)
                caller.log("member-added", f"team {team}", team=team, account=caller.account)
        return team

    def join_as_new(self, code: str, *, name: str, subject: str) -> str:
        """Create an account for an OIDC sign-in, and add it to the team."""
        with self._store.changing():
            team = self.team_of(code)
            self._use(code)
            self._store.teams.add_account(name, subject=subject)
            self._store.teams.join(team, name, Role.MEMBER)
        on_behalf(f"{name}, invited").log("member-added", f"team {team}", team=team, account=name)
        return team

    def token(self, code: str) -> CreatedToken:
        """Create a team token that reads and submits; its secret is returned only here."""
        with self._store.changing():
            team = self.team_of(code)
            self._use(code)
            return self._tokens.create(
                name="invitation",
                scopes=(TokenScope.READ, TokenScope.SUBMIT),
                team=team,
                days=TOKEN_DAYS,
                caller=on_behalf("invitation"),
            )

    def _use(self, code: str) -> None:
        if not self._store.teams.use_invitation(digest_of(code)):
            raise NotFoundError(
                "This invitation is used up or has expired.", advice="Ask the team for a new one."
            )
