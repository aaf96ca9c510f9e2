"""Invitations to teams: links with a random code, of which only the sha256 is stored."""

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
    """Make and accept invitations."""

    def __init__(self, store: Store, tokens: TokenService, *, public_url: str = "") -> None:
        self._store = store
        self._tokens = tokens
        self._public_url = public_url

    def invite(self, team: str, *, uses: int = 1, days: int = 7, caller: Caller) -> str:
        """Return a link that lets people join a team as members, so many times within so many days."""
        require(caller, TokenScope.MANAGE, team=team)
        if not (1 <= uses <= MAX_USES and 1 <= days <= MAX_DAYS):
            raise InputError(
                f"{uses} uses within {days} days cannot be given.",
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
        """Return the team of an invitation that can be used."""
        team = self._store.teams.invited_to(digest_of(code))
        if team is None:
            raise NotFoundError("This invitation was used, or is over.", advice="Ask the team for another.")
        return team

    def join(self, code: str, *, caller: Caller) -> str:
        """Let the caller's account join the team, unless it is in it, and return the team's name."""
        require(caller, TokenScope.READ)
        if caller.account is None:
            raise InputError("Only people join a team.", advice="Sign in with your own account.")
        with self._store.changing():
            team = self.team_of(code)
            if caller.role_in(team) is None:
                self._use(code)
                self._store.teams.join(team, caller.account, Role.MEMBER)
                caller.log("member-added", f"team {team}", team=team, account=caller.account)
        return team

    def join_as_new(self, code: str, *, name: str, subject: str) -> str:
        """Make an account for a sign-in at the OIDC provider that has none, and let it join the team."""
        with self._store.changing():
            team = self.team_of(code)
            self._use(code)
            self._store.teams.add_account(name, subject=subject)
            self._store.teams.join(team, name, Role.MEMBER)
        on_behalf(f"{name}, invited").log("member-added", f"team {team}", team=team, account=name)
        return team

    def token(self, code: str) -> CreatedToken:
        """Make a token of the team, which reads and submits; its text is in the answer alone."""
        with self._store.changing():
            team = self.team_of(code)
            self._use(code)
            return self._tokens.create(
                name="invitation",
                scopes=(TokenScope.READ, TokenScope.SUBMIT),
                team=team,
                days=TOKEN_DAYS,
                caller=on_behalf("somebody invited"),
            )

    def _use(self, code: str) -> None:
        if not self._store.teams.use_invitation(digest_of(code)):
            raise NotFoundError("This invitation was used, or is over.", advice="Ask the team for another.")
