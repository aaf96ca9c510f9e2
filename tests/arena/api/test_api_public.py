from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from arena.container import open_arena
from arena.settings import Settings


def test_health_counts_the_boards(public: httpx.Client) -> None:
    """The arena says that it answers, and how many boards stand."""
    found = public.get("/health")
    assert found.json() == {"status": "ok", "boards": 2}
    assert found.headers["cache-control"] == "no-store"


def test_sets_are_listed_and_shown(public: httpx.Client) -> None:
    """A set is the same in the list and by its name."""
    (listed,) = public.get("/sets").json()["sets"]
    assert listed == public.get("/sets/tiny").json()
    assert (listed["questions"], listed["counts"]) == (12, {"d0": 4, "d1": 4, "d2": 4})


def test_questions_come_in_pages_and_once_each(public: httpx.Client) -> None:
    """Following `next` gives every question once, in the order of the set."""
    found: list[str] = []
    after: int | None = 0
    while after is not None:
        page = public.get("/sets/tiny/questions", params={"limit": 5, "after": after}).json()
        found += [question["id"] for question in page["questions"]]
        after = page["next"]
    assert found == [f"q{number}" for number in range(12)]


def test_references_are_in_no_answer(public: httpx.Client) -> None:
    """No route that gives questions or files gives a reference."""
    for path in ("/sets", "/sets/tiny", "/sets/tiny/questions", "/sets/tiny/sample"):
        text = public.get(path).text
        assert "grams. " not in text
        assert "is alpha. It weighs" not in text
        assert '"reference"' not in text


def test_sample_is_what_the_command_line_writes(public: httpx.Client, published: Settings) -> None:
    """The sample is the same file as `arena sets export` writes, an answer a line."""
    arena = open_arena(published)
    found = public.get("/sets/tiny/sample")
    assert found.text == arena.submissions.template("tiny", sample=True)
    assert len([json.loads(line) for line in found.text.splitlines()]) == 5
    assert found.headers["content-type"] == "application/x-ndjson"
    arena.close()


def test_board_is_the_same_in_the_list_and_by_its_name(public: httpx.Client) -> None:
    """The list names title, round, hash and notice as the board itself does, without standings and marks."""
    listed = public.get("/leaderboards").json()["leaderboards"]
    assert {one["round"] for one in listed} == {"tiny", None}
    for line in listed:
        board = public.get(f"/leaderboards/{line['name']}").json()
        assert board.pop("standings")
        assert board.pop("marks") == {}
        assert board == line


def test_board_is_json_csv_or_parquet(public: httpx.Client, tmp_path: Path) -> None:
    """`Accept` or `format` choose; each format has the same systems."""
    full = public.get("/leaderboards/tiny").json()
    systems = {line["system"] for line in full["standings"]["lines"]["overall"]}
    text = public.get("/leaderboards/tiny", headers={"Accept": "text/csv"})
    assert text.headers["content-type"].startswith("text/csv")
    assert {row["system"] for row in csv.DictReader(io.StringIO(text.text))} == systems
    raw = public.get("/leaderboards/tiny", params={"format": "parquet"}, headers={"Accept": "text/csv"})
    (tmp_path / "board.parquet").write_bytes(raw.content)
    assert set(pq.read_table(tmp_path / "board.parquet").column("system").to_pylist()) == systems
    assert "full" in systems


def test_wrong_method_is_told_the_right_ones(public: httpx.Client) -> None:
    """A method that an address does not take is 405 with those that it takes."""
    found = public.put("/sets/tiny")
    assert (found.status_code, found.headers["allow"]) == (405, "GET")
    assert found.json()["advice"] == "This address takes GET."


@pytest.mark.parametrize("path", ["/sets", "/sets/tiny/sample", "/leaderboards/tiny", "/rounds/tiny"])
def test_unchanged_answer_is_not_sent_twice(public: httpx.Client, path: str) -> None:
    """An answer has an ETag; whoever has it already gets 304 without a body."""
    first = public.get(path)
    again = public.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert public.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


