from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.arena.conftest import Commands, Serve, write_lines
from tests.scripted_llm import Ask

Server = Any  # the scripted server's type, or any JSON
FACTS = {
    "built": "The tower was built in 1889.",
    "high": "Its height is 330 metres.",
    "painted": "It is painted every seven years.",
}
SUB_QUESTIONS = {
    "When was the tower built?": "1889",
    "How high is the tower?": "330",
    "How often is the tower painted?": "seven",
    "Who owns the tower?": "owned by",
}
REPORT = "The tower was built in 1889, is 330 metres high and painted every seven years."


@pytest.fixture
def llm(scripted_llm: Serve, run: Commands) -> Server:
    """Start an LLM that writes passages, requests and sub-questions; figures answer the sub-questions."""
    server = scripted_llm()

    def rate(ask: Ask) -> object:
        figure = SUB_QUESTIONS[ask.tagged("sub_question")[0]]
        return {"rating": 5 if figure in ask.tagged("passage")[0] else 1}

    server.handlers.update(
        {
            "generate_sub_questions": lambda _: {"sub_questions": list(SUB_QUESTIONS)},
            "rate_answerability": rate,
            "write_passages": lambda ask: {"passages": ask.tagged("document")[0].split(" / ")},
            "write_request": lambda _: {"request": "Write a report on the tower."},
        }
    )
    run.endpoint = server.url
    return server


def scored_by(run: Commands, server: Server, path: Path, metric: str) -> list[Any]:
    """Score a file's answers with an LLM."""
    words = ("metrics", "score", path, "--metric", metric, "--judge", "reference-free")
    return run.lines(*words, endpoint=server.url)


BUILD = ("--judge", "reference-free", "--json")


@pytest.mark.usefixtures("llm")
def test_controlled_set_is_built_imported_and_rated_once(run: Commands, tmp_path: Path) -> None:
    documents = [{"id": "d1", "title": "History", "text": f"{FACTS['built']} / {FACTS['high']}"}]
    source = {"id": "s1", "domain": "towers", "summary": REPORT, "documents": [*documents, FACTS["painted"]]}
    silent = {**source, "id": "s2", "documents": ["Trees grow in the park."]}
    sources, folder = write_lines(tmp_path / "sources.jsonl", [source, silent]), tmp_path / "towers"
    made = run.json("sets", "build", sources, folder, *BUILD)
    assert (made["sources"], made["questions"], made["passages"], made["sub_questions"]) == (2, 1, 3, 3)
    assert made["dropped_sub_questions"] == 1
    assert "None of the sub-questions" in made["failed"]["s2"]["reason"]
    assert made["calls"] > 0
    rated = json.loads((folder / "ratings.jsonl").read_text())
    assert rated["ratings"] == [[5, 1, 1], [1, 5, 1], [1, 1, 5]]
    assert rated["required"]["static"] == ["d1-1", "d1-2", "d2-1"]
    assert rated["dropped"] == ["Who owns the tower?"]
    (folder / "ratings.jsonl").write_text(json.dumps({**rated, "ratings": [[5, 5, 1], [1, 5, 1], [1, 1, 5]]}))
    question = json.loads((folder / "questions.jsonl").read_text())
    assert question["question"] == "Write a report on the tower."
    assert question["sub_questions"] == list(SUB_QUESTIONS)[:3]
    assert run.json("sets", "import", folder, "--json")["questions"] == 1
    own = {"id": "copy", "text": question["passages"][0]["text"]}
    for system, contexts in (("one", [own]), ("two", [own, {"id": "x", "text": FACTS["painted"]}])):
        path = tmp_path / f"{system}.jsonl"
        path.write_text(json.dumps({"question_id": "s1", "answer": "It was built.", "contexts": contexts}))
        run.done("submissions", "add", path, "--set", "towers", "--system", system)
    words = ("metrics", "run", "--set", "towers", "--metric", "context-crux", "--judge", "reference-free")
    plain = run.json(*words, "--json")
    known = run.json(*words, "--ratings", folder / "ratings.jsonl", "--json")
    assert (plain["mean"], known["mean"]) == (
        pytest.approx((1 / 3 + 2 / 3) / 2),
        pytest.approx((2 / 3 + 1) / 2),
    )
    assert known["judge"].startswith(f"{plain['judge']} ratings=")
    assert run.json(*words, "--ratings", folder / "ratings.jsonl", "--json")["kept"] == 2
    show = ("metrics", "show", *words[2:-2], "--judge", plain["judge"], "--by", "question", "--json")
    assert 0 < run.json(*show)["rows"][0]["alpha_ndcg"]["mean"] < 1
    assert "There is no file other" in run.fails(*words, "--ratings", "other")
    assert "does not use ratings" in run.fails(
        "metrics", "run", "--set", "towers", "--metric", "coverage-icat-s", "--ratings", "ratings"
    )


