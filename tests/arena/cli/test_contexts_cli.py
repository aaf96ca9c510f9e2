"""`arena retrieval score`: contexts without answers, from files and as submissions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.settings import Settings
from tests.arena.conftest import Commands
from tests.opened_pages import page_of

PASSAGES = [
    {"id": "a", "text": "Salt comes from the sea."},
    {"id": "b", "text": "Salt is mined in mountains."},
    {"id": "c", "text": "Pepper grows on vines."},
]


@pytest.fixture
def stocked(run: Commands, tmp_path: Path) -> Commands:
    """Commands over a set of two questions, of which one names its gold documents."""
    folder = tmp_path / "salt"
    folder.mkdir()
    rows = [
        {
            "id": "q1",
            "domain": "food",
            "question": "Where does salt come from?",
            "passages": PASSAGES,
            "gold_doc_ids": ["a", "b"],
            "sub_questions": ["Is salt from the sea?", "Is salt mined?"],
        },
        {"id": "q2", "domain": "food", "question": "What grows on vines?", "passages": PASSAGES},
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("sets", "import", folder)[0] == 0
    return run


def write_run(path: Path, passages: str) -> Path:
    lines = [f"q1 Q0 {one} {rank} {9 - rank} r\n" for rank, one in enumerate(passages, start=1)]
    path.write_text("".join(lines))
    return path


def overall(found: dict[str, list[dict[str, object]]]) -> dict[str, dict[str, object]]:
    return {str(row["system"]): row for row in found["rows"] if row["domain"] == "overall"}


def test_score_measures_rankings_by_gold_documents(stocked: Commands, tmp_path: Path) -> None:
    good, poor = write_run(tmp_path / "good.trec", "ab"), write_run(tmp_path / "poor.trec", "cb#1")
    rows = overall(stocked.json("retrieval", "score", good, poor, "--set", "salt", "--json"))
    assert (rows["good"]["nDCG@10"], rows["good"]["RR"], rows["good"]["R@100"]) == (1, 1, 1)
    assert (rows["poor"]["RR"], rows["poor"]["P@10"], rows["poor"]["R@10"]) == (0.5, 0.1, 0.5)
    assert [rows["good"][name] for name in ("questions", "missing", "judged")] == [2, 1, 1]


def test_score_measures_coverage_by_sub_questions(stocked: Commands, tmp_path: Path) -> None:
    """Without a judge the embedded rater rates the passages, whose texts are the set's."""
    good, poor = write_run(tmp_path / "good.trec", "ab"), write_run(tmp_path / "poor.trec", "c")
    rows = overall(stocked.json("retrieval", "score", good, poor, "--set", "salt", "--json"))
    assert (rows["good"]["coverage"], rows["poor"]["coverage"]) == (1, 0)
    assert rows["good"]["alpha_ndcg"] == pytest.approx(1)
    assert rows["good"]["density"] == pytest.approx(1)


def test_score_takes_ratings_as_judgments(stocked: Commands, tmp_path: Path) -> None:
    ratings = tmp_path / "ratings.jsonl"
    row = {"question_id": "q1", "passages": ["a", "b"], "ratings": [[5, 0], [0, 4]], "threshold": 3}
    ratings.write_text(json.dumps(row) + "\n")
    run = write_run(tmp_path / "half.trec", "ac")
    rows = overall(stocked.json("retrieval", "score", run, "--set", "salt", "--qrels", ratings, "--json"))
    assert (rows["half"]["coverage"], rows["half"]["R@10"]) == (0.5, 0.5)
    assert 0 < float(str(rows["half"]["alpha_ndcg"])) < 1


def test_score_lists_submitted_contexts_as_the_page_does(stocked: Commands, tmp_path: Path) -> None:
    run = write_run(tmp_path / "good.trec", "ab")
    add = ("submissions", "add", run, "--set", "salt", "--system", "finder", "--kind", "contexts")
    assert stocked(*add)[0] == 0
    assert stocked("metrics", "run", "--set", "salt", "--metric", "context-crux")[0] == 0
    rows = overall(stocked.json("retrieval", "score", "--set", "salt", "--json"))
    assert rows["finder"]["nDCG@10"] == 1
    settings = Settings(home=stocked.home, database_url=f"sqlite:///{stocked.home / 'arena.sqlite'}")
    page = page_of(settings, "retrieval_page", set="salt").run()
    assert not page.exception
    shown = "".join(found.proto.body for found in page.get("html"))
    assert "finder" in shown
    assert "1.000" in shown


def test_score_refuses_judgments_of_other_questions(stocked: Commands, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("other 0 a 1\n")
    run = write_run(tmp_path / "good.trec", "ab")
    code, _, err = stocked("retrieval", "score", run, "--set", "salt", "--qrels", qrels)
    assert code == 1
    assert "of no question of salt" in err
