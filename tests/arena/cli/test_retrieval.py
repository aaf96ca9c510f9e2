"""`arena corpora`, `retrieve`, `sets attach-passages` and `retrieval score`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import RR, nDCG

from arena.services.question_sets.service import OVERALL, domain_statistics
from data.files.question_sets.registry import load_set
from tests.arena.conftest import Commands, settings_of, write_lines, write_set
from tests.opened_pages import html_of, page_of

SKY = "The sky is blue because air scatters short waves more."
SEA = "The sea is salty because rivers carry minerals into it."
GRASS = "Grass is green because it contains chlorophyll."


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Folder of two texts, on the sky and on the sea."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "sky.txt").write_text(SKY)
    (folder / "sea.txt").write_text(SEA)
    return folder


@pytest.fixture
def item(tmp_path: Path) -> Path:
    """File with one answer, with one claim supported by its own passage and one by the folder of texts."""
    row = {
        "id": "q1",
        "question": "Why do things have their colours?",
        "answer": f"{SKY} {GRASS}",
        "passages": [{"id": "own", "text": GRASS}],
        "aspects": ["why the sky is blue", "why grass is green"],
    }
    return write_lines(tmp_path / "items.jsonl", [row])


def test_claims_are_grounded_in_named_corpus(run: Commands, texts: Path, item: Path) -> None:
    run.done("corpora", "import", texts, "--name", "nature")
    words = ("metrics", "score", item, "--metric", "coverage-icat-s")
    (own,) = run.lines(*words)
    (searched,) = run.lines(*words, "--corpus", "nature")
    assert [claim["passage"] for claim in own["details"]["claims"]] == [None, "own"]
    assert [claim["passage"] for claim in searched["details"]["claims"]] == ["sky.txt#1", None]
    assert "searched" not in own["details"]
    (corpus,) = run.json("corpora", "list", "--json")
    used = {"corpus": "nature", "content_hash": corpus["content_hash"], "retriever": "bm25"}
    assert used.items() <= searched["details"]["searched"].items()


def test_scores_of_corpora_are_separate(arena_of: Commands, texts: Path) -> None:
    arena_of.done("corpora", "import", texts, "--name", "nature")
    words = ("metrics", "run", "--set", "tiny", "--metric", "coverage-icat-a", "--json")
    plain = arena_of.json(*words)
    searched = arena_of.json(*words, "--corpus", "nature")
    assert (plain["kept"], searched["kept"], searched["answers"]) == (0, 0, 24)
    assert (plain["judge"], searched["judge"].partition("@")[0]) == ("embedded", "corpus=nature")
    again = arena_of.json(*words, "--corpus", "nature")
    assert again["kept"] == searched["judged"] + searched["unreadable"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "coverage-icat-s", "--corpus", "nowhere"), "There is no corpus 'nowhere'"),
        (("--metric", "context-crux", "--corpus", "nature"), "not a corpus or the web"),
    ],
)
def test_unusable_corpora_report_errors(
    run: Commands, texts: Path, item: Path, words: tuple[str, ...], message: str
) -> None:
    run.done("corpora", "import", texts, "--name", "nature")
    assert message in run.fails("metrics", "score", item, *words)


def test_failed_web_search_scores_nothing(run: Commands, item: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_SEARCH_URL", "http://127.0.0.1:9/search?q={query}&format=json")
    (line,) = run.lines("metrics", "score", item, "--metric", "coverage-icat-s", "--retriever", "web")
    assert (line["outcome"], line["score"]) == ("failed", None)
    assert "The web search at 127.0.0.1 failed" in line["details"]["reason"]
    assert line["details"]["searched"] == {"retriever": "web", "search": "127.0.0.1"}


def test_judgments_align_claims_from_file(run: Commands, item: Path, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 2 own 1\nq1 1 own 0\n")
    words = ("metrics", "score", item, "--metric")
    (line,) = run.lines(*words, "coverage-icat-m", "--judgments", qrels)
    assert [aspect["covered"] for aspect in line["details"]["aspects"]] == [False, True]
    assert (line["details"]["factuality"], line["details"]["coverage"], line["score"]) == (0.5, 0.5, 0.5)
    assert "does not use judgments" in run.fails(*words, "coverage-icat-s", "--judgments", qrels)
    qrels.write_text("q1 2 own\nq1 x own 1\n")
    assert "2 problems" in "".join(run(*words, "coverage-icat-m", "--judgments", qrels)[1:])


LFRQA = Path(__file__).parents[3].parent / "shared" / "data" / "lfrqa"


@pytest.fixture
def stocked(run: Commands, tmp_path: Path) -> Commands:
    """Commands over the small set and a corpus of its passages in BEIR's format."""
    set_folder = write_set(tmp_path)
    run.done("sets", "import", set_folder)
    rows = [json.loads(line) for line in (set_folder / "questions.jsonl").read_text().splitlines()]
    folder = tmp_path / "beir"
    folder.mkdir()
    parts = [part | {"_id": part["id"], "title": ""} for row in rows for part in row["passages"]]
    write_lines(folder / "corpus.jsonl", parts)
    run.done("corpora", "import", folder, "--name", "items")
    return run


