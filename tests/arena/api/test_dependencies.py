from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api, operations
from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from data.models import Role, TokenScope
from tests.arena.api.conftest import answers
from tests.cases import cases
from tests.private_texts import private_round

READ, SUBMIT, MANAGE, ORGANISE = (
    TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE, TokenScope.ORGANISE
)  # fmt: skip
REFUSED = frozenset({401, 403, 404})
SEEN_ONLY_BY_USE = ("token", "token_refusal")
"""Tables that change with every use of a token: times of use and refused requests."""


class Of(Enum):
    """Owner of the object of a route."""

    ALL = auto()
    TEAM = auto()
    ALICE = auto()
    OLGA = auto()


@dataclass(frozen=True)
class Row:
    """Rights of a route and an address; `{…}` are numbers of objects in `world`."""

    scope: TokenScope | None
    address: str
    of: Of = Of.ALL
    body: Any = None
    members: bool = True
    """True if every member of the team may, False if only its owners may."""
    absent: bool = False
    """True if `world` lacks the object, so that permitted callers get a 404."""


@dataclass(frozen=True)
class Who:
    """Holder of a token."""

    scopes: frozenset[TokenScope] = frozenset()
    team: str = ""
    account: str = ""
    role: Role | None = None

    @property
    def organises(self) -> bool:
        return self.account == "olga" and ORGANISE in self.scopes


PERSONAL = frozenset({READ, SUBMIT, MANAGE})
PEOPLE: Mapping[str, Who] = {
    "public": Who(),
    "alpha reads": Who(frozenset({READ}), team="alpha", role=Role.OWNER),
    "alpha submits": Who(frozenset({SUBMIT}), team="alpha", role=Role.OWNER),
    "alpha manages": Who(frozenset({MANAGE}), team="alpha", role=Role.OWNER),
    "beta": Who(PERSONAL, team="beta", role=Role.OWNER),
    "alice reads": Who(frozenset({READ}), team="alpha", account="alice", role=Role.OWNER),
    "alice submits": Who(frozenset({SUBMIT}), team="alpha", account="alice", role=Role.OWNER),
    "alice manages": Who(frozenset({MANAGE}), team="alpha", account="alice", role=Role.OWNER),
    "bob of alpha": Who(PERSONAL, team="alpha", account="bob", role=Role.MEMBER),
    "carol of beta": Who(PERSONAL, team="beta", account="carol", role=Role.OWNER),
    "olga without organise": Who(PERSONAL, account="olga"),
    "olga": Who(frozenset({ORGANISE}), account="olga"),
}
SENT = answers("another").decode()


def _row(scope: str | None = None, of: str = "ALL", body: Any = None, **fields: Any) -> Row:  # noqa: ANN401
    sent = SENT if body == "SENT" else body
    return Row(scope=TokenScope(scope) if scope else None, of=Of[of], body=sent, **fields)


ROWS: Mapping[str, Sequence[Row]] = {
    route: [_row(**row) for row in rows] for route, rows in cases(__file__, "ROWS").items()
}


def may(who: Who, row: Row) -> bool:
    """Return whether a caller may use a route: a second implementation of the rule."""
    if row.scope is None:
        return True
    if who.organises:
        return True
    implied = who.scopes | ({READ} if who.scopes else set())
    theirs = {
        Of.ALL: True,
        Of.TEAM: who.team == "alpha" and (row.members or who.role is Role.OWNER),
        Of.ALICE: who.account == "alice",
        Of.OLGA: who.account == "olga",
    }
    return row.scope in implied and row.scope is not ORGANISE and theirs[row.of]


@dataclass
class World:
    """In-process arena with objects of teams, people and organisers; it can be reset."""

    arena: Arena
    client: TestClient
    numbers: Mapping[str, int]
    tokens: Mapping[str, str]
    file: Path
    snapshot: sqlite3.Connection = field(default_factory=lambda: sqlite3.connect(":memory:"))

    def ask(self, method: str, row: Row, who: str) -> tuple[int, str]:
        """Return the status of a response and the detail of a problem."""
        body = row.body
        sent = {} if body is None else {"content" if isinstance(body, str) else "json": body}
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who in self.tokens else {}
        address = row.address.format_map(self.numbers)
        answer = self.client.request(method, address, headers=headers, **sent)
        kind = answer.headers.get("content-type", "")
        return answer.status_code, answer.json()["detail"] if kind.endswith("problem+json") else ""

    def state(self) -> list[str]:
        """Return all data that a refused request must not change."""
        with sqlite3.connect(self.file) as database:
            return [line for line in database.iterdump() if not line.startswith(TOUCHED)]

    def put_back(self) -> None:
        with sqlite3.connect(self.file) as database:
            self.snapshot.backup(database)


