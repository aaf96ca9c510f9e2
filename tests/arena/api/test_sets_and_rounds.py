from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.container import Arena, open_arena
from arena.settings import Settings
from tests.arena.mcp.test_mcp import ask, in_process
from tests.private_texts import EVERY, OURS, PASSAGE, QUESTION, marks_in, private_round
from tests.served import published


def test_sets_are_listed_and_displayed(public: httpx.Client) -> None:
    (listed,) = public.get("/sets").json()["sets"]
    assert listed == public.get("/sets/tiny").json()
    assert (listed["questions"], listed["counts"]) == (12, {"d0": 4, "d1": 4, "d2": 4})


def test_questions_are_paginated_without_repeats(public: httpx.Client) -> None:
    ids: list[str] = []
    after: int | None = 0
    while after is not None:
        page = public.get("/sets/tiny/questions", params={"limit": 5, "after": after}).json()
        ids += [question["id"] for question in page["questions"]]
        after = page["next"]
    assert ids == [f"q{number}" for number in range(12)]


def test_responses_contain_no_references(public: httpx.Client) -> None:
    for path in ("/sets", "/sets/tiny", "/sets/tiny/questions", "/sets/tiny/sample"):
        text = public.get(path).text
        assert "is alpha. It weighs" not in text
        assert '"reference"' not in text


def test_sample_matches_command_line(public: httpx.Client) -> None:
    arena = open_arena(published())
    response = public.get("/sets/tiny/sample")
    assert response.text == arena.submissions.template("tiny", sample=True)
    assert len([json.loads(line) for line in response.text.splitlines()]) == 5
    assert response.headers["content-type"] == "application/x-ndjson"
    arena.close()


def test_round_counts_add_up(public: httpx.Client) -> None:
    (round_,) = public.get("/rounds").json()["rounds"]
    assert round_ == public.get("/rounds/tiny").json()
    ended = ("judged", "unreadable", "refused", "failed", "skipped", "missing", "pending")
    assert sum(round_[name] for name in ended) == round_["planned"] > 0
    assert not [name for name in round_ if "cost" in name or "usd" in name]


def test_battles_are_paginated_with_field_names(public: httpx.Client) -> None:
    battles: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = public.get("/rounds/tiny/battles", params={"limit": 30, "after": after}).json()
        battles += page["battles"]
        after = page["next"]
    assert len({battle["battle"] for battle in battles}) == len(battles)
    assert len(battles) == public.get("/rounds/tiny").json()["planned"]
    assert {battle["winner"] for battle in battles} <= {"model_a", "model_b", "tie", None}


VALUES = {
    "name": ("tiny", "first"),
    "question_id": ("q1",),
    "number": ("1", "2", "3"),
    "metric": ("comprehensiveness-nli",),
}
QUERY = {
    "first": "ours",
    "second": "theirs",
    "words": "item",
    "q": "item",
    "system": "ours",
    "by": "question",
}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Published round of a set with private texts, with answers of two teams."""

    settings: Settings
    arena: Arena
    public: TestClient
    alpha: TestClient
    olga: TestClient


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Make the scene, and clients of its API."""
    arena, tokens = private_round(tmp_path_factory.mktemp("private"))
    api = make_api(arena)
    public, alpha, olga = (
        TestClient(api, headers={"Authorization": f"Bearer {tokens[who]}"} if who else {})
        for who in ("", "alpha", "olga")
    )
    yield Scene(settings=arena.settings, arena=arena, public=public, alpha=alpha, olga=olga)
    arena.close()


def _addresses(client: TestClient) -> list[str]:
    """Return the address of every readable route, with every value of its parameters in the scene."""
    paths = [
        path for path, methods in client.get("/openapi.json").json()["paths"].items() if "get" in methods
    ]
    every: list[str] = []
    for path in paths:
        addresses = [path.removeprefix("/api/v1")]
        for name in re.findall(r"{(\w+)}", path):
            addresses = [
                address.replace(f"{{{name}}}", value)
                for address in addresses
                for value in VALUES.get(name, ("tiny",))
            ]
        every += addresses
    return every


@pytest.mark.slow
@pytest.mark.xdist_group("private")
def test_no_public_route_returns_private_texts(scene: Scene) -> None:
    addresses = _addresses(scene.public)
    answered = 0
    for address in addresses:
        response = scene.public.get(address, params=QUERY)
        answered += response.status_code == 200
        assert not marks_in(response.text), address
    assert answered > 15


@pytest.mark.slow
@pytest.mark.xdist_group("private")
def test_question_reports_withheld_texts(scene: Scene) -> None:
    """Lists follow the same rule, and published texts become visible."""
    address = "/rounds/first/questions/q1"
    seen = {name: getattr(scene, name).get(address) for name in ("public", "alpha", "olga")}
    assert {name: marks_in(response.text) for name, response in seen.items()} == {
        "public": set(),
        "alpha": {QUESTION, PASSAGE, OURS},
        "olga": set(EVERY),
    }
    public, alpha, olga = (response.json() for response in seen.values())
    assert "not public" in public["notice"]
    assert "answers of your team" in alpha["notice"]
    assert olga["notice"] == ""
    assert {battle["winner"] for battle in public["battles"]} == {
        battle["winner"] for battle in olga["battles"]
    }
    assert [answer["system"] for answer in alpha["answers"]] == ["ours"]
    listed = [client.get("/sets/tiny/questions").text for client in (scene.public, scene.alpha)]
    assert list(map(marks_in, listed)) == [set(), {QUESTION, PASSAGE}]
    scene.arena.policies.show_texts("tiny", public=True)
    page = scene.public.get(address)
    scene.arena.policies.show_texts("tiny", public=False)
    assert (marks_in(page.text), page.json()["notice"]) == (set(EVERY), "")


@pytest.mark.slow
@pytest.mark.xdist_group("private")
def test_agents_receive_no_private_texts(scene: Scene) -> None:
    async def talk(client) -> list[dict[str, object]]:  # type: ignore[no-untyped-def]  # noqa: ANN001 - of in_process
        return [
            await ask(client, "search_questions", board="first"),
            await ask(client, "search_questions", board="first", words=QUESTION),
            await ask(client, "compare_systems", board="first", first="ours", second="theirs"),
            await ask(client, "get_question_evidence", board="first", question_id="q1"),
        ]

    given = in_process(scene.settings, talk)
    assert not marks_in(json.dumps(given))
    assert given[1]["questions"] == []
    assert all("not public" in str(result["notice"]) for result in given)