def test_search_finds_words_in_corpus(stocked: Commands) -> None:
    rows = stocked.json("corpora", "search", "items", "weighs 15 grams", "--k", 3, "--json")
    assert (rows[0]["text"], [row["rank"] for row in rows]) == ("Item 5 weighs 15 grams.", [1, 2, 3])
    assert rows[0]["score"] > rows[1]["score"]
    assert "No passage of items" in "".join(stocked("corpora", "search", "items", "zzz")[1:])


def test_run_becomes_passages_of_new_version(stocked: Commands, tmp_path: Path) -> None:
    out = tmp_path / "run.trec"
    fields = stocked.json(
        "retrieve", "--set", "tiny", "--corpus", "items", "--k", 3, "--documents", "--out", out, "--json"
    )
    assert (fields["questions"], fields["passages"], fields["failed"]) == (12, 36, {})
    made = stocked.json("sets", "attach-passages", "tiny", out, "--corpus", "items", "--json")
    assert (made["name"], made["version"], made["created"]) == ("tiny-v2", "2", True)
    assert (made["questions"], made["passages"], made["unresolved"]) == (12, 36, 0)
    assert not stocked.json("sets", "attach-passages", "tiny", out, "--corpus", "items", "--json")["created"]
    folder = tmp_path / "exported"
    stocked.done("sets", "export", "tiny-v2", folder)
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    assert {len(row["passages"]) for row in rows} == {3}
    assert rows[5]["passages"][0]["text"].startswith("Item 5 ")
    assert rows[5]["passages"][0]["id"].startswith("q5-p")
    assert stocked.json("sets", "statistics", "tiny", "--json")["overall"]["passages"] == 2