TOUCHED = tuple(f'INSERT INTO "{name}"' for name in SEEN_ONLY_BY_USE)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A published and a planned round, submissions, and all tokens."""
    folder = tmp_path_factory.mktemp("world")
    arena, _ = private_round(folder)
    for name in ("alice", "bob", "carol", "dan"):
        arena.teams.add_account(name, caller=OPERATOR)
    for team, account, role in (
        ("alpha", "alice", Role.OWNER), ("alpha", "bob", Role.MEMBER), ("beta", "carol", Role.OWNER)
    ):  # fmt: skip
        arena.teams.add_member(team, account, role=role, caller=OPERATOR)
    tokens, token_numbers = {}, {}
    for who, person in PEOPLE.items():
        if person.scopes:
            of_team = None if person.account else person.team
            made = arena.tokens.create(
                name=who, scopes=person.scopes, team=of_team, account=person.account or None, caller=OPERATOR
            )
            tokens[who], token_numbers[who] = made.secret, made.id
    numbers = {
        name: arena.tokens.create(name=name, scopes={READ}, team=team, account=account, caller=OPERATOR).id
        for name, team, account in (
            ("team_token", "alpha", None),
            ("alices_token", None, "alice"),
            ("olgas_token", None, "olga"),
        )
    }
    client = TestClient(make_api(arena), raise_server_exceptions=False)
    alpha = {"Authorization": f"Bearer {tokens['alpha submits']}"}
    listed = client.get("/submissions", headers=alpha).json()["submissions"]
    numbers["accepted"] = next(submission["id"] for submission in listed if submission["system"] == "ours")
    held = client.post("/sets/tiny/submissions?system=ours&hold=true", content=answers("held"), headers=alpha)
    numbers["held"] = held.json()["id"]
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="second"))
    file = Path(arena.settings.database_url.removeprefix("sqlite:///"))
    made_world = World(arena, client, numbers, tokens, file)
    with sqlite3.connect(file) as database:
        database.backup(made_world.snapshot)
    yield made_world
    arena.close()


def test_rights_table_has_row_for_every_route(world: World) -> None:
    document = world.client.get("/openapi.json").json()
    assert set(ROWS) == {f"{method} {path}" for method, path, _ in operations(document)}


@pytest.mark.slow
@pytest.mark.parametrize("route", ROWS)
def test_token_is_limited_to_its_scopes(world: World, route: str) -> None:
    method = route.partition(" ")[0]
    for row in ROWS[route]:
        before = world.state()
        refused = [who for who, one in PEOPLE.items() if not may(one, row)]
        reasons = set()
        for who in refused:
            status, reason = world.ask(method, row, who)
            assert status in REFUSED, f"{who} got {status} for {row.address}"
            reasons.add(reason)
        assert world.state() == before, f"{route} changed something for who may not"
        for who in PEOPLE.keys() - refused:
            status, reason = world.ask(method, row, who)
            # Public objects may be missing here, for all callers alike.
            absent = status == 404 and reason not in reasons and (row.absent or row.scope is None)
            assert status not in REFUSED or absent, f"{who} got {status} for {row.address}: {reason}"
            world.put_back()


def test_hidden_and_unknown_rounds_return_same_error(world: World) -> None:
    checked = 0
    for route, rows in ROWS.items():
        method, _, path = route.partition(" ")
        if not path.startswith(("/rounds/{name}", "/leaderboards/{name}")):
            continue
        for who in ("public", "alpha submits"):
            responses = set()
            for name in ("second", "unheard"):
                address = rows[0].address.replace("/first", f"/{name}")
                status, reason = world.ask(method, replace(rows[0], address=address), who)
                assert status in REFUSED, f"{who} got {status} for {address}"
                responses.add((status, reason.replace(name, "NAME")))
            assert len(responses) == 1, f"{who} can tell a hidden round at {route}: {responses}"
            checked += 1
    assert checked >= 8


def test_head_is_allowed_for_get_routes(world: World) -> None:
    for route, rows in ROWS.items():
        if route.startswith("GET"):
            address = rows[0].address.format_map(world.numbers)
            whole, head = world.client.get(address), world.client.head(address)
            assert head.status_code == whole.status_code, route
            assert head.headers["content-type"] == whole.headers["content-type"]
            assert not head.content
