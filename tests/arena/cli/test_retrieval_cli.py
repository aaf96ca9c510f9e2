"""Corpora searched, passages retrieved for a set and attached to it, and what sets are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.services.question_sets.service import OVERALL, domain_statistics
from data.files.question_sets.registry import load_set

Commands = Any  # what the fixture `run` of tests/arena/conftest.py gives
LFRQA = Path(__file__).parents[3].parent / "shared" / "data" / "lfrqa"
PASSAGES = 24


@pytest.fixture
def stocked(run: Commands, set_folder: Path, tmp_path: Path) -> Commands:
    """Commands over a database with the small set, and a corpus of all its passages in BEIR's form."""
    assert run("sets", "import", set_folder)[0] == 0
    rows = [json.loads(line) for line in (set_folder / "questions.jsonl").read_text().splitlines()]
    folder = tmp_path / "beir"
    folder.mkdir()
    documents = [
        {"_id": part["id"], "title": "", "text": part["text"]} for row in rows for part in row["passages"]
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    assert run("corpora", "import", folder, "--name", "items")[0] == 0
    return run


def test_words_are_looked_up_in_a_corpus(stocked: Commands) -> None:
    """`corpora search` prints the best chunks with their scores."""
    rows = stocked.json("corpora", "search", "items", "weighs 15 grams", "--k", 3, "--json")
    assert rows[0]["text"] == "Item 5 weighs 15 grams."
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[0]["score"] > rows[1]["score"]
    assert "Nothing in items" in "".join(stocked("corpora", "search", "items", "zzz")[1:])


def test_a_run_becomes_the_passages_of_a_new_version(stocked: Commands, tmp_path: Path) -> None:
    """A TREC run of documents and its corpus give a set with these passages; the former set stays."""
    out = tmp_path / "run.trec"
    fields = stocked.json(
        "retrieve", "--set", "tiny", "--corpus", "items", "--k", 3, "--documents", "--out", out, "--json"
    )
    assert (fields["questions"], fields["passages"], fields["failed"]) == (12, 36, {})
    made = stocked.json("sets", "attach-passages", "tiny", out, "--corpus", "items", "--json")
    assert (made["name"], made["version"], made["created"]) == ("tiny-v2", "2", True)
    assert (made["questions"], made["passages"], made["unresolved"]) == (12, 36, 0)
    again = stocked.json("sets", "attach-passages", "tiny", out, "--corpus", "items", "--json")
    assert not again["created"]
    folder = tmp_path / "exported"
    assert stocked("sets", "export", "tiny-v2", folder)[0] == 0
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    assert {len(row["passages"]) for row in rows} == {3}
    assert rows[5]["passages"][0]["text"].startswith("Item 5 ")
    assert rows[5]["passages"][0]["id"].startswith("q5-p")
    assert stocked.json("sets", "statistics", "tiny", "--json")["overall"]["passages"] == 2


def test_texts_are_attached_without_a_corpus(stocked: Commands, tmp_path: Path) -> None:
    """A .jsonl file holds the passages themselves; questions that it leaves out keep theirs."""
    out = tmp_path / "run.jsonl"
    assert (
        stocked("retrieve", "--set", "tiny", "--corpus", "items", "--domains", "d1", "--k", 1, "--out", out)[
            0
        ]
        == 0
    )
    made = stocked.json("sets", "attach-passages", "tiny", out, "--name", "tiny-one", "--json")
    assert (made["questions"], made["without"], made["unknown"]) == (4, 8, 0)
    rows = stocked.json("sets", "statistics", "tiny-one", "--json")
    assert rows["overall"]["passages"] == pytest.approx(20 / 12)
    means = {domain: row["passages"] for domain, row in rows["by_domain"].items()}
    assert means == {"d0": 2, "d1": 1, "d2": 2}
    names = {
        "questions",
        "documents_mean",
        "documents_2_or_more",
        "documents_10_or_more",
        "answer_words_mean",
    }
    assert names <= rows["overall"].keys()


def test_rag_qa_arenas_predictions_are_matched_by_question(stocked: Commands, tmp_path: Path) -> None:
    """Rows with `query` and `passages` find their question by its text; strangers are counted."""
    path = tmp_path / "predictions.jsonl"
    rows = [
        {"query": "What do we know of item 4?", "pred": "x", "passages": [{"title": "T", "text": "New."}]},
        {"query": "Who?", "pred": "x", "passages": ["Nothing."]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    made = stocked.json("sets", "attach-passages", "tiny", path, "--json")
    assert (made["questions"], made["without"], made["unknown"]) == (1, 11, 1)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"question_id": "nobody", "passages": []}', "names no question of tiny"),
        ('{"question_id": "q1"}', "no list of passages"),
        ('{"question_id": "q1", "passages": ["a"]}\n{"question_id": "q1", "passages": ["b"]}', "twice"),
        ("q1 Q0 d 1 0.5 run", "has no texts"),
    ],
)
def test_files_that_cannot_be_attached_say_why(
    stocked: Commands, tmp_path: Path, content: str, why: str
) -> None:
    """Nothing is stored, and the reason is one that a user can act on."""
    path = tmp_path / "passages.jsonl"
    path.write_text(content)
    code, _, errors = stocked("sets", "attach-passages", "tiny", path)
    assert code != 0
    assert why in errors
    assert [row["name"] for row in stocked.json("sets", "list", "--json")] == ["tiny"]