def test_unusable_sources_are_listed(run: Commands, tmp_path: Path) -> None:
    twice: list[dict[str, str]] = [{"id": "d", "text": "x"}, {"id": "d", "text": "y"}]
    for row, message in (
        ([1], "not a JSON object"),
        ({"summary": "", "documents": ["a"]}, "must be strings"),
        ({"summary": "a", "documents": "a"}, "must be a list"),
        ({"summary": "a", "documents": [{"title": "x"}]}, "Document 1 has no text"),
        ({"summary": "a", "documents": twice}, "same id"),
    ):
        path = write_lines(tmp_path / "sources.jsonl", [row])
        code, out, err = run("sets", "build", path, tmp_path / "out", *BUILD)
        assert (code, message in out + err) == (1, True), message


def test_nuggets_of_set_are_scored_and_displayed(arena_of: Commands, tmp_path: Path) -> None:
    exported = tmp_path / "nuggety"
    arena_of.done("sets", "export", "tiny", exported)
    path = exported / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    stated = [row["passages"][0]["text"].split(". ")[0].rstrip(".") + "." for row in rows]
    for row, text in zip(rows[1:], stated[1:], strict=True):
        missed = {"text": "Nine zebras sang loudly in Quito.", "importance": "okay"}
        row["nuggets"] = [{"text": text, "importance": "vital"}, missed]
    write_lines(path, rows)
    arena_of.done("sets", "import", exported, "--name", "nuggety")
    lines = [{"question_id": row["id"], "answer": text} for row, text in zip(rows, stated, strict=True)]
    answers = write_lines(tmp_path / "us.jsonl", lines)
    arena_of.done("submissions", "add", answers, "--set", "nuggety", "--system", "us")
    words = ("--set", "nuggety", "--metric", "nuggets", "--systems", "us", "--json")
    done = arena_of.json("metrics", "run", *words)
    assert (done["judged"], done["unreadable"]) == (len(rows) - 1, 1), done
    row = arena_of.json("metrics", "show", *words)["rows"][0]
    assert row["score"]["mean"] == pytest.approx(1 / 1.5)
    assert (row["vital_strict"]["mean"], row["all"]["mean"], row["not_support"]["mean"]) == (1.0, 0.5, 1.0)
    judged = ("--set", "nuggety", "--judge", "lexical", "--pairs", "reference", "--systems", "us")
    arena_of.done("rounds", "run", *judged, "--name", "r")
    arena_of.done("rounds", "publish", "r")
    board = arena_of.json("leaderboard", "show", "r", "--json")
    (line,) = [line for line in board["lines"]["overall"] if line["system"] == "us"]
    assert line["scores"]["nuggets"]["mean"] == pytest.approx(1 / 1.5)


def test_llm_grades_ten_nuggets_per_request(arena_of: Commands, scripted_llm: Serve, tmp_path: Path) -> None:
    server = scripted_llm()
    sizes: list[int] = []

    def assign(ask: Ask) -> object:
        nuggets = ask.identified("nugget")
        sizes.append(len(nuggets))
        said = [
            {"nugget": key, "assignment": grade}
            for key, text in nuggets.items()
            for grade in ("support", "partial_support", "not_support")
            if grade in text.split()
        ]
        return {"assigned": said}

    server.handlers["assign_nuggets"] = assign
    nuggets: list[object] = [f"{number} support" for number in range(8)]
    nuggets += ["a partial_support", "a support not_support", "a not_support", "left out"]
    nuggets += [{"text": "okay support", "importance": "okay"}]
    line = {"id": "q", "question": "What?", "answer": "It is so.", "nuggets": nuggets}
    path = write_lines(tmp_path / "a.jsonl", [line, {**line, "id": "r", "answer": REFUSAL}])
    score, refusal = scored_by(arena_of, server, path, "nuggets")
    assert sorted(sizes) == [3, 10]
    counts = score["details"]["counts"]
    assert (counts["support"], counts["partial_support"], counts["not_support"]) == (9, 1, 1)
    assert (counts["undecided"], counts["vital"], counts["okay"]) == (2, 12, 1)
    assert score["score"] == pytest.approx((8 + 0.5 + 0.5) / (10 + 0.5))
    assert score["details"]["vital_strict"] == pytest.approx(8 / 10)
    assert (refusal["outcome"], refusal["score"]) == ("judged", 0)


