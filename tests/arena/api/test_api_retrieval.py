"""Boards of retrieval by the API, over real HTTP: from a run to its board, and who sees which passages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from arena.container import Arena
from tests.arena.api.conftest import Club


def _run(first: str) -> bytes:
    lines = [
        f"q{at} Q0 {name} {rank} {9 - rank} r\n"
        for at in range(12)
        for rank, name in enumerate((f"{first}{at}-p1", f"x{at}"), start=1)
    ]
    return "".join(lines).encode()


@pytest.fixture(scope="module")
def judged(club: Club, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    """The server with qrels, a run of alpha that finds everything, and one of beta that finds nothing."""
    path = tmp_path_factory.mktemp("qrels") / "qrels"
    path.write_text("".join(f"q{at} 0 q{at}-p1 1\n" for at in range(12)))
    arena = Arena(club.settings)
    arena.set_qrels.attach("tiny", path)
    arena.close()
    for team, first in (("alpha", "q"), ("beta", "z")):
        with club.client(team) as client:
            content = _run(first)
            checked = client.post("/sets/tiny/check", params={"kind": "contexts"}, content=content).json()
            assert (checked["accepted"], checked["kind"], checked["answers"]) == (True, "contexts", 12)
            wish: dict[str, str | bool] = {
                "system": f"{team}-run",
                "kind": "contexts",
                "anonymous": team == "beta",
            }
            made = client.post("/sets/tiny/submissions", params=wish, content=content)
            assert (made.status_code, made.json()["kind"]) == (201, "contexts")
    yield club
    arena = Arena(club.settings)
    for submission in arena.store.submissions.find(set_name="tiny", kind=None):
        if submission.system.endswith("-run"):
            arena.submissions.withdraw(submission.id)
    arena.close()


def test_the_board_is_public_and_hides_names_as_everywhere(judged: Club, nobody: httpx.Client) -> None:
    """Everybody reads means, intervals and qrels' counts; an anonymous system has a stand-in for its name."""
    board = nobody.get("/sets/tiny/retrieval").json()
    best, worst = board["lines"]["AP"]["overall"]
    assert (best["system"], best["mean"], best["letters"], worst["letters"]) == ("alpha-run", 1.0, "A", "B")
    assert worst["system"].startswith("Anonymous-")
    (named,) = nobody.get("/sets/tiny/qrels").json()["qrels"]
    assert (named["name"], named["relevant"], named["kind"]) == ("graded", 12, "graded")
    with judged.client("beta") as beta:
        own = beta.get("/sets/tiny/retrieval").json()
    assert "beta-run" in {line["system"] for line in own["lines"]["AP"]["overall"]}
    pair = {"first": "alpha-run", "second": worst["system"], "measure": "AP"}
    overall = nobody.get("/sets/tiny/retrieval/compare", params=pair).json()["differences"][0]
    assert (overall["difference"], overall["separated"]) == (1.0, True)


def test_passages_are_shown_to_their_team(judged: Club, nobody: httpx.Client) -> None:
    """A team sees what its own run retrieved and missed, others see its values alone."""
    with judged.client("beta") as beta:
        shown = {
            one["system"]: one for one in beta.get("/sets/tiny/retrieval/questions/q3").json()["systems"]
        }
    assert shown["beta-run"]["missed"][0]["id"] == "q3-p1"
    assert shown["beta-run"]["missed"][0]["text"] == "Item 3 weighs 13 grams."
    assert (shown["alpha-run"]["shown"], shown["alpha-run"]["passages"]) == (False, [])
    assert shown["alpha-run"]["values"]["AP"] == 1.0
    assert not any(one["shown"] for one in nobody.get("/sets/tiny/retrieval/questions/q3").json()["systems"])
    assert nobody.get("/sets/tiny/retrieval/questions/none").status_code == 404


def test_files_come_in_every_form(judged: Club, nobody: httpx.Client) -> None:
    """CSV, Parquet and trec_eval's output are attachments; a system that is not there is 404."""
    csv = nobody.get("/sets/tiny/retrieval", params={"format": "csv"})
    assert csv.text.startswith("measure,domain,system,mean")
    assert "attachment" in csv.headers["content-disposition"]
    parquet = nobody.get("/sets/tiny/retrieval", params={"format": "parquet", "questions": True})
    assert parquet.content.startswith(b"PAR1")
    output = nobody.get("/sets/tiny/retrieval", params={"format": "trec", "system": "alpha-run"}).text
    assert "map                   \tq0\t1.0000\n" in output
    missing = nobody.get("/sets/tiny/retrieval", params={"format": "trec", "system": "no-such"})
    assert missing.status_code == 404


def test_hidden_references_hide_what_is_relevant(judged: Club, alpha: httpx.Client) -> None:
    """Where a set hides its references nobody reads which passages are relevant; means stay public."""
    arena = Arena(judged.settings)
    before = arena.store.policies.get("tiny")
    arena.store.policies.put(replace(before, hidden_references=True))
    try:
        assert alpha.get("/sets/tiny/retrieval/questions/q3").status_code == 403
        assert alpha.get("/sets/tiny/retrieval").status_code == 200
    finally:
        arena.store.policies.put(before)
        arena.close()
