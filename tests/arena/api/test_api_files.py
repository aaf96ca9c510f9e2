"""Files that people send to the API in other ways than it asks for, and what it can be asked of a file."""

from __future__ import annotations

from collections.abc import Callable

import httpx

Submit = Callable[..., httpx.Response]
MISSING = b"question_id,answer\nq0,None\nq1,Item 1 weighs 11 grams.\n"
TWO_SYSTEMS = b"model,question_id,answer\na,q0,Of a.\nb,q0,Of b.\nb,q1,Of b too.\n"


def test_a_form_is_named(alpha: httpx.Client) -> None:
    """A file in a form of multipart gets one line that says so, and the way to send it."""
    form = {"file": ("a.jsonl", b'{"question_id": "q0", "answer": "A."}\n')}
    found = alpha.post("/sets/tiny/check", files=form)
    assert found.status_code == 200
    (problem,) = found.json()["problems"]
    assert problem["code"] == "wrong-format"
    assert "multipart/form-data" in problem["message"]
    assert "--data-binary" in problem["advice"]


def test_words_for_missing_values_are_texts_where_that_is_asked(alpha: httpx.Client, submit: Submit) -> None:
    """`keep_na` is the same over HTTP as on the command line, in checks and in submissions."""
    checked = [
        alpha.post("/sets/tiny/check", content=MISSING, params=asked).json()["answers"]
        for asked in ({}, {"keep_na": "true"})
    ]
    assert checked == [1, 2]
    found = submit(alpha, MISSING, system="keeps-na", keep_na=True)
    assert found.status_code == 201
    assert "missing-value" not in [one["code"] for one in found.json()["problems"]]


def test_one_system_of_a_table_is_checked(alpha: httpx.Client) -> None:
    """`system` names whose rows of a table are read."""
    whole = alpha.post("/sets/tiny/check", content=TWO_SYSTEMS).json()
    assert (whole["accepted"], whole["problems"][0]["code"]) == (False, "several-systems")
    one = alpha.post("/sets/tiny/check", content=TWO_SYSTEMS, params={"system": "b"}).json()
    assert (one["accepted"], one["answers"]) == (True, 2)
