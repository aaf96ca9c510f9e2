"""Teams, members and accounts."""

from arena.services.accounts.auth import OPERATOR, Caller, CallerKind, require
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from data.errors import ConflictError, InputError, NotFoundError
from data.models import Membership, Role, Team, TeamWithMembers, TokenScope, UserAccount
from data.store import Store

MAX_TEXT = 200


class TeamService:
    """Service for teams and accounts."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, name: str, *, title: str = "", contact: str = "", caller: Caller) -> Team:
        """Add a team."""
        require(caller, TokenScope.ORGANISE)
        for text in (title, contact):
            if len(text) > MAX_TEXT or not text.isprintable():
                raise InputError(
                    f"{text[:40]!r} is not a valid title or contact.",
                    advice=f"Use at most {MAX_TEXT} printable characters.",
                )
        with self._store.changing():
            team = self._store.teams.add(name, title=title, contact=contact)
        caller.log("team-added", f"team {name}", team=name)
        return team

    def all(self, *, caller: Caller) -> tuple[Team, ...]:
        """Return the teams that the caller belongs to; organisers get all of them."""
        require(caller, TokenScope.READ)
        return tuple(team for team in self._store.teams.all() if _sees_team(caller, team.name))

    def view(self, name: str, *, caller: Caller) -> TeamWithMembers:
        """Return a team with its members."""
        require(caller, TokenScope.READ)
        if not _sees_team(caller, name):
            raise NotFoundError(f"You do not belong to a team {name!r}.", advice="List your teams.")
        return TeamWithMembers(**dict(self._store.teams.get(name)), members=self._store.teams.members(name))

    def add_member(self, team: str, account: str, *, role: Role = Role.MEMBER, caller: Caller) -> Membership:
        """Add an account to a team, or change its role."""
        require(caller, TokenScope.MANAGE, team=team)
        with self._store.changing():
            self._store.teams.lock(team)
            if role is not Role.OWNER:
                self._keep_owner(team, without=account)
            member = self._store.teams.join(team, account, role)
        caller.log("member-added", f"team {team}", team=team, account=account, role=role.value)
        return member

    def remove_member(self, team: str, account: str, *, caller: Caller) -> None:
        """Remove an account from a team."""
        require(caller, TokenScope.MANAGE, team=team)
        with self._store.changing():
            self._store.teams.lock(team)
            self._keep_owner(team, without=account)
            # Team tokens and organisers still reach the team.
            only_member = {member.account for member in self._store.teams.members(team)} == {account}
            if only_member and caller.account is not None and not caller.organiser:
                raise ConflictError(
                    f"{account} is the only member of {team}, which would lose access to its submissions.",
                    advice="Add another owner first, or ask the organisers to remove you.",
                )
            self._store.teams.leave(team, account)
        caller.log("member-removed", f"team {team}", team=team, account=account)

    def add_account(
        self,
        name: str,
        *,
        subject: str | None = None,
        email: str | None = None,
        is_organiser: bool = False,
        caller: Caller,
    ) -> UserAccount:
        """Add an account."""
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            account = self._store.teams.add_account(
                name, subject=subject, email=email, is_organiser=is_organiser
            )
        caller.log("account-added", f"account {name}", organiser=is_organiser)
        return account

    def change_account(
        self, name: str, *, is_organiser: bool | None = None, closed: bool | None = None, caller: Caller
    ) -> UserAccount:
        """Change whether an account organises or is closed, immediately; None changes nothing.

        Closing an account revokes its tokens and sessions, and its organiser rights.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            if closed:
                is_organiser = False
                for membership in self._store.teams.teams_of(name):
                    self._keep_owner(membership.team, without=name)
                for token in self._store.tokens.all():
                    if token.account == name and token.revoked_at is None:
                        self._store.tokens.revoke(token.id)
            if is_organiser is False and caller.kind is not CallerKind.OPERATOR:
                self._keep_organiser(without=name)
            account = self._store.teams.change_account(name, is_organiser=is_organiser, closed=closed)
        caller.log("account-changed", f"account {name}", organiser=is_organiser, closed=closed)
        return account

    def accounts(self, *, caller: Caller) -> tuple[UserAccount, ...]:
        """Return all accounts."""
        require(caller, TokenScope.ORGANISE)
        return self._store.teams.accounts()

    def ensure(self, name: str, *, caller: Caller = OPERATOR) -> Team | None:
        """Find or create a team by name; None without a name."""
        if not name:
            return None
        return self._store.teams.find(name) or self.add(name, caller=caller)

    def _keep_owner(self, team: str, *, without: str) -> None:
        members = [member for member in self._store.teams.members(team) if member.account != without]
        if members and not any(member.role is Role.OWNER for member in members):
            raise ConflictError(
                f"{team} would have members but no owner.", advice="Make another member its owner first."
            )

    def _keep_organiser(self, *, without: str) -> None:
        if self._store.teams.organisers() == (without,):
            raise ConflictError(
                f"{without} is the only organiser.",
                advice=f"Add another organiser first, or use `arena teams accounts {without} "
                "--no-organiser` on the arena's machine.",
            )


def _sees_team(caller: Caller, name: str) -> bool:
    return visibility_of(caller, Resource(kind=Kind.TEAM, team=name)) is Visibility.FULL