def test_texts_are_attached_without_corpus(stocked: Commands, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    stocked.done("retrieve", "--set", "tiny", "--corpus", "items", "--domains", "d1", "--k", 1, "--out", out)
    made = stocked.json("sets", "attach-passages", "tiny", out, "--name", "tiny-one", "--json")
    assert (made["questions"], made["without"], made["unknown"]) == (4, 8, 0)
    rows = stocked.json("sets", "statistics", "tiny-one", "--json")
    named = {"questions", "documents_mean", "documents_2_or_more", "answer_words_mean"}
    assert named <= rows["overall"].keys()
    assert rows["overall"]["passages"] == pytest.approx(20 / 12)
    means = {domain: row["passages"] for domain, row in rows["by_domain"].items()}
    assert means == {"d0": 2, "d1": 1, "d2": 2}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"question_id": "absent", "passages": []}', "contains no question of tiny"),
        ('{"question_id": "q1"}', "list of passages is missing"),
        ('{"question_id": "q1", "passages": ["a"]}\n{"question_id": "q1", "passages": ["b"]}', "Duplicate"),
        ("q1 Q0 d 1 0.5 run", "has no passage texts"),
        ("q0 Q0 elsewhere-1 1 2.5 r", "No passage of passages.jsonl is in the corpus items."),
    ],
)
def test_invalid_files_are_not_attached(stocked: Commands, tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "passages.jsonl"
    path.write_text(content)
    corpus = ("--corpus", "items") if "corpus" in why else ()
    assert why in stocked.fails("sets", "attach-passages", "tiny", path, *corpus)
    assert [row["name"] for row in stocked.json("sets", "list", "--json")] == ["tiny"]


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
def test_invalid_retrieval_is_refused(
    stocked: Commands, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    out = tmp_path / "run.trec"
    assert why in stocked.fails("retrieve", "--set", "tiny", "--out", out, *words)
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.skipif(not LFRQA.is_dir(), reason="the folder ../shared/data/lfrqa is not there")
def test_statistics_match_lfrqa_paper() -> None:
    questions = load_set(LFRQA).questions.questions
    whole = domain_statistics(OVERALL, questions)
    assert whole.several_documents == pytest.approx(0.65, abs=0.01)
    assert whole.many_documents == pytest.approx(0.049, abs=0.001)
    finance = domain_statistics("fiqa", [question for question in questions if question.domain == "fiqa"])
    assert finance.reference_words == pytest.approx(66.8, abs=0.05)
    lifestyle = [question for question in questions if question.domain == "lifestyle"]
    assert domain_statistics("lifestyle", lifestyle).words_a_question == pytest.approx(95.7, abs=0.05)


SALT = [
    {"id": "a", "text": "Salt comes from the sea."},
    {"id": "b", "text": "Salt is mined in mountains."},
    {"id": "c", "text": "Pepper grows on vines."},
]


@pytest.fixture
def salted(run: Commands, tmp_path: Path) -> Commands:
    """Commands over a set of two questions, one with gold documents."""
    folder = tmp_path / "salt"
    folder.mkdir()
    rows = [
        {
            "id": "q1",
            "domain": "food",
            "question": "Where does salt come from?",
            "passages": SALT,
            "gold_doc_ids": ["a", "b"],
            "sub_questions": ["Is salt from the sea?", "Is salt mined?"],
        },
        {"id": "q2", "domain": "food", "question": "What grows on vines?", "passages": SALT},
    ]
    write_lines(folder / "questions.jsonl", rows)
    run.done("sets", "import", folder)
    return run


def write_run(path: Path, passages: str) -> Path:
    lines = [f"q1 Q0 {one} {rank} {9 - rank} r\n" for rank, one in enumerate(passages, start=1)]
    path.write_text("".join(lines))
    return path


def by_system(report: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return {str(row["system"]): row for row in report["rows"] if row["domain"] == "overall"}


def test_score_measures_rankings_by_gold_documents(salted: Commands, tmp_path: Path) -> None:
    good, poor = write_run(tmp_path / "good.trec", "ab"), write_run(tmp_path / "poor.trec", "cb#1")
    rows = by_system(salted.json("retrieval", "score", good, poor, "--set", "salt", "--json"))
    assert (rows["good"]["nDCG@10"], rows["good"]["RR"], rows["good"]["R@100"]) == (1, 1, 1)
    assert (rows["poor"]["RR"], rows["poor"]["P@10"], rows["poor"]["R@10"]) == (0.5, 0.1, 0.5)
    assert [rows["good"][name] for name in ("questions", "missing", "judged")] == [2, 1, 1]


def test_score_takes_ratings_as_judgments(salted: Commands, tmp_path: Path) -> None:
    row = {"question_id": "q1", "passages": ["a", "b"], "ratings": [[5, 0], [0, 4]], "threshold": 3}
    ratings = write_lines(tmp_path / "ratings.jsonl", [row])
    run = write_run(tmp_path / "half.trec", "ac")
    words = ("retrieval", "score", run, "--set", "salt", "--qrels", ratings, "--json")
    rows = by_system(salted.json(*words))
    assert (rows["half"]["coverage"], rows["half"]["R@10"]) == (0.5, 0.5)
    assert 0 < rows["half"]["alpha_ndcg"] < 1
    write_lines(ratings, [row | {"question_id": "other"}])
    assert "contain no question of salt" in salted.fails(*words)


def test_score_lists_submitted_contexts_like_page(salted: Commands, tmp_path: Path) -> None:
    run = write_run(tmp_path / "good.trec", "ab")
    salted.done("submissions", "add", run, "--set", "salt", "--system", "finder", "--kind", "contexts")
    salted.done("metrics", "run", "--set", "salt", "--metric", "context-crux")
    rows = by_system(salted.json("retrieval", "score", "--set", "salt", "--json"))
    assert rows["finder"]["nDCG@10"] == 1
    page = page_of(settings_of(salted.home), "retrieval_page", set="salt").run()
    assert not page.exception
    html = html_of(page)
    assert all(text in html for text in ("finder", "1.000"))


GOLD: Mapping[str, Sequence[str]] = {
    "q 1": ("wiki#12", "my d"),
    "q_1": ("wiki#13",),
    "q2": ("caf\u00e9 d",),
    "q3": ("p2",),
}
FOUND: Mapping[str, Sequence[str]] = {
    "q 1": ("wiki#13", "wiki#12", "other", "my d"),
    "q_1": ("wiki#12", "x", "wiki#13"),
    "q2": ("cafe d", "caf\u00e9 d"),
    "q3": ("p1", "p2"),
}


@pytest.fixture
def named_set(run: Commands, tmp_path: Path) -> Commands:
    """Commands over a set of four questions with gold documents."""
    path = tmp_path / "named.jsonl"
    rows = [{"id": key, "question": f"What of {key}?", "gold_doc_ids": gold} for key, gold in GOLD.items()]
    run.done("sets", "import", write_lines(path, rows))
    return run


@pytest.mark.parametrize("form", ["run", "rows"])
def test_ids_with_spaces_and_numbers_are_matched(named_set: Commands, form: str, tmp_path: Path) -> None:
    path = tmp_path / "found"
    text = ""
    for question, documents in FOUND.items():
        contexts = [{"id": name, "text": "" if name == "p1" else "t"} for name in documents]
        text += json.dumps({"question_id": question, "contexts": contexts}) + "\n"
    if form == "run":
        names = {name: name.replace(" ", "%20") for pair in FOUND.items() for name in (pair[0], *pair[1])}
        text = "".join(
            f"{names[question]} Q0 {names[document]} 1 {10 - rank} r\n"
            for question, documents in FOUND.items()
            for rank, document in enumerate(documents)
        )
    path.write_text(text, encoding="utf-8")
    named_set.done("submissions", "add", path, "--kind", "contexts", "--set", "named", "--system", form)
    row = by_system(named_set.json("retrieval", "score", "--set", "named", "--json"))[form]
    qrels = {question: dict.fromkeys(gold, 1) for question, gold in GOLD.items()}
    run = {
        question: {document: float(-rank) for rank, document in enumerate(documents)}
        for question, documents in FOUND.items()
    }
    for measure in (RR, nDCG @ 10):
        assert row[str(measure)] == pytest.approx(ir_measures.calc_aggregate([measure], qrels, run)[measure])


def test_qrels_names_match_set(named_set: Commands, tmp_path: Path) -> None:
    qrels, path = tmp_path / "qrels.tsv", tmp_path / "run.trec"
    qrels.write_text("query-id\tcorpus-id\tscore\nq 1\tmy d\t2\nq 1\tx#3\t1\n", encoding="utf-8")
    path.write_text("q%201 Q0 my%20d 1 2 r\nq%201 Q0 x#3 2 1 r\n", encoding="utf-8")
    report = named_set.json("retrieval", "score", path, "--set", "named", "--qrels", qrels, "--json")
    row = by_system(report)["run"]
    assert (row["nDCG@10"], row["judged"]) == (1, 1)
