"""Boards published and corrected over the API, by organisers alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.workers.worker import Worker
from data.records import TokenScope
from tests.arena.services.boards.test_corrected_boards import judge, publish, write_votes


@pytest.fixture
def arena(filled: Callable[..., Arena]) -> Arena:
    """An arena with a judged round named `tiny`."""
    return judge(filled())


@pytest.fixture
def olga(arena: Arena) -> Iterator[TestClient]:
    """A client with an organiser's token."""
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    token = arena.tokens.create(name="ci", account="olga", scopes={TokenScope.ORGANISE}, caller=OPERATOR)
    with TestClient(make_api(arena), headers={"Authorization": f"Bearer {token.secret}"}) as client:
        yield client


def sent(tmp_path: Path) -> list[dict[str, str]]:
    """Votes as a request brings them."""
    lines = write_votes(tmp_path / "votes.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_votes_correct_a_published_board(arena: Arena, olga: TestClient, tmp_path: Path) -> None:
    """Votes in a request make another snapshot; both are read at their addresses, by anybody."""
    before, _ = publish(arena)
    answer = olga.post("/rounds/tiny/publish", json={"votes": sent(tmp_path)})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["created"], told["votes"], told["votes_left_out"], told["job"]) == (True, 108, 0, None)
    anybody = TestClient(make_api(arena))
    new = anybody.get("/leaderboards/tiny").json()
    assert new["content_hash"] == told["content_hash"] != before.content_hash
    assert new["standings"]["people"]["annotators"] == 3
    address = f"tiny@{before.content_hash[:12]}"
    former = anybody.get(f"/leaderboards/{address}").json()
    assert former["content_hash"] == before.content_hash
    assert former["replaced_at"] is not None
    assert "people" not in former["standings"]
    listed = anybody.get("/leaderboards/tiny/snapshots").json()["leaderboards"]
    assert [one["name"] for one in listed] == ["tiny", address]
    assert [one["name"] for one in anybody.get("/leaderboards").json()["leaderboards"]] == ["tiny"]
    table = anybody.get("/leaderboards/tiny?format=csv").text
    assert "corrected_rating" in table.splitlines()[0]
    assert "corrected" not in anybody.get(f"/leaderboards/{address}?format=csv").text


def test_a_finished_round_is_published_with_votes_by_a_worker(
    arena: Arena, olga: TestClient, tmp_path: Path
) -> None:
    """The worker's job carries the votes; what it cannot do is refused before it waits."""
    wrong = [{**sent(tmp_path)[0], "question_id": "q99"}]
    refused = olga.post("/rounds/tiny/publish", json={"votes": wrong, "metrics": False})
    assert refused.status_code == 422
    assert "q99" in refused.text
    answer = olga.post("/rounds/tiny/publish", json={"votes": sent(tmp_path), "metrics": False})
    assert answer.status_code == 202, answer.text
    assert answer.json()["job"] is not None
    Worker(arena, arena.job_leases.worker).run(once=True)
    assert arena.boards.get("tiny").standings["people"]["votes"] == 108


def test_only_organisers_publish(arena: Arena, tmp_path: Path) -> None:
    """Without an organiser's token nothing is published."""
    publish(arena)
    client = TestClient(make_api(arena))
    assert client.post("/rounds/tiny/publish", json={"votes": sent(tmp_path)}).status_code == 401
    arena.teams.add_account("ann", caller=OPERATOR)
    token = arena.tokens.create(name="t", account="ann", scopes={TokenScope.READ}, caller=OPERATOR)
    bearer = {"Authorization": f"Bearer {token.secret}"}
    assert client.post("/rounds/tiny/publish", json={}, headers=bearer).status_code == 403
