from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from data.models import TokenScope
from tests.arena.api.conftest import Club, answers, client_of, submit
from tests.arena.conftest import settings_of
from tests.forked_arena import shell as run_lines
from tests.served import program, served

MISSING = b"question_id,answer\nq0,None\nq1,Item 1 weighs 11 grams.\n"
TWO_SYSTEMS = b"model,question_id,answer\na,q0,Of a.\nb,q0,Of b.\nb,q1,Of b too.\n"


def test_file_becomes_submission(club: Club) -> None:
    card = {"model": "m", "contact": "mail@alpha.example"}
    added = submit(club.alpha, answers("one step"), system="one-step", card=card)
    assert added.status_code == 201, added.text
    made = added.json()
    assert (made["system"], made["version"], made["team"], made["answers"]) == ("one-step", 1, "alpha", 12)
    assert (made["selected"], made["created"], made["state"]) == (False, True, "accepted")
    path = urlsplit(added.headers["location"]).path.removeprefix("/api/v1")
    own, public = (client.get(path).json() for client in (club.alpha, club.public))
    assert (own["card"]["contact"], public["card"]["contact"]) == ("mail@alpha.example", "")
    assert own["coverage"] == {"d0": 1.0, "d1": 1.0, "d2": 1.0}
    assert own["card"]["model"] == "m"
    assert not list((club.settings.home / "uploads" / "checks").iterdir())


def test_yaml_card_is_accepted_and_errors_name_files(club: Club) -> None:
    query = {"system": "by-curl", "card": "model: my-model", "file_name": "mine.jsonl"}
    made = club.alpha.post("/sets/tiny/submissions", params=query, content=answers("yaml"))
    assert made.status_code == 201
    assert club.alpha.get(f"/submissions/{made.json()['id']}").json()["card"]["model"] == "my-model"
    empty = club.alpha.post("/sets/tiny/submissions", params=query, content=b"")
    assert empty.status_code == 422
    assert "mine.jsonl" in empty.text


@pytest.mark.parametrize("ended", ["token", "membership"])
def test_right_revoked_during_upload_stores_nothing(club: Club, ended: str) -> None:
    """Rights are checked when a file is stored, not only when the request begins."""
    arena = Arena(club.settings)
    arena.teams.add_member("alpha", "ann", caller=OPERATOR)
    scopes = {TokenScope.SUBMIT}
    token = arena.tokens.create(name="t", scopes=scopes, account="ann", caller=OPERATOR)

    def body() -> Iterator[bytes]:
        yield answers("late")
        if ended == "token":
            arena.tokens.revoke(token.id, caller=OPERATOR)
        else:
            arena.teams.remove_member("alpha", "ann", caller=OPERATOR)
        yield b"\n"

    with client_of(club.address, token.secret) as ann:
        # Without a length, so that the server waits for the end of the body.
        refused = ann.post(
            "/sets/tiny/submissions", params={"system": "late", "team": "alpha"}, content=body()
        )
    assert refused.status_code == (401 if ended == "token" else 403), refused.text
    assert "late" not in {each.system for each in arena.submissions.find(set_name="tiny", caller=OPERATOR)}


def test_resubmitted_content_is_one_submission(club: Club) -> None:
    content = answers("twice")
    first = submit(club.alpha, content, system="twice")
    rows = [json.loads(line) for line in content.splitlines()]
    again = submit(club.alpha, gzip.compress(json.dumps(rows).encode()), system="twice")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["created"] is False


def test_file_with_errors_reports_all_errors(club: Club) -> None:
    content = answers("bad", 3) + b'{"question_id": "nope", "answer": "x"}\n{"question_id": "q5"}\n'
    response = submit(club.alpha, content, system="with-errors")
    assert response.status_code == 422
    report = response.json()
    assert {
        (problem["line"], problem["code"]) for problem in report["problems"] if problem["severity"] == "error"
    } == {(4, "unknown-question"), (5, "missing-field")}
    assert report["advice"]
    assert "/" not in report["detail"], "the path on the server is hidden"
    listed = club.alpha.get("/submissions", params={"set": "tiny"}).json()["submissions"]
    assert "with-errors" not in [submission["system"] for submission in listed]


def test_check_matches_command_line(club: Club, tmp_path: Path) -> None:
    content = answers("checked", 4) + b"not json\n"
    path = tmp_path / "answers"
    path.write_bytes(content)
    arena = Arena(club.settings)
    expected = arena.submissions.check(path, "tiny").model_dump(mode="json")
    arena.close()
    for body in (content, gzip.compress(content)):
        response = club.alpha.post("/sets/tiny/check", content=body)
        assert response.status_code == 200
        assert {**response.json()} == expected
    assert not list((club.settings.home / "uploads" / "checks").iterdir())


def test_invalid_card_reports_fields(club: Club) -> None:
    content = answers("card")
    unknown = submit(club.alpha, content, system="card", card={"colour": "red"})
    assert unknown.status_code == 422
    assert "colour" in unknown.text
    link = submit(club.alpha, content, system="card", card={"link": "javascript:alert(1)"})
    assert link.status_code == 422
    assert link.json()["problems"][0]["code"] == "bad-link"
    assert submit(club.alpha, content, system="card", card={"link": "https://a.example"}).status_code == 201


