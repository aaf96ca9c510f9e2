"""Question sets and rounds by the API, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import httpx

from arena.container import open_arena
from tests.served import published


def test_sets_are_listed_and_shown(public: httpx.Client) -> None:
    (listed,) = public.get("/sets").json()["sets"]
    assert listed == public.get("/sets/tiny").json()
    assert (listed["questions"], listed["counts"]) == (12, {"d0": 4, "d1": 4, "d2": 4})


def test_questions_come_in_pages_and_once_each(public: httpx.Client) -> None:
    found: list[str] = []
    after: int | None = 0
    while after is not None:
        page = public.get("/sets/tiny/questions", params={"limit": 5, "after": after}).json()
        found += [question["id"] for question in page["questions"]]
        after = page["next"]
    assert found == [f"q{number}" for number in range(12)]


def test_references_are_in_no_answer(public: httpx.Client) -> None:
    for path in ("/sets", "/sets/tiny", "/sets/tiny/questions", "/sets/tiny/sample"):
        text = public.get(path).text
        assert "is alpha. It weighs" not in text
        assert '"reference"' not in text


def test_sample_is_what_the_command_line_writes(public: httpx.Client) -> None:
    arena = open_arena(published())
    found = public.get("/sets/tiny/sample")
    assert found.text == arena.submissions.template("tiny", sample=True)
    assert len([json.loads(line) for line in found.text.splitlines()]) == 5
    assert found.headers["content-type"] == "application/x-ndjson"
    arena.close()


def test_rounds_have_books_that_add_up(public: httpx.Client) -> None:
    (found,) = public.get("/rounds").json()["rounds"]
    assert found == public.get("/rounds/tiny").json()
    ended = ("judged", "unreadable", "refused", "failed", "skipped", "missing", "pending")
    assert sum(found[name] for name in ended) == found["planned"] > 0
    assert not [name for name in found if "cost" in name or "usd" in name]


def test_battles_come_in_pages_with_the_fields_names(public: httpx.Client) -> None:
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = public.get("/rounds/tiny/battles", params={"limit": 30, "after": after}).json()
        found += page["battles"]
        after = page["next"]
    assert len({battle["battle"] for battle in found}) == len(found)
    assert len(found) == public.get("/rounds/tiny").json()["planned"]
    assert {battle["winner"] for battle in found} <= {"model_a", "model_b", "tie", None}