def test_formats_have_etags_of_their_own(public: httpx.Client) -> None:
    """The ETag of a board's CSV does not match its JSON, and `Vary` names what chose."""
    tags = {
        public.get("/leaderboards/tiny", params={"format": one}).headers["etag"] for one in ("json", "csv")
    }
    assert len(tags) == 2
    assert "Accept" in public.get("/leaderboards/tiny").headers["vary"]


def test_long_answers_travel_gzipped(public: httpx.Client) -> None:
    """Anyone who accepts gzip gets it."""
    with public.stream("GET", "/leaderboards/tiny", headers={"Accept-Encoding": "gzip"}) as found:
        assert found.headers["content-encoding"] == "gzip"
        assert json.loads(found.read())["name"] == "tiny"
    plain = public.get("/leaderboards/tiny", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_rounds_have_books_that_add_up(public: httpx.Client) -> None:
    """A round's counts add up to what was planned; what it cost is not told."""
    (found,) = public.get("/rounds").json()["rounds"]
    assert found == public.get("/rounds/tiny").json()
    ended = ("judged", "unreadable", "refused", "failed", "skipped", "missing", "pending")
    assert sum(found[name] for name in ended) == found["planned"] > 0
    assert not [name for name in found if "cost" in name or "usd" in name]


def test_battles_come_in_pages_with_the_fields_names(public: httpx.Client) -> None:
    """Pages of battles hold every battle of the round once."""
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = public.get("/rounds/tiny/battles", params={"limit": 30, "after": after}).json()
        found += page["battles"]
        after = page["next"]
    assert len({battle["battle"] for battle in found}) == len(found)
    assert len(found) == public.get("/rounds/tiny").json()["planned"]
    assert {battle["winner"] for battle in found} <= {"model_a", "model_b", "tie", None}


@pytest.mark.parametrize("path", ["/sets/no", "/leaderboards/no", "/rounds/no", "/rounds/no/battles", "/no"])
def test_what_is_not_there_is_a_problem_of_rfc_9457(public: httpx.Client, path: str) -> None:
    """A 404 is problem+json with type, title, status, detail and advice."""
    found = public.get(path)
    assert found.status_code == 404
    assert found.headers["content-type"] == "application/problem+json"
    problem = found.json()
    assert problem["status"] == 404
    assert problem["title"]
    assert problem["detail"]
    assert problem["advice"]
    assert problem["type"].startswith("/api/v1/#problem-")


def test_every_problem_type_leads_to_its_explanation(public: httpx.Client) -> None:
    """The `type` of a problem is an anchor of the API's page."""
    page = public.get("/").text
    for path in ("/sets/no", "/sets/tiny/questions?limit=0"):
        kind = public.get(path).json()["type"]
        assert f'id="{kind.partition("#")[2]}"' in page


def test_page_of_the_api_loads_nothing_from_elsewhere(public: httpx.Client) -> None:
    """The API's page names every route and has no script, image or foreign address."""
    page = public.get("/").text
    for path in public.get("/openapi.json").json()["paths"]:
        assert path in page
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert public.get("/docs").status_code == public.get("/redoc").status_code == 404


def test_other_sites_may_read_what_is_public_but_not_as_the_visitor(public: httpx.Client) -> None:
    """CORS allows any origin to GET without credentials, and no other method."""
    found = public.get("/leaderboards", headers={"Origin": "https://elsewhere.example"})
    assert found.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in found.headers
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "PUT"}
    assert public.options("/leaderboards", headers=asked).status_code == 400


def test_path_tricks_reach_nothing(public: httpx.Client) -> None:
    """Traversal in a name is refused, however it is written."""
    for name in ("..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b", "..%5c..%5cx", "a%2fb"):
        assert public.get(f"/sets/{name}").status_code in {400, 404, 422}