def test_withdrawn_submission_leaves_tombstone(club: Club) -> None:
    number = submit(club.alpha, answers("gone"), system="gone", card={"contact": "a@b.example"}).json()["id"]
    done = club.alpha.post(f"/submissions/{number}/withdraw", json={"reason": "a mistake"})
    assert (done.status_code, done.json()["state"]) == (200, "withdrawn")
    assert club.alpha.post(f"/submissions/{number}/withdraw", json={}).status_code == 409
    submission = club.public.get(f"/submissions/{number}").json()
    state = (submission["state"], submission["visibility"], submission["withdrawn_reason"])
    assert state == ("withdrawn", "tombstone", "a mistake")
    assert set(submission["card"].values()) == {""}


def test_unconfirmed_submission_stays_unknown(club: Club) -> None:
    """Withdrawing a held submission notifies only its team."""
    held = submit(club.alpha, answers("hush"), system="hushed", hold=True).json()
    number, reason = held["id"], {"reason": "a slip"}
    assert held["state"] == "checked"
    for other in (club.beta, club.public):
        assert other.post(f"/submissions/{number}/confirm").status_code in {401, 403, 404}
    assert club.alpha.post(f"/submissions/{number}/withdraw", json=reason).status_code == 200
    for other in (club.beta, club.public):
        assert other.get(f"/submissions/{number}").status_code == 404
        listed = other.get("/submissions", params={"set": "tiny"}).text
        assert "hushed" not in listed
        assert "a slip" not in listed
    mine = club.alpha.get(f"/submissions/{number}").json()
    assert (mine["visibility"], mine["withdrawn_reason"]) == ("tombstone", "a slip")
    taken = submit(club.beta, answers("other"), system="Hushed")
    assert taken.status_code == 409
    assert "looks like a name that is taken" in taken.json()["detail"]


def test_personal_responses_are_not_cacheable(club: Club) -> None:
    mine, public = club.alpha.get("/submissions"), club.public.get("/submissions")
    assert "private" in mine.headers["cache-control"]
    assert "public" in public.headers["cache-control"]
    assert "Authorization" in mine.headers["vary"]


def test_missing_value_words_can_be_texts(club: Club) -> None:
    checked = [
        club.alpha.post("/sets/tiny/check", content=MISSING, params=query).json()["answers"]
        for query in ({}, {"keep_na": "true"})
    ]
    assert checked == [1, 2]
    response = submit(club.alpha, MISSING, system="keeps-na", keep_na=True)
    assert response.status_code == 201
    assert "missing-value" not in [problem["code"] for problem in response.json()["problems"]]


def test_check_of_table_reads_one_system(club: Club) -> None:
    whole = club.alpha.post("/sets/tiny/check", content=TWO_SYSTEMS).json()
    assert (whole["accepted"], whole["problems"][0]["code"]) == (False, "several-systems")
    one = club.alpha.post("/sets/tiny/check", content=TWO_SYSTEMS, params={"system": "b"}).json()
    assert (one["accepted"], one["answers"]) == (True, 2)


def rows(word: str) -> list[dict[str, str]]:
    return [{"question_id": f"q{number}", "answer": f"Item {number} is {word}."} for number in range(12)]


def test_decompression_bomb_affects_only_its_process(club: Club) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 190_000, pa.int32()), ["x" * 100_000])
    offsets = pa.array([0] * 1_000 + [190_000], pa.int32())
    table = pa.table(
        {
            "question_id": ["q1"] * 1_000,
            "answer": ["It is."] * 1_000,
            "contexts": pa.ListArray.from_arrays(offsets, texts),
        }
    )
    content = io.BytesIO()
    pq.write_table(table, content)
    assert len(content.getvalue()) < 100_000
    report = club.alpha.post("/sets/tiny/check", content=content.getvalue()).json()
    assert "too-large" in {problem["code"] for problem in report["problems"] if problem["line"] == 0}
    assert club.alpha.get("/sets/tiny").status_code == 200


ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "teams.md"
DEMO_SET = ROOT / "data" / "sets" / "demo"


def commands_under(heading: str) -> list[str]:
    """Return the commands of a section of docs/teams.md, except those that set the address and token."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```console\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line[:2] == "$ "]
    return [line for line in lines if not line.startswith("export ")]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="NO CURL: the way by curl is not tried")
def test_documented_submission_gets_published_place(tmp_path: Path) -> None:
    settings, place = settings_of(tmp_path / "home"), tmp_path / "work"
    place.mkdir()
    arena = Arena(settings)
    arena.sets.import_from(DEMO_SET)
    arena.close()

    def shell(lines: Sequence[str], variables: Mapping[str, str]) -> str:
        return run_lines("\n".join(lines), place=place, path=str(program().parent), **variables)

    here = {"ARENA_HOME": str(settings.home), "ARENA_DATABASE_URL": settings.database_url}
    with served(settings, tmp_path / "log") as server:
        made = shell(commands_under("What you need"), here)
        token = re.search(r"aa_[0-9a-f]+_\S+", made)
        assert token, made
        team = {"ARENA_SERVER": server, "ARENA_TOKEN": token[0]}
        assert '"system":"curled"' in shell(commands_under("By curl"), team)
        judged, showing = commands_under("Results")[:2], commands_under("Results")[2:4]
        shell(judged, here)
        battles = shell(showing, team)
    assert len(json.loads(battles)["battles"]) == 5
    with (place / "board.csv").open() as file:
        assert "curled" in {row["system"] for row in csv.DictReader(file) if row["rating"]}