REFUSAL = "I couldn't find an answer."
LINE = {
    "id": "q",
    "question": "When?",
    "answer": "It opened in 1905 [1]. It closed in 1950 [1][2]. It is red [2].",
    "passages": [{"id": "p1", "text": "Opened 1905."}, {"id": "p2", "text": "Closed 1950, half."}],
}


def _cited(path: Path, sentence: str) -> Path:
    rows = [
        {"question_id": f"q{n}", "answer": f"Item {n} is {word}{sentence}"}
        for n, word in ((n, ["red", "blue", "green", "old", "new", "round"][n % 6]) for n in range(12))
    ]
    return write_lines(path, rows)


@pytest.mark.slow
def test_publishing_scores_citations(arena_of: Commands, tmp_path: Path) -> None:
    citing = _cited(tmp_path / "citing.jsonl", " [1]. Nobody knows more. Its owner lives in Peru [1].")
    silent = _cited(tmp_path / "silent.jsonl", ".")
    for path in (citing, silent):
        arena_of.done("submissions", "add", path, "--set", "tiny", "--system", path.stem)
    words = ("--set", "tiny", "--judge", "lexical", "--pairs", "all", "--name", "r")
    arena_of.done("rounds", "run", *words, "--systems", "citing,silent")
    code, _, said = arena_of("rounds", "publish", "r")
    assert code == 0, said
    assert "not scoring citation-support of" in said
    assert "silent" in said.partition("not scoring citation-support of")[2].splitlines()[0]
    board = arena_of.json("leaderboard", "show", "r", "--json")
    lines = {line["system"]: line["scores"] for line in board["lines"]["overall"]}
    assert "citation-support" in lines["citing"]
    assert "citation-support" not in lines["silent"]


def test_answers_without_citations_are_counted(arena_of: Commands, tmp_path: Path) -> None:
    path = _cited(tmp_path / "silent.jsonl", ".")
    arena_of.done("submissions", "add", path, "--set", "tiny", "--system", "silent")
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "silent")
    _, out, _ = arena_of("metrics", "run", *metric)
    assert "scored: 12 × The answer cites nothing" in out
    table = arena_of.json("metrics", "show", *metric, "--json")
    assert table["notes"] == ["12 of 12 answers: The answer cites nothing, so its citation support is 0."]
    assert "12 of 12 answers" in arena_of("metrics", "show", *metric)[2]


