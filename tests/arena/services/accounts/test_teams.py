from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from arena.container import Arena
from arena.services.accounts.auth import (
    MAX_CLIENT_REFUSALS,
    MAX_PREFIX_REFUSALS,
    OPERATOR,
    PUBLIC,
    Caller,
    CallerKind,
    require,
)
from data.errors import AccessError, ConflictError, ForbiddenError, InputError, TooManyAttemptsError
from data.models import Role, TokenScope
from tests.arena.conftest import Fill, log_entries

HERE = "192.0.2.1"


@pytest.fixture
def arena(make_arena: Fill) -> Arena:
    """An arena with the teams `ours` and `theirs`."""
    made = make_arena()
    made.teams.add("ours", caller=OPERATOR)
    made.teams.add("theirs", caller=OPERATOR)
    return made


def _token(arena: Arena, scope: TokenScope = TokenScope.SUBMIT, **options: Any) -> tuple[int, str]:  # noqa: ANN401 - passed on
    created = arena.tokens.create(
        **{"name": "ci", "scopes": {scope}, "team": "ours", "caller": OPERATOR, **options}
    )
    return created.id, created.secret


def test_token_has_team_rights_and_is_stored_hashed(arena: Arena) -> None:
    _, secret = _token(arena)
    caller = arena.identities.of_token(secret, client=HERE)
    assert (caller.teams, caller.organiser) == (("ours",), False)
    assert caller.scopes == {TokenScope.SUBMIT, TokenScope.READ}
    hidden = secret.split("_", 2)[2]
    with arena.store.database.begin() as connection:
        for table in ("token", "web_session"):
            assert hidden not in str(connection.execute(text(f"SELECT * FROM {table}")).all())  # noqa: S608
    assert hidden not in caller.name


def test_revoked_and_expired_tokens_are_refused(arena: Arena) -> None:
    number, secret = _token(arena)
    arena.identities.of_token(secret, client=HERE)
    arena.tokens.revoke(number, caller=OPERATOR)
    with pytest.raises(AccessError):
        arena.identities.of_token(secret, client=HERE)
    other, secret = _token(arena, days=1)
    with arena.store.database.begin() as connection:
        past = datetime.now(UTC) - timedelta(seconds=1)
        change = text("UPDATE token SET expires_at = :at WHERE id = :id")
        connection.execute(change, {"at": past, "id": other})
    with pytest.raises(AccessError):
        arena.identities.of_token(secret, client=HERE)


@pytest.mark.parametrize(
    "guess", ["", "aa", "aa__", "aa_x_", "zz_1_2", "\ud800", "aa_\x00_1", "aa_" + "x" * 10_000]
)
def test_malformed_tokens_are_refused(arena: Arena, guess: str) -> None:
    with pytest.raises(AccessError, match="Invalid or expired"):
        arena.identities.of_token(guess, client=HERE)


def test_guesses_are_limited_by_prefix_and_client(arena: Arena) -> None:
    """Repeated guesses must wait; valid tokens never do."""
    _, secret = _token(arena)
    prefix = "_".join(secret.split("_")[:2])
    for place in range(MAX_PREFIX_REFUSALS):
        with pytest.raises(AccessError):
            arena.identities.of_token(f"{prefix}_wrong", client=f"192.0.2.{place + 9}")
    with pytest.raises(TooManyAttemptsError) as caught:
        arena.identities.of_token(f"{prefix}_wrong", client="198.51.100.1")
    assert arena.identities.of_token(secret, client="192.0.2.9").signed_in
    assert 0 < caught.value.retry_after <= 900
    _, other = _token(arena)
    assert arena.identities.of_token(other, client=HERE).signed_in
    for place in range(MAX_CLIENT_REFUSALS):
        with pytest.raises(AccessError):
            arena.identities.of_token(f"aa_{place:012d}_wrong", client=HERE)
    with pytest.raises(TooManyAttemptsError):
        arena.identities.of_token("aa_000000000000_wrong", client=HERE)
    assert arena.identities.of_token(other, client=HERE).signed_in
    assert arena.sessions.sign_in(other, client=HERE).caller.signed_in


def test_session_lasts_until_signed_out_or_revoked(arena: Arena) -> None:
    number, secret = _token(arena)
    first = arena.sessions.sign_in(secret, client=HERE)
    second = arena.sessions.sign_in(secret, client=HERE)
    assert arena.sessions.who(first.cookie).teams == ("ours",)
    assert arena.sessions.sign_out(first.cookie)
    assert arena.sessions.who(first.cookie) == PUBLIC
    arena.tokens.revoke(number, caller=OPERATOR)
    assert arena.sessions.who(second.cookie) == PUBLIC
    assert arena.sessions.who("x" * 10_000) == PUBLIC
    assert first.cookie not in repr(first)


def test_removing_organiser_takes_effect_at_once(arena: Arena) -> None:
    arena.teams.add_account("ann", is_organiser=True, caller=OPERATOR)
    _, secret = _token(arena, TokenScope.ORGANISE, team=None, account="ann")
    assert arena.identities.of_token(secret, client=HERE).organiser
    arena.teams.change_account("ann", is_organiser=False, caller=OPERATOR)
    caller = arena.identities.of_token(secret, client=HERE)
    with pytest.raises(ForbiddenError):
        require(caller, TokenScope.ORGANISE)