def test_passages_that_a_corpus_does_not_have_are_counted(stocked: Commands, tmp_path: Path) -> None:
    """A run of another corpus is not attached in silence."""
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 q1-p1 1 2 x\nq1 Q0 elsewhere 2 1 x\n")
    made = stocked.json("sets", "attach-passages", "tiny", path, "--corpus", "items", "--json")
    assert (made["passages"], made["unresolved"]) == (1, 1)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--retriever", "colbert"), "Use one of: bm25, web"),
        (("--retriever", "bm25"), "--corpus"),
        (("--retriever", "web", "--corpus", "items"), "does not search"),
        (("--corpus", "none"), "no corpus 'none'"),
        (("--corpus", "items", "--domains", "d9"), "d9"),
    ],
)
def test_what_cannot_be_retrieved_is_said(
    stocked: Commands, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    """Each wrong option is one line with what to do, and no file is written."""
    out = tmp_path / "run.trec"
    code, _, errors = stocked("retrieve", "--set", "tiny", "--out", out, *words)
    assert code != 0
    assert why in errors
    assert "Traceback" not in errors
    assert not out.exists()


@pytest.mark.long
@pytest.mark.skipif(not LFRQA.is_dir(), reason="the folder ../shared/data/lfrqa is not there")
def test_lfrqas_statistics_are_the_papers() -> None:
    """65 % of references draw on two documents or more, 4.9 % on ten or more; words as in table 2."""
    questions = load_set(LFRQA).questions.questions
    whole = domain_statistics(OVERALL, questions)
    assert whole.several_documents == pytest.approx(0.65, abs=0.01)
    assert whole.many_documents == pytest.approx(0.049, abs=0.001)
    finance = domain_statistics("fiqa", [question for question in questions if question.domain == "fiqa"])
    assert finance.reference_words == pytest.approx(66.8, abs=0.05)
    lifestyle = [question for question in questions if question.domain == "lifestyle"]
    assert domain_statistics("lifestyle", lifestyle).words_a_question == pytest.approx(95.7, abs=0.05)


def test_files_that_are_not_there_are_named(stocked: Commands, tmp_path: Path) -> None:
    """A run for a folder that is missing, and a run that is missing, are errors in a line of words."""
    out = tmp_path / "missing" / "run.trec"
    code, _, told = stocked("retrieve", "--set", "tiny", "--corpus", "items", "--k", 2, "--out", out)
    assert code == 1
    assert "There is no folder" in told
    code, *told = stocked(
        "submissions", "check", tmp_path / "none.trec", "--kind", "contexts", "--set", "tiny"
    )
    assert code == 1
    assert "There is no file" in "".join(told)


def test_a_run_of_another_corpus_makes_no_version_of_a_set(stocked: Commands, tmp_path: Path) -> None:
    """If no passage of a run is in the corpus that is named, nothing is stored."""
    out = tmp_path / "other.trec"
    out.write_text("q0 Q0 elsewhere-1 1 2.5 r\n")
    code, *told = stocked("sets", "attach-passages", "tiny", out, "--corpus", "items")
    assert code == 1
    assert "No passage of other.trec is in the corpus items." in "".join(told)
    assert [row["name"] for row in stocked.json("sets", "list", "--json")] == ["tiny"]