def test_llm_grades_each_citation_separately(arena_of: Commands, scripted_llm: Serve, tmp_path: Path) -> None:
    server = scripted_llm()

    def rate(ask: Ask) -> object:
        if not ask.tagged("sentence") or "red" in ask.tagged("sentence")[0]:
            return "I would rather not say."
        (sentence,), (passage,) = ask.tagged("sentence"), ask.tagged("passage")
        year = sentence.rstrip(".").split()[-1]
        return {"support": ("partial" if "half" in passage else "full") if year in passage else "none"}

    server.handlers["rate_support"] = rate
    (line,) = scored_by(arena_of, server, write_lines(tmp_path / "a.jsonl", [LINE]), "citation-support")
    details = line["details"]
    assert line["outcome"] == "judged", details
    assert details["precision"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert details["recall"] == pytest.approx((1 + 0.5) / 2)
    assert (details["counts"]["undecided"], details["counts"]["partial"]) == (1, 1)
    assert line["score"] == pytest.approx(0.6)


STYLES = {
    "It is red [2], [3].": [["second", "third"]],
    "It is red [2-3]. It is old.": [["second", "third"], []],
    "It is red\u30102\u2020source\u3011. Old\u30104:3\u2020source\u3011.": [["second"], ["third"]],
    "It is red [^3].\n\nIt is old [third].": [["third"], ["third"]],
    "Set x[1] = 3 to have it [1] (see [2]).": [["first", "second"]],
    "It is red [7]. It is old [2].": [[], ["second"]],
}
CONTEXTS = [
    {"id": "first", "text": ""},
    {"id": "second", "text": "It is red."},
    {"id": "third", "text": "Old."},
]


def _cited_in(details: Any) -> list[list[str]]:  # noqa: ANN401 - any JSON
    return [
        [citation["passage"] for citation in sentence["citations"] if citation["passage"]]
        for sentence in details["sentences"]
    ]


def test_every_input_format_has_same_citations(arena_of: Commands, tmp_path: Path) -> None:
    rows = [
        {"question_id": f"q{n}", "answer": answer, "contexts": CONTEXTS} for n, answer in enumerate(STYLES)
    ]
    path = write_lines(tmp_path / "answers.jsonl", rows)
    lines = [{"id": row["question_id"], "question": "What is it?", **row} for row in rows]
    items = write_lines(tmp_path / "items.jsonl", lines)
    scored = arena_of.lines("metrics", "score", items, "--metric", "citation-support")
    assert [_cited_in(line["details"]) for line in scored] == list(STYLES.values())
    arena_of.done("submissions", "add", path, "--set", "tiny", "--system", "us")
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "us")
    arena_of.done("metrics", "run", *metric)
    arena_of.done("metrics", "export", tmp_path / "scores.json", *metric)
    stored = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    of_rows = {row["question_id"]: row for row in (stored if isinstance(stored, list) else stored["scores"])}
    scores = [of_rows[row["question_id"]] for row in rows]
    assert [_cited_in(row["details"]) for row in scores] == list(STYLES.values())
    assert [row["score"] for row in scores] == [line["score"] for line in scored]


BRIDGE = {
    "id": "q",
    "question": "What of the bridge?",
    "reference": "The iron bridge was opened in 1905. Two stone towers carry it. A ferry ran before.",
    "answer": "It was opened in 1905, the record says. There are towers.",
}
GOOD = {"f1": ("covered", "opened in 1905"), "f2": ("partly", "There are … towers."), "f3": ("missing", "")}


def graded(
    run: Commands, server: Server, folder: Path, *replies: dict[str, tuple[str, str]]
) -> tuple[list[Any], list[list[str]]]:
    """Score an answer and a refusal with scripted replies; return scores and the facts in each request."""
    requests: list[list[str]] = []

    def grade(ask: Ask) -> object:
        facts = ask.identified("fact")
        requests.append(list(facts))
        said = replies[min(len(requests), len(replies)) - 1].items()
        return {
            "facts": [{"fact": key, "state": one[0], "quote": one[1]} for key, one in said if key in facts]
        }

    server.handlers["grade_facts"] = grade
    path = write_lines(folder / "answers.jsonl", [BRIDGE, {**BRIDGE, "id": "r", "answer": REFUSAL}])
    return scored_by(run, server, path, "reference-coverage"), requests


def test_llm_gets_one_request_per_answer(arena_of: Commands, scripted_llm: Serve, tmp_path: Path) -> None:
    (score, refusal), requests = graded(arena_of, scripted_llm(), tmp_path, GOOD)
    assert requests == [["f1", "f2", "f3"]]
    assert score["score"] == pytest.approx((1 + 0.5) / 3)
    facts = score["details"]["facts"]
    assert [(fact["state"], fact["evidence"]) for fact in facts] == list(GOOD.values())
    assert (refusal["outcome"], refusal["score"]) == ("judged", 0)


@pytest.mark.parametrize(
    "bad",
    [
        {**GOOD, "f1": ("covered", "opened in 1950")},
        {key: GOOD[key] for key in ("f1", "f3")},
        {**GOOD, "f2": ("partly", "")},
    ],
    ids=["a quote that is not in the answer", "a fact left out", "no quote"],
)
def test_undecided_reply_is_retried_once(
    arena_of: Commands, scripted_llm: Serve, tmp_path: Path, bad: dict[str, tuple[str, str]]
) -> None:
    (score, _), facts = graded(arena_of, scripted_llm(), tmp_path, bad, GOOD)
    assert [len(part) for part in facts] == [3, 1]
    assert score["score"] == pytest.approx((1 + 0.5) / 3)
    (score, _), facts = graded(arena_of, scripted_llm(), tmp_path, bad)
    assert [len(part) for part in facts] == [3, 1]
    assert (score["outcome"], score["score"]) == ("unreadable", None)
    assert "1 of 3 facts" in score["details"]["reason"]
