"""`arena corpora`, and metrics that search a corpus, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena

Commands = Any  # what the fixture `run` of tests/arena/conftest.py gives
SKY = "The sky is blue because air scatters short waves more."
SEA = "The sea is salty because rivers carry minerals into it."
GRASS = "Grass is green because it holds chlorophyll."


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of two texts: of the sky and of the sea."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "sky.txt").write_text(SKY)
    (folder / "sea.txt").write_text(SEA)
    return folder


@pytest.fixture
def item(tmp_path: Path) -> Path:
    """A file with one answer: its own passage supports one claim, the folder of texts the other."""
    row = {
        "id": "q1",
        "question": "Why do things have their colours?",
        "answer": f"{SKY} {GRASS}",
        "passages": [{"id": "own", "text": GRASS}],
        "aspects": ["why the sky is blue", "why grass is green"],
    }
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(row) + "\n")
    return path


def test_corpus_is_built_once_and_listed(make_arena: Callable[..., Arena], texts: Path) -> None:
    """Importing the same texts again builds nothing; the corpus finds what was imported."""
    corpora = make_arena().corpora
    assert corpora.add("nature", texts).built
    assert not corpora.add("nature", texts).built
    assert [(one.name, one.documents) for one in corpora.list()] == [("nature", 2)]
    ((found, _),) = corpora._library.open("nature").search("why is the sea salty", 1)
    assert "rivers" in found.text


def test_claims_are_grounded_in_a_named_corpus(run: Commands, texts: Path, item: Path) -> None:
    """With --corpus the corpus supports claims, not the item's passages; its name and hash are kept."""
    assert run("corpora", "import", texts, "--name", "nature")[0] == 0
    words = ("metrics", "score", item, "--metric", "coverage-icat-s")
    (own,) = run.lines(*words)
    (searched,) = run.lines(*words, "--corpus", "nature")
    assert [claim["passage"] for claim in own["details"]["claims"]] == [None, "own"]
    assert [claim["passage"] for claim in searched["details"]["claims"]] == ["sky.txt#1", None]
    assert "searched" not in own["details"]
    (corpus,) = json.loads(run("corpora", "list", "--json")[1])
    used = searched["details"]["searched"]
    assert (used["corpus"], used["content_hash"], used["retriever"]) == (
        "nature",
        corpus["content_hash"],
        "bm25",
    )


def test_scores_of_other_corpora_are_kept_apart(
    make_arena: Callable[..., Arena],
    run: Commands,
    set_folder: Path,
    answers_file: Callable[..., Path],
    texts: Path,
) -> None:
    """A run with a corpus does not take the scores of a run without for its own, nor the other way round."""
    run("sets", "import", set_folder)
    run("submissions", "add", answers_file("s", "Item {n} is {word}."), "--set", "tiny", "--system", "s")
    run("corpora", "import", texts, "--name", "nature")
    words = ("metrics", "run", "--set", "tiny", "--metric", "coverage-icat-a", "--json")
    plain = json.loads(run(*words)[1])
    searched = json.loads(run(*words, "--corpus", "nature")[1])
    assert (plain["kept"], searched["kept"], searched["answers"]) == (0, 0, 12)
    assert plain["judge"] == "embedded"
    assert searched["judge"].startswith("corpus=nature@")
    assert (
        json.loads(run(*words, "--corpus", "nature")[1])["kept"]
        == searched["judged"] + searched["unreadable"]
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "coverage-icat-s", "--corpus", "nowhere"), "There is no corpus 'nowhere'"),
        (("--metric", "context-crux", "--corpus", "nature"), "not at a corpus or the web"),
    ],
)
def test_a_corpus_that_cannot_be_searched_is_said_in_a_line(
    run: Commands, texts: Path, item: Path, words: tuple[str, ...], message: str
) -> None:
    """An unknown corpus, and a metric that searches none: one line, exit code 1."""
    assert run("corpora", "import", texts, "--name", "nature")[0] == 0
    code, _, err = run("metrics", "score", item, *words)
    assert code == 1
    assert message in err
    assert "Traceback" not in err


