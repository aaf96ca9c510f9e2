"""Uploading, checking and submitting by the API, over real HTTP."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.container import Arena
from tests.arena.api.conftest import Club, answers, submit

MISSING = b"question_id,answer\nq0,None\nq1,Item 1 weighs 11 grams.\n"
TWO_SYSTEMS = b"model,question_id,answer\na,q0,Of a.\nb,q0,Of b.\nb,q1,Of b too.\n"


def test_file_becomes_a_submission(club: Club, alpha: httpx.Client) -> None:
    added = submit(alpha, answers("one step"), system="one-step", card={"model": "m"})
    assert added.status_code == 201, added.text
    made = added.json()
    assert (made["system"], made["version"], made["team"], made["answers"]) == ("one-step", 1, "alpha", 12)
    assert (made["selected"], made["created"], made["state"]) == (False, True, "accepted")
    path = urlsplit(added.headers["location"]).path.removeprefix("/api/v1")
    shown = alpha.get(path).json()
    assert shown["coverage"] == {"d0": 1.0, "d1": 1.0, "d2": 1.0}
    assert shown["card"]["model"] == "m"
    assert not list((club.settings.home / "uploads" / "checks").iterdir())


def test_card_may_be_yaml_and_file_names_stand_in_messages(alpha: httpx.Client) -> None:
    asked = {"system": "by-curl", "card": "model: my-model", "file_name": "mine.jsonl"}
    made = alpha.post("/sets/tiny/submissions", params=asked, content=answers("yaml"))
    assert made.status_code == 201
    assert alpha.get(f"/submissions/{made.json()['id']}").json()["card"]["model"] == "my-model"
    empty = alpha.post("/sets/tiny/submissions", params=asked, content=b"")
    assert empty.status_code == 422
    assert "mine.jsonl" in empty.text


def test_same_content_twice_is_one_submission(alpha: httpx.Client) -> None:
    content = answers("twice")
    first = submit(alpha, content, system="twice")
    rows = [json.loads(line) for line in content.splitlines()]
    again = submit(alpha, gzip.compress(json.dumps(rows).encode()), system="twice")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["created"] is False


def test_file_with_errors_is_told_all_of_them(alpha: httpx.Client) -> None:
    content = answers("bad", 3) + b'{"question_id": "nope", "answer": "x"}\n{"question_id": "q5"}\n'
    found = submit(alpha, content, system="with-errors")
    assert found.status_code == 422
    told = found.json()
    assert {(one["line"], one["code"]) for one in told["problems"] if one["severity"] == "error"} == {
        (4, "unknown-question"),
        (5, "missing-field"),
    }
    assert told["advice"]
    assert "/" not in told["detail"], "no path of the server is told"
    listed = alpha.get("/submissions", params={"set": "tiny"}).json()["submissions"]
    assert "with-errors" not in [one["system"] for one in listed]


def test_check_is_the_checker_of_the_command_line(club: Club, alpha: httpx.Client, tmp_path: Path) -> None:
    content = answers("checked", 4) + b"not json\n"
    path = tmp_path / "answers"
    path.write_bytes(content)
    arena = Arena(club.settings)
    expected = arena.submissions.check(path, "tiny").model_dump(mode="json")
    arena.close()
    for body in (content, gzip.compress(content)):
        found = alpha.post("/sets/tiny/check", content=body)
        assert found.status_code == 200
        assert {**found.json()} == expected
    assert not list((club.settings.home / "uploads" / "checks").iterdir())


def test_bad_card_is_refused_by_field(alpha: httpx.Client) -> None:
    content = answers("card")
    unknown = submit(alpha, content, system="card", card={"colour": "red"})
    assert unknown.status_code == 422
    assert "colour" in unknown.text
    link = submit(alpha, content, system="card", card={"link": "javascript:alert(1)"})
    assert link.status_code == 422
    assert link.json()["problems"][0]["code"] == "bad-link"
    assert submit(alpha, content, system="card", card={"link": "https://a.example"}).status_code == 201


def test_name_of_another_team_is_taken(alpha: httpx.Client, beta: httpx.Client) -> None:
    assert submit(alpha, answers("mine"), system="ours").status_code == 201
    assert submit(beta, answers("theirs"), system="ours").status_code == 409
    assert submit(beta, answers("human"), system="human").status_code == 409


def test_withdrawn_submission_leaves_a_tombstone(alpha: httpx.Client, nobody: httpx.Client) -> None:
    number = submit(alpha, answers("gone"), system="gone", card={"contact": "a@b.example"}).json()["id"]
    done = alpha.post(f"/submissions/{number}/withdraw", json={"reason": "a mistake"})
    assert (done.status_code, done.json()["state"]) == (200, "withdrawn")
    assert alpha.post(f"/submissions/{number}/withdraw", json={}).status_code == 409
    shown = nobody.get(f"/submissions/{number}").json()
    told = (shown["state"], shown["visibility"], shown["withdrawn_reason"])
    assert told == ("withdrawn", "tombstone", "a mistake")
    assert set(shown["card"].values()) == {""}


def test_submission_that_was_only_held_stays_unknown(
    alpha: httpx.Client, beta: httpx.Client, nobody: httpx.Client
) -> None:
    """C1: Withdrawing what was only held tells nobody of it; its team reads what it did."""
    number = submit(alpha, answers("hush"), system="hushed", hold=True).json()["id"]
    meant = {"reason": "a slip"}
    assert alpha.post(f"/submissions/{number}/withdraw", json=meant).status_code == 200
    for other in (beta, nobody):
        assert other.get(f"/submissions/{number}").status_code == 404
        listed = other.get("/submissions", params={"set": "tiny"}).text
        assert "hushed" not in listed
        assert "a slip" not in listed
    mine = alpha.get(f"/submissions/{number}").json()
    assert (mine["visibility"], mine["withdrawn_reason"]) == ("tombstone", "a slip")
    taken = submit(beta, answers("other"), system="Hushed")
    assert taken.status_code == 409
    assert "looks like a name that is taken" in taken.json()["detail"]


def test_held_submission_waits_for_its_team(
    alpha: httpx.Client, beta: httpx.Client, nobody: httpx.Client
) -> None:
    made = submit(alpha, answers("held"), system="held", hold=True).json()
    assert made["state"] == "checked"
    for other in (beta, nobody):
        assert other.get(f"/submissions/{made['id']}").status_code == 404
        assert other.post(f"/submissions/{made['id']}/confirm").status_code in {401, 403, 404}
    assert alpha.post(f"/submissions/{made['id']}/confirm").json()["state"] == "accepted"
    assert nobody.get(f"/submissions/{made['id']}").status_code == 200


def test_anonymous_submission_has_no_name_for_others(
    alpha: httpx.Client, beta: httpx.Client, nobody: httpx.Client
) -> None:
    made = submit(
        alpha, answers("veiled"), system="veiled-one", anonymous=True, card={"model": "veiled-model"}
    ).json()
    assert alpha.get(f"/submissions/{made['id']}").json()["system"] == "veiled-one"
    for other in (beta, nobody):
        for path in (f"/submissions/{made['id']}", "/submissions", "/submissions?set=tiny"):
            found = other.get(path)
            assert "veiled" not in found.text
        alone = other.get(f"/submissions/{made['id']}").json()
        assert (alone["visibility"], alone["team"]) == ("nameless", "")


def test_contact_is_for_the_team(alpha: httpx.Client, nobody: httpx.Client) -> None:
    card = {"contact": "secret@alpha.example"}
    number = submit(alpha, answers("contact"), system="contact", card=card).json()["id"]
    assert alpha.get(f"/submissions/{number}").json()["card"]["contact"] == "secret@alpha.example"
    assert "secret@alpha.example" not in nobody.get("/submissions").text


def test_shared_caches_keep_nothing_personal(alpha: httpx.Client, nobody: httpx.Client) -> None:
    mine, public = alpha.get("/submissions"), nobody.get("/submissions")
    assert "private" in mine.headers["cache-control"]
    assert "public" in public.headers["cache-control"]
    assert "Authorization" in mine.headers["vary"]


def handed_in_at_once(club: Club, systems: Sequence[str]) -> tuple[list[int], list[dict[str, Any]]]:
    """Submit a file for each system at the same moment; return the statuses, and what is stored then."""

    def hand_in(number: int) -> int:
        with club.client("alpha") as client:
            return submit(client, answers(f"at once {number}"), system=systems[number]).status_code

    with ThreadPoolExecutor(len(systems)) as pool:
        statuses = list(pool.map(hand_in, range(len(systems))))
    with club.client("alpha") as client:
        listed = client.get("/submissions", params={"set": "tiny"}).json()["submissions"]
    return statuses, [submission for submission in listed if submission["system"] in systems]


@pytest.mark.slow
def test_fifty_uploads_at_once_are_each_whole_or_refused(club: Club) -> None:
    statuses, stored = handed_in_at_once(club, [f"parallel-{number}" for number in range(50)])
    assert set(statuses) <= {201, 409, 429, 503}
    assert len(stored) == statuses.count(201) > 0
    assert {submission["answers"] for submission in stored} == {12}


def test_same_system_at_once_gets_versions_in_a_row(club: Club) -> None:
    statuses, stored = handed_in_at_once(club, ["race"] * 6)
    assert set(statuses) <= {201, 409}
    versions = sorted(submission["version"] for submission in stored)
    assert versions == list(range(1, statuses.count(201) + 1))


def test_a_form_is_named(alpha: httpx.Client) -> None:
    form = {"file": ("a.jsonl", b'{"question_id": "q0", "answer": "A."}\n')}
    found = alpha.post("/sets/tiny/check", files=form)
    assert found.status_code == 200
    (problem,) = found.json()["problems"]
    assert problem["code"] == "wrong-format"
    assert "multipart/form-data" in problem["message"]
    assert "--data-binary" in problem["advice"]


def test_words_for_missing_values_are_texts_where_that_is_asked(alpha: httpx.Client) -> None:
    checked = [
        alpha.post("/sets/tiny/check", content=MISSING, params=asked).json()["answers"]
        for asked in ({}, {"keep_na": "true"})
    ]
    assert checked == [1, 2]
    found = submit(alpha, MISSING, system="keeps-na", keep_na=True)
    assert found.status_code == 201
    assert "missing-value" not in [one["code"] for one in found.json()["problems"]]


def test_check_of_a_table_reads_one_system(alpha: httpx.Client) -> None:
    whole = alpha.post("/sets/tiny/check", content=TWO_SYSTEMS).json()
    assert (whole["accepted"], whole["problems"][0]["code"]) == (False, "several-systems")
    one = alpha.post("/sets/tiny/check", content=TWO_SYSTEMS, params={"system": "b"}).json()
    assert (one["accepted"], one["answers"]) == (True, 2)


def rows(word: str) -> list[dict[str, str]]:
    """Answers to the tiny set."""
    return [{"question_id": f"q{number}", "answer": f"Item {number} is {word}."} for number in range(12)]


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def test_zip_files_are_checked_and_submitted(alpha: httpx.Client) -> None:
    table = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows("blue")), table)
    dataset = zipped({"mine/data/test-00000-of-00001.parquet": table.getvalue(), "mine/README.md": b"# M"})
    report = alpha.post("/sets/tiny/check", content=dataset, params={"file_name": "mine.zip"}).json()
    assert (report["format"], report["layout"]) == ("parquet", "arena")
    assert (report["answers"], report["errors"]) == (12, 0)
    added = submit(alpha, dataset, system="from-a-dataset")
    assert (added.status_code, added.json()["answers"]) == (201, 12)
    samples = {
        f"samples/{row['question_id']}_epoch_1.json": json.dumps(
            {"id": row["question_id"], "epoch": 1, "input": "", "output": {"completion": row["answer"]}}
        ).encode()
        for row in rows("red")
    }
    added = submit(alpha, zipped({"header.json": b"{}", **samples}), system="from-a-log")
    assert (added.status_code, added.json()["answers"]) == (201, 12)


def test_a_bomb_takes_its_own_process_no_further(alpha: httpx.Client) -> None:
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
    report = alpha.post("/sets/tiny/check", content=content.getvalue()).json()
    assert "too-large" in {one["code"] for one in report["problems"] if one["line"] == 0}
    assert alpha.get("/sets/tiny").status_code == 200
