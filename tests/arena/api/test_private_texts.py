"""Sets with `public_texts = false`: no route and no tool shows their texts without the right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest

from arena.container import Arena
from arena.settings import Settings
from tests.arena.api.conftest import running_server
from tests.arena.mcp.test_mcp import ask, in_process
from tests.private_texts import EVERY, OURS, PASSAGE, QUESTION, marks_in, private_round
from tests.served import program

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("private")]
VALUES = {
    "name": ("tiny", "first"),
    "set_name": ("tiny",),
    "round_name": ("first",),
    "question_id": ("q1",),
    "number": ("1", "2", "3"),
    "metric": ("comprehensiveness-nli",),
    "system": ("ours", "theirs"),
    "measure": ("ndcg",),
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
    """A published round of a set whose texts are not public, with an answer of each of two teams."""

    settings: Settings
    arena: Arena
    public: httpx.Client
    alpha: httpx.Client
    olga: httpx.Client


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Make the scene, and a server over it."""
    folder = tmp_path_factory.mktemp("private")
    arena, tokens = private_round(folder)
    with running_server(program(), arena.settings, folder / "log") as address, ExitStack() as opened:
        public, alpha, olga = (
            opened.enter_context(httpx.Client(base_url=address, timeout=60, headers=headers))
            for headers in (
                {},
                {"Authorization": f"Bearer {tokens['alpha']}"},
                {"Authorization": f"Bearer {tokens['olga']}"},
            )
        )
        yield Scene(settings=arena.settings, arena=arena, public=public, alpha=alpha, olga=olga)
    arena.close()


def _addresses(client: httpx.Client) -> list[str]:
    """The address of every route that is read, for every value of its parameters that the scene has."""
    paths = [
        path for path, methods in client.get("/openapi.json").json()["paths"].items() if "get" in methods
    ]
    found = []
    for path in paths:
        addresses = [path.removeprefix("/api/v1")]
        for name in re.findall(r"{(\w+)}", path):
            addresses = [
                address.replace(f"{{{name}}}", value)
                for address in addresses
                for value in VALUES.get(name, ("tiny",))
            ]
        found += addresses
    return found


def test_no_route_shows_the_public_a_text(scene: Scene) -> None:
    addresses = _addresses(scene.public)
    answered = 0
    for address in addresses:
        response = scene.public.get(address, params=QUERY)
        answered += response.status_code == 200
        assert not marks_in(response.text), address
    assert answered > 15


def test_a_question_says_what_is_kept_back_and_from_whom(scene: Scene) -> None:
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


def test_lists_have_the_same_rule(scene: Scene) -> None:
    address = "/sets/tiny/questions"
    assert not marks_in(scene.public.get(address).text)
    assert marks_in(scene.alpha.get(address).text) == {QUESTION, PASSAGE}


def test_agents_get_no_text(scene: Scene) -> None:
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


def test_texts_that_become_public_are_shown(scene: Scene) -> None:
    scene.arena.policies.show_texts("tiny", public=True)
    seen = scene.public.get("/rounds/first/questions/q1")
    scene.arena.policies.show_texts("tiny", public=False)
    assert marks_in(seen.text) == set(EVERY)
    assert seen.json()["notice"] == ""