def test_claims_are_judged_by_a_corpus(run: Commands, texts: Path, item: Path) -> None:
    """Factuality over a corpus: its texts decide, and the score says so."""
    assert run("corpora", "import", texts, "--name", "nature")[0] == 0
    words = ("metrics", "score", item, "--metric", "factuality-fr1")
    (found,) = run.lines(*words, "--corpus", "nature")
    sky, grass = found["details"]["claims"]
    assert (sky["label"], grass["label"], found["score"]) == ("supported", "undecided", 0.5)
    assert [witness["passage"] for witness in sky["for"]] == ["sky.txt#1"]
    assert found["details"]["searched"]["retriever"] == "bm25"
    (own,) = run.lines(*words)
    assert [claim["label"] for claim in own["details"]["claims"]] == ["undecided", "supported"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--retriever", "web"), "No web search is set"),
        (("--corpus", "nature", "--retriever", "web"), "web does not search the corpus nature"),
    ],
)
def test_what_cannot_be_searched_so_is_said_in_a_line(
    run: Commands, texts: Path, item: Path, words: tuple[str, ...], message: str
) -> None:
    """The web without a search, or with a corpus: exit code 1."""
    assert run("corpora", "import", texts, "--name", "nature")[0] == 0
    code, _, err = run("metrics", "score", item, "--metric", "coverage-icat-s", *words)
    assert code == 1
    assert message in err
    assert "Traceback" not in err


def test_a_web_search_that_fails_leaves_the_answer_unscored(
    run: Commands, item: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a server the search fails: the answer is failed with the reason and not scored 0."""
    monkeypatch.setenv("ARENA_SEARCH_URL", "http://127.0.0.1:9/search?q={query}&format=json")
    (line,) = run.lines("metrics", "score", item, "--metric", "coverage-icat-s", "--retriever", "web")
    assert (line["outcome"], line["score"]) == ("failed", None)
    assert "The web search at 127.0.0.1 failed" in line["details"]["reason"]
    assert line["details"]["searched"] == {"retriever": "web", "search": "127.0.0.1"}


def test_judgments_align_claims_from_a_file(run: Commands, item: Path, tmp_path: Path) -> None:
    """--judgments makes coverage-icat-m look alignment up; other metrics refuse it; bad lines are listed."""
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 2 own 1\nq1 1 own 0\n")
    words = ("metrics", "score", item, "--metric")
    (line,) = run.lines(*words, "coverage-icat-m", "--judgments", qrels)
    assert [aspect["covered"] for aspect in line["details"]["aspects"]] == [False, True]
    assert (line["details"]["factuality"], line["details"]["coverage"], line["score"]) == (0.5, 0.5, 0.5)
    code, _, err = run(*words, "coverage-icat-s", "--judgments", qrels)
    assert (code, "takes no judgments" in err) == (1, True)
    qrels.write_text("q1 2 own\nq1 x own 1\n")
    code, out, err = run(*words, "coverage-icat-m", "--judgments", qrels)
    assert code == 1
    assert "2 problems" in err + out


def test_judgments_are_kept_apart_by_their_content(
    run: Commands, set_folder: Path, answers_file: Callable[..., Path], tmp_path: Path
) -> None:
    """Scores by other judgments stand under another name, which stays short whatever the file's size."""
    run("sets", "import", set_folder)
    run("submissions", "add", answers_file("s", "Item {n} is {word}."), "--set", "tiny", "--system", "s")
    names = []
    for count in (1, 12):
        qrels = tmp_path / "qrels"
        qrels.write_text("".join(f"q{n} 1 q{n}-p1 1\n" for n in range(count)))
        words = ("--set", "tiny", "--metric", "coverage-icat-m", "--judgments", qrels, "--json")
        names.append(run.json("metrics", "run", *words)["judge"])
    assert names[0] != names[1]
    assert max(map(len, names)) < 80