def test_last_organiser_cannot_resign_in_browser(make_arena: Fill, database_url: str) -> None:
    arena = make_arena(database_url=database_url)
    for name in ("ann", "ben"):
        arena.teams.add_account(name, is_organiser=True, caller=OPERATOR)
    ann, ben = (
        arena.identities.of_token(_token(arena, TokenScope.ORGANISE, team=None, account=name)[1], client=HERE)
        for name in ("ann", "ben")
    )

    def demote(caller: Caller, name: str) -> bool:
        try:
            return not arena.teams.change_account(name, is_organiser=False, caller=caller).is_organiser
        except ConflictError:
            return False

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(demote, (ann, ben), ("ben", "ann")))
    assert sorted(done) == [False, True]
    (left,) = arena.store.teams.organisers()
    with pytest.raises(ConflictError, match="Add another organiser first"):
        arena.teams.change_account(left, is_organiser=False, caller=ann if left == "ann" else ben)
    assert demote(OPERATOR, left)
    assert arena.store.teams.organisers() == ()


def test_granted_scopes_never_exceed_own_scopes(arena: Arena) -> None:
    _, secret = _token(arena, TokenScope.SUBMIT)
    weak = arena.identities.of_token(secret, client=HERE)
    _, secret = _token(arena, TokenScope.MANAGE)
    strong = arena.identities.of_token(secret, client=HERE)
    for caller, scope, team in (
        (weak, TokenScope.SUBMIT, "ours"),
        (strong, TokenScope.SUBMIT, "ours"),
        (strong, TokenScope.READ, "theirs"),
    ):
        with pytest.raises(ForbiddenError):
            _token(arena, scope, team=team, caller=caller)
    with pytest.raises(InputError, match="cannot have the scope organise"):
        _token(arena, TokenScope.ORGANISE)
    arena.teams.add_account("ann", caller=OPERATOR)
    with pytest.raises(InputError, match="ann is not an organiser"):
        _token(arena, TokenScope.ORGANISE, team=None, account="ann")
    with pytest.raises(AccessError):
        arena.teams.all(caller=PUBLIC)
    assert [team.name for team in arena.teams.all(caller=strong)] == ["ours"]


def test_team_keeps_owner_and_member(arena: Arena) -> None:
    """Only organisers may remove a team's last member."""
    for name, role in (("ann", Role.OWNER), ("ben", Role.MEMBER)):
        arena.teams.add_account(name, caller=OPERATOR)
        arena.teams.add_member("ours", name, role=role, caller=OPERATOR)
    person = Caller(kind=CallerKind.SESSION, name="", scopes=frozenset(TokenScope))
    ann = replace(person, name="ann", account="ann", roles=(("ours", Role.OWNER),))
    ben = replace(person, name="ben", account="ben", roles=(("ours", Role.MEMBER),))
    with pytest.raises(ConflictError, match="no owner"):
        arena.teams.remove_member("ours", "ann", caller=OPERATOR)
    with pytest.raises(ConflictError, match="no owner"):
        arena.teams.add_member("ours", "ann", role=Role.MEMBER, caller=OPERATOR)
    with pytest.raises(ForbiddenError, match="not an owner"):
        arena.teams.add_member("ours", "ben", role=Role.OWNER, caller=ben)
    arena.teams.remove_member("ours", "ben", caller=OPERATOR)
    with pytest.raises(ConflictError, match="only member"):
        arena.teams.remove_member("ours", "ann", caller=ann)
    arena.teams.remove_member("ours", "ann", caller=OPERATOR)
    assert arena.teams.view("ours", caller=OPERATOR).members == ()


def test_unverified_addresses_are_refused(arena: Arena) -> None:
    """An OIDC sign-in matches a verified address once, then only its subject."""
    arena.teams.add_account("ann", email="ann@example.org", caller=OPERATOR)
    known = partial(arena.identities.of_oidc, since=datetime.now(UTC))
    with pytest.raises(AccessError):
        known("iss|1", email="ann@example.org", verified=False)
    assert known("iss|1", email="ann@example.org", verified=True).account == "ann"
    assert known("iss|1", email=None, verified=False).account == "ann"
    with pytest.raises(AccessError):
        known("iss|2", email="ann@example.org", verified=True)


def test_oidc_sign_in_ends_with_sign_out_and_after_12_hours(arena: Arena) -> None:
    """A copy of Streamlit's cookie is invalid after a sign-out or closing the account."""
    arena.teams.add_account("ann", email="ann@example.org", caller=OPERATOR)
    known = partial(arena.identities.of_oidc, "iss|1", email="ann@example.org", verified=True)
    with pytest.raises(AccessError, match="expired"):
        known(since=datetime.now(UTC) - timedelta(hours=13))
    before = datetime.now(UTC)
    arena.sessions.sign_out_everywhere(known(since=before))
    with pytest.raises(AccessError, match="signed out"):
        known(since=before)
    assert known(since=datetime.now(UTC) + timedelta(seconds=1)).account == "ann"


def test_every_change_is_logged(arena: Arena) -> None:
    audit_log = log_entries()
    number, _ = _token(arena)
    arena.tokens.revoke(number, caller=OPERATOR)
    with pytest.raises(ConflictError):
        arena.teams.add("ours", caller=OPERATOR)
    assert [(line["event"], line["subject"]) for line in audit_log] == [
        ("token-created", f"token {number}"),
        ("token-revoked", f"token {number}"),
    ]
    assert {(line["logger"], line["actor"]) for line in audit_log} == {("audit", "operator")}
