from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select, update
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind
from data.errors import AccessError, ArenaError, ConflictError, ForbiddenError, InputError, NotFoundError
from data.models import Role, TokenScope
from data.models.teams import invitations
from tests.arena.conftest import Commands, Fill
from tests.opened_pages import page_of

ANN = Caller(kind=CallerKind.SESSION, name="ann", account="ann", scopes=frozenset(TokenScope))
OWNER = replace(ANN, name="olga", account="olga", roles=(("ours", Role.OWNER),))
MEMBER = replace(ANN, name="bob", account="bob", roles=(("ours", Role.MEMBER),))
TEAM = replace(OWNER, kind=CallerKind.TOKEN, account=None)


@pytest.fixture
def arena(make_arena: Fill) -> Arena:
    """An arena with the team `ours` and the account `ann`."""
    opened = make_arena(public_url="https://arena.example")
    opened.teams.add("ours", caller=OPERATOR)
    opened.teams.add_account("ann", caller=OPERATOR)
    return opened


def code_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["code"][0]


def members(arena: Arena) -> list[tuple[str, Role]]:
    return [(each.account, each.role) for each in arena.store.teams.members("ours")]


def test_link_lets_one_account_join(arena: Arena) -> None:
    """The code is not stored; an owner who opens the link stays owner and uses nothing."""
    arena.teams.add_account("olga", caller=OPERATOR)
    arena.teams.add_member("ours", "olga", role=Role.OWNER, caller=OPERATOR)
    link = arena.invitations.invite("ours", caller=OWNER)
    assert link.startswith("https://arena.example/invite?code=")
    code = code_of(link)
    with arena.store.database.begin() as connection:
        assert code not in str(connection.execute(select(invitations)).all())
    arena.invitations.join(code, caller=OWNER)
    assert arena.invitations.join(code, caller=ANN) == "ours"
    assert members(arena) == [("ann", Role.MEMBER), ("olga", Role.OWNER)]
    with pytest.raises(NotFoundError, match="used up"):
        arena.invitations.join(code, caller=ANN)


def test_new_sign_in_creates_account(arena: Arena) -> None:
    code = code_of(arena.invitations.invite("ours", uses=2, caller=OPERATOR))
    arena.invitations.join_as_new(code, name="eve", subject="https://id.example#eve")
    for name, subject in (("eve", "https://id.example#new"), ("new", "https://id.example#eve")):
        with pytest.raises(ConflictError):
            arena.invitations.join_as_new(code, name=name, subject=subject)
    arena.invitations.join(code, caller=ANN)
    assert members(arena) == [("ann", Role.MEMBER), ("eve", Role.MEMBER)]
    caller = arena.identities.of_oidc(
        "https://id.example#eve", email=None, verified=False, since=datetime.now(UTC)
    )
    assert (caller.account, caller.organiser) == ("eve", False)


def test_link_creates_one_team_token(arena: Arena) -> None:
    code = code_of(arena.invitations.invite("ours", caller=OPERATOR))
    created = arena.invitations.token(code)
    assert created.scopes == {TokenScope.READ, TokenScope.SUBMIT}
    assert (created.team, created.expires_at is None) == ("ours", False)
    with pytest.raises(NotFoundError):
        arena.invitations.token(code)


def test_expired_invitation_is_refused(arena: Arena) -> None:
    code = code_of(arena.invitations.invite("ours", caller=OPERATOR))
    past = datetime.now(UTC) - timedelta(minutes=1)
    with arena.store.database.begin() as connection:
        connection.execute(update(invitations).values(expires_at=past))
    for use in (
        lambda: arena.invitations.team_of(code),
        lambda: arena.invitations.join(code, caller=ANN),
        lambda: arena.invitations.join_as_new(code, name="eve", subject="s"),
        lambda: arena.invitations.token(code),
    ):
        with pytest.raises(NotFoundError):
            use()
    arena.invitations.invite("ours", caller=OPERATOR)
    with arena.store.database.begin() as connection:
        assert len(connection.execute(select(invitations)).all()) == 1
    assert members(arena) == []


@pytest.mark.parametrize(
    ("caller", "options", "error"),
    [
        (PUBLIC, {}, AccessError),
        (ANN, {}, ForbiddenError),
        (MEMBER, {}, ForbiddenError),
        (replace(OWNER, scopes=frozenset({TokenScope.READ, TokenScope.SUBMIT})), {}, ForbiddenError),
        (OWNER, {"uses": 0}, InputError),
        (OWNER, {"days": 91}, InputError),
        (OPERATOR, {"team": "none"}, NotFoundError),
    ],
)
def test_invalid_invitations_are_refused(
    arena: Arena, caller: Caller, options: dict[str, int], error: type[ArenaError]
) -> None:
    with pytest.raises(error):
        arena.invitations.invite(**{"team": "ours", **options}, caller=caller)  # type: ignore[arg-type]


def test_teams_and_visitors_cannot_join(arena: Arena) -> None:
    code = code_of(arena.invitations.invite("ours", caller=OPERATOR))
    with pytest.raises(AccessError):
        arena.invitations.join(code, caller=PUBLIC)
    with pytest.raises(InputError, match="Only people"):
        arena.invitations.join(code, caller=TEAM)
    assert arena.invitations.team_of(code) == "ours"


def test_page_shows_token_once(arena: Arena) -> None:
    """Opening the link uses nothing; pressing the button shows the token."""
    code = code_of(arena.invitations.invite("ours", caller=OPERATOR))
    page: AppTest = page_of(arena.settings, "teams.invite_page", code=code)
    page.run()
    assert arena.invitations.team_of(code) == "ours"
    page.button[0].click().run()
    assert not page.exception
    (block,) = page.code
    assert arena.identities.of_token(block.value, client="test").teams == ("ours",)
    again = page_of(arena.settings, "teams.invite_page", code=code).run()
    assert not again.code
    assert not again.exception


def test_command_prints_link(run: Commands) -> None:
    run("teams", "add", "ours")
    out = run.done("teams", "invite", "ours", "--uses", 3)
    assert out.startswith("/invite?code=")
    run.fails("teams", "invite", "none")
