"""ICAT, CRUX, nuggets, citations and reference coverage by an LLM that answers by rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arena.conftest import Commands

Server = Any  # the scripted server's own type, or any JSON
Ask = Any
FACTS = {
    "built": "The tower was built in 1889.",
    "high": "Its height is 330 metres.",
    "painted": "It is painted every seven years.",
}
ASKED = {
    "When was the tower built?": "1889",
    "How high is the tower?": "330",
    "How often is the tower painted?": "seven",
    "Who owns the tower?": "owned by",
}
LIE = "It is made of wood."
REPORT = "The tower was built in 1889, is 330 metres high and painted every seven years."


def one(found: list[str]) -> str:
    """The only text between tags of a kind."""
    (text,) = found
    return text


def serve_rules(server: Server) -> Server:
    """Sentences are claims, equal sentences support each other, figures answer the sub-questions."""

    def extract(ask: Ask) -> object:
        text = one(ask.tagged("answer") or ask.tagged("text"))
        return {"claims": [{"text": f"{part.strip('. ')}.", "kind": "fact"} for part in text.split(". ")]}

    def relate(ask: Ask) -> object:
        held = one(ask.tagged("hypothesis")) in one(ask.tagged("premise"))
        return {"relation": "entailment" if held else "neutral"}

    def align(ask: Ask) -> object:
        covered = [
            {"aspect": name, "claims": by}
            for name, word in ask.identified("aspect").items()
            if (by := [number for number, text in ask.identified("claim").items() if word in text])
        ]
        return {"covered": covered}

    def rate(ask: Ask) -> object:
        figure = ASKED[one(ask.tagged("sub_question"))]
        return {"rating": 5 if figure in one(ask.tagged("passage")) else 1}

    server.handlers.update(
        {
            "extract_claims": extract,
            "revise_claims": lambda _: {"claims": []},
            "classify_relation": relate,
            "align_aspects": align,
            "generate_aspects": lambda _: {"aspects": ["built", "height", "price", "built"]},
            "generate_sub_questions": lambda _: {"sub_questions": list(ASKED)},
            "rate_answerability": rate,
            "write_passages": lambda ask: {"passages": one(ask.tagged("document")).split(" / ")},
            "write_request": lambda _: {"request": "Write a report on the tower."},
        }
    )
    return server


@pytest.fixture
def llm(scripted_llm: Callable[..., Any], run: Commands) -> Server:
    """A scripted LLM that the commands ask."""
    server = serve_rules(scripted_llm())
    run.endpoint = server.url
    return server


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """One answer: two grounded claims of three, two aspects of three, context with one passage of three."""
    passages = [{"id": name, "text": text} for name, text in FACTS.items()]
    row = {
        "id": "t1",
        "question": "Tell me about the tower.",
        "answer": f"{FACTS['built']} {FACTS['high']} {LIE}",
        "passages": passages,
        "contexts": [passages[0], {"id": "x", "text": "Trees grow in the park."}],
        "aspects": ["built", "height", "painted"],
        "reference": REPORT,
    }
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(row) + "\n")
    return path


def scored(run: Commands, items: Path, metric: str, *more: object) -> Server:
    """The score of the one answer by an LLM."""
    words = ("metrics", "score", items, "--metric", metric, "--judge", "reference-free", *more)
    (line,) = run.lines(*words)
    return line


@pytest.mark.usefixtures("llm")
@pytest.mark.parametrize("metric", ["coverage-icat-s", "coverage-icat-a"])
def test_icat_gives_the_values_known_in_advance(run: Commands, items: Path, metric: str) -> None:
    line = scored(run, items, metric)
    details = line["details"]
    assert [claim["grounded"] for claim in details["claims"]] == [True, True, False]
    assert [aspect["covered"] for aspect in details["aspects"]] == [True, True, False]
    assert (details["factuality"], details["coverage"]) == pytest.approx((2 / 3, 2 / 3))
    assert line["score"] == pytest.approx(2 / 3)


@pytest.mark.usefixtures("llm")
def test_crux_gives_the_values_known_in_advance(run: Commands, items: Path) -> None:
    context, answer = (scored(run, items, metric) for metric in ("context-crux", "answer-crux"))
    details = context["details"]
    assert details["sub_questions"] == list(ASKED)
    assert details["answerable"] == [0, 1, 2]
    assert (context["score"], answer["score"]) == pytest.approx((1 / 3, 2 / 3))
    assert (details["answered"], details["missing"]) == ([0], [1, 2])
    assert details["missing_passages"] == ["high", "painted"]
    assert [use["use"] for use in details["uses"]] == ["required", "irrelevant"]
    assert details["alpha_ndcg"] == pytest.approx(1 / (1 + 1 / 1.5849625007 + 1 / 2), abs=1e-6)
    assert answer["details"]["answered"] == [0, 1]


@pytest.mark.parametrize(
    ("metric", "task"),
    [
        ("coverage-icat-a", "generate_aspects"),
        ("coverage-icat-s", "align_aspects"),
        ("context-crux", "rate_answerability"),
    ],
)
def test_malformed_replies_leave_the_answer_unscored(
    run: Commands, items: Path, llm: Server, metric: str, task: str
) -> None:
    llm.handlers[task] = lambda _: "I would rather not say."
    line = scored(run, items, metric)
    assert (line["outcome"], line["score"]) == ("unreadable", None)
    assert f"{task} stayed malformed" in line["details"]["reason"]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Two sources: the first with two documents, the second without an answer to anything."""
    rows = [
        {
            "id": "s1",
            "domain": "towers",
            "summary": REPORT,
            "documents": [
                {"id": "d1", "title": "History", "text": f"{FACTS['built']} / {FACTS['high']}"},
                FACTS["painted"],
            ],
        },
        {"id": "s2", "domain": "towers", "summary": REPORT, "documents": ["Trees grow in the park."]},
    ]
    path = tmp_path / "sources.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


BUILD = ("--judge", "reference-free", "--json")


@pytest.mark.usefixtures("llm")
def test_a_controlled_set_is_built_and_imported(run: Commands, sources: Path, tmp_path: Path) -> None:
    folder = tmp_path / "towers"
    made = run.json("sets", "build", sources, folder, *BUILD)
    assert (made["sources"], made["questions"], made["passages"], made["sub_questions"]) == (2, 1, 3, 3)
    assert made["dropped_sub_questions"] == 1
    assert "None of the sub-questions" in made["failed"]["s2"]["reason"]
    assert made["calls"] > 0
    rated = json.loads((folder / "ratings.jsonl").read_text())
    assert rated["ratings"] == [[5, 1, 1], [1, 5, 1], [1, 1, 5]]
    assert rated["required"]["static"] == ["d1-1", "d1-2", "d2-1"]
    assert rated["dropped"] == ["Who owns the tower?"]
    assert run.json("sets", "import", folder, "--json")["questions"] == 1
    question = json.loads((folder / "questions.jsonl").read_text())
    assert question["question"] == "Write a report on the tower."
    assert question["sub_questions"] == list(ASKED)[:3]


@pytest.mark.usefixtures("llm")
def test_what_was_rated_while_building_is_not_rated_again(
    run: Commands, sources: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "towers"
    run.json("sets", "build", sources, folder, *BUILD)
    rated = json.loads((folder / "ratings.jsonl").read_text())
    (folder / "ratings.jsonl").write_text(json.dumps({**rated, "ratings": [[5, 5, 1], [1, 5, 1], [1, 1, 5]]}))
    question = json.loads((folder / "questions.jsonl").read_text())
    assert run("sets", "import", folder)[0] == 0
    own = {"id": "copy", "text": question["passages"][0]["text"]}
    for system, contexts in (("one", [own]), ("two", [own, {"id": "x", "text": FACTS["painted"]}])):
        path = tmp_path / f"{system}.jsonl"
        path.write_text(json.dumps({"question_id": "s1", "answer": "It was built.", "contexts": contexts}))
        assert run("submissions", "add", path, "--set", "towers", "--system", system)[0] == 0
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
    code, _, err = run(*words, "--ratings", "other")
    assert (code, "There is no file other" in err) == (1, True)
    code, _, err = run(
        "metrics", "run", "--set", "towers", "--metric", "coverage-icat-s", "--ratings", "ratings"
    )
    assert (code, "takes no ratings" in err) == (1, True)


@pytest.mark.parametrize("task", ["write_passages", "rate_answerability"])
def test_a_set_without_a_question_is_not_written(
    run: Commands, sources: Path, tmp_path: Path, llm: Server, task: str
) -> None:
    llm.handlers[task] = lambda _: {"nonsense": 1}
    code, _, err = run("sets", "build", sources, tmp_path / "out", *BUILD)
    assert code == 1
    assert task in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1], "not a JSON object"),
        ({"summary": "", "documents": ["a"]}, "not all texts"),
        ({"summary": "a", "documents": "a"}, "no list"),
        ({"summary": "a", "documents": [{"title": "x"}]}, "Document 1 has no text"),
        ({"summary": "a", "documents": []}, "no summary or no documents"),
        ({"summary": "a", "documents": [{"id": "d", "text": "x"}, {"id": "d", "text": "y"}]}, "one id"),
    ],
)
def test_sources_that_cannot_be_used_are_listed(
    run: Commands, tmp_path: Path, row: object, message: str
) -> None:
    path = tmp_path / "sources.jsonl"
    path.write_text(json.dumps(row) + "\n")
    code, out, err = run("sets", "build", path, tmp_path / "out", *BUILD)
    assert code == 1
    assert message in out + err


def test_nuggets_of_a_set_are_scored_and_shown(arena_of: Commands, tmp_path: Path) -> None:
    exported = tmp_path / "nuggety"
    assert arena_of("sets", "export", "tiny", exported)[0] == 0
    path = exported / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    stated = [row["passages"][0]["text"].split(". ")[0].rstrip(".") + "." for row in rows]
    for row, text in zip(rows[1:], stated[1:], strict=True):
        missed = {"text": "Nine zebras sang loudly in Quito.", "importance": "okay"}
        row["nuggets"] = [{"text": text, "importance": "vital"}, missed]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert arena_of("sets", "import", exported, "--name", "nuggety")[0] == 0
    answers = tmp_path / "us.jsonl"
    lines = [{"question_id": row["id"], "answer": text} for row, text in zip(rows, stated, strict=True)]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert arena_of("submissions", "add", answers, "--set", "nuggety", "--system", "us")[0] == 0
    words = ("--set", "nuggety", "--metric", "nuggets", "--systems", "us", "--json")
    done = arena_of.json("metrics", "run", *words)
    assert (done["judged"], done["unreadable"]) == (len(rows) - 1, 1), done
    row = arena_of.json("metrics", "show", *words)["rows"][0]
    assert row["score"]["mean"] == pytest.approx(1 / 1.5)
    assert (row["vital_strict"]["mean"], row["all"]["mean"], row["not_support"]["mean"]) == (1.0, 0.5, 1.0)
    judged = (
        "--set",
        "nuggety",
        "--judge",
        "lexical",
        "--pairs",
        "reference",
        "--name",
        "r",
        "--systems",
        "us",
    )
    assert arena_of("rounds", "run", *judged)[0] == 0
    assert arena_of("rounds", "publish", "r")[0] == 0
    board = arena_of.json("leaderboard", "show", "r", "--json")
    (line,) = [line for line in board["lines"]["overall"] if line["system"] == "us"]
    assert line["scores"]["nuggets"]["mean"] == pytest.approx(1 / 1.5)


def test_an_llm_grades_nuggets_ten_at_a_time(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    server = scripted_llm()
    shown: list[int] = []

    def assign(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        nuggets = ask.identified("nugget")
        shown.append(len(nuggets))
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
    path = tmp_path / "answers.jsonl"
    refusal = {**line, "id": "r", "answer": "I couldn't find an answer."}
    path.write_text("".join(json.dumps(one) + "\n" for one in (line, refusal)), encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "nuggets", "--judge", "reference-free")
    found, refused = arena_of.lines(*words, endpoint=server.url)
    assert sorted(shown) == [3, 10]
    counts = found["details"]["counts"]
    assert (counts["support"], counts["partial_support"], counts["not_support"]) == (9, 1, 1)
    assert (counts["undecided"], counts["vital"], counts["okay"]) == (2, 12, 1)
    assert found["score"] == pytest.approx((8 + 0.5 + 0.5) / (10 + 0.5))
    assert found["details"]["vital_strict"] == pytest.approx(8 / 10)
    assert (refused["outcome"], refused["score"]) == ("judged", 0)


LINE = {
    "id": "q",
    "question": "When?",
    "answer": "It opened in 1905 [1]. It closed in 1950 [1][2]. It is red [2].",
    "passages": [{"id": "p1", "text": "Opened 1905."}, {"id": "p2", "text": "Closed 1950, half."}],
}


def test_answers_of_trecs_rag_track_are_taken_and_scored(arena_of: Commands, tmp_path: Path) -> None:
    exported = tmp_path / "exported"
    assert arena_of("sets", "export", "tiny", exported)[0] == 0
    questions = [json.loads(line) for line in (exported / "questions.jsonl").read_text().splitlines()]
    rows = [
        {
            "run_id": "us",
            "topic_id": question["id"],
            "references": [passage["id"] for passage in question["passages"]],
            "answer": [
                {"text": question["passages"][0]["text"].split(". ")[0].rstrip(".") + ".", "citations": [0]},
                {"text": "Nobody knows more.", "citations": []},
            ],
        }
        for question in questions
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "us")[0] == 0
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "us", "--json")
    done = arena_of.json("metrics", "run", *metric)
    assert done["judged"] == len(rows), done
    row = arena_of.json("metrics", "show", *metric)["rows"][0]
    assert (row["precision"]["mean"], row["recall"]["mean"], row["uncited"]["mean"]) == (1.0, 0.5, 1.0)


def _cited(path: Path, sentence: str) -> Path:
    rows = [
        {"question_id": f"q{n}", "answer": f"Item {n} is {word}{sentence}"}
        for n, word in ((n, ["red", "blue", "green", "old", "new", "round"][n % 6]) for n in range(12))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_publishing_scores_citations_of_systems_that_cite(arena_of: Commands, tmp_path: Path) -> None:
    citing = _cited(tmp_path / "citing.jsonl", " [1]. Nobody knows more. Its owner lives in Peru [1].")
    silent = _cited(tmp_path / "silent.jsonl", ".")
    for path in (citing, silent):
        assert arena_of("submissions", "add", path, "--set", "tiny", "--system", path.stem)[0] == 0
    words = ("--set", "tiny", "--judge", "lexical", "--pairs", "all", "--name", "r")
    assert arena_of("rounds", "run", *words, "--systems", "citing,silent")[0] == 0
    code, _, said = arena_of("rounds", "publish", "r")
    assert code == 0, said
    assert "not scoring citation-support of" in said
    assert "silent" in said.partition("not scoring citation-support of")[2].splitlines()[0]
    board = arena_of.json("leaderboard", "show", "r", "--json")
    lines = {line["system"]: line["scores"] for line in board["lines"]["overall"]}
    assert "citation-support" in lines["citing"]
    assert "citation-support" not in lines["silent"]


def test_answers_that_cite_nothing_are_counted_never_0_in_silence(arena_of: Commands, tmp_path: Path) -> None:
    path = _cited(tmp_path / "silent.jsonl", ".")
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "silent")[0] == 0
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "silent")
    _, out, _ = arena_of("metrics", "run", *metric)
    assert "scored: 12 × The answer cites nothing" in out
    table = arena_of.json("metrics", "show", *metric, "--json")
    assert table["notes"] == ["12 of 12 answers: The answer cites nothing, so its citation support is 0."]
    assert "12 of 12 answers" in arena_of("metrics", "show", *metric)[2]


def test_an_llm_grades_each_citation_by_itself(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    server = scripted_llm()

    def rate(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        if not ask.tagged("sentence") or "red" in ask.tagged("sentence")[0]:
            return "I would rather not say."
        (sentence,), (passage,) = ask.tagged("sentence"), ask.tagged("passage")
        year = sentence.rstrip(".").split()[-1]
        return {"support": ("partial" if "half" in passage else "full") if year in passage else "none"}

    server.handlers["rate_support"] = rate
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "citation-support", "--judge", "reference-free")
    (line,) = arena_of.lines(*words, endpoint=server.url)
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
        [one["passage"] for one in sentence["citations"] if one["passage"]]
        for sentence in details["sentences"]
    ]


def test_every_road_reads_the_same_citations(arena_of: Commands, tmp_path: Path) -> None:
    rows = [
        {"question_id": f"q{n}", "answer": answer, "contexts": CONTEXTS} for n, answer in enumerate(STYLES)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    items = tmp_path / "items.jsonl"
    lines = [{"id": row["question_id"], "question": "What is it?", **row} for row in rows]
    items.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    scored = arena_of.lines("metrics", "score", items, "--metric", "citation-support")
    assert [_cited_in(line["details"]) for line in scored] == list(STYLES.values())
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "us")[0] == 0
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "us")
    assert arena_of("metrics", "run", *metric)[0] == 0
    assert arena_of("metrics", "export", tmp_path / "scores.json", *metric)[0] == 0
    stored = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    of_rows = {row["question_id"]: row for row in (stored if isinstance(stored, list) else stored["scores"])}
    kept = [of_rows[row["question_id"]] for row in rows]
    assert [_cited_in(row["details"]) for row in kept] == list(STYLES.values())
    assert [row["score"] for row in kept] == [line["score"] for line in scored]


BRIDGE = {
    "id": "q",
    "question": "What of the bridge?",
    "reference": "The iron bridge was opened in 1905. Two stone towers carry it. A ferry ran before.",
    "answer": "It was opened in 1905, the record says. There are towers.",
}
GOOD = {"f1": ("covered", "opened in 1905"), "f2": ("partly", "There are … towers."), "f3": ("missing", "")}


def replies(said: dict[str, tuple[str, str]], asked: dict[str, str]) -> dict[str, object]:
    """A reply that grades those of the asked facts that are named."""
    return {
        "facts": [
            {"fact": key, "state": state, "quote": quote}
            for key, (state, quote) in said.items()
            if key in asked
        ]
    }


def test_an_llm_is_asked_once_an_answer(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    server = scripted_llm()
    shown: list[dict[str, str]] = []

    def grade(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        shown.append(ask.identified("fact"))
        return replies(GOOD, shown[-1])

    server.handlers["grade_facts"] = grade
    path = tmp_path / "answers.jsonl"
    refusal = {**BRIDGE, "id": "r", "answer": "I couldn't find an answer."}
    path.write_text("".join(json.dumps(one) + "\n" for one in (BRIDGE, refusal)), encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "reference-coverage", "--judge", "reference-free")
    found, refused = arena_of.lines(*words, endpoint=server.url)
    assert [list(one) for one in shown] == [["f1", "f2", "f3"]]
    assert found["score"] == pytest.approx((1 + 0.5) / 3)
    facts = found["details"]["facts"]
    assert [(fact["state"], fact["evidence"]) for fact in facts] == list(GOOD.values())
    assert (refused["outcome"], refused["score"]) == ("judged", 0)


@pytest.mark.parametrize(
    "bad",
    [
        {**GOOD, "f1": ("covered", "opened in 1950")},
        {key: GOOD[key] for key in ("f1", "f3")},
        {**GOOD, "f2": ("partly", "")},
    ],
    ids=["a quote that is not in the answer", "a fact left out", "no quote"],
)
@pytest.mark.parametrize("mends", [True, False])
def test_what_a_reply_leaves_undecided_is_asked_once_more(
    arena_of: Commands,
    scripted_llm: Callable[..., Any],
    tmp_path: Path,
    bad: dict[str, tuple[str, str]],
    mends: bool,
) -> None:
    server = scripted_llm()
    shown: list[dict[str, str]] = []

    def grade(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        shown.append(ask.identified("fact"))
        return replies(GOOD if mends and len(shown) > 1 else bad, shown[-1])

    server.handlers["grade_facts"] = grade
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(BRIDGE) + "\n", encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "reference-coverage", "--judge", "reference-free")
    (found,) = arena_of.lines(*words, endpoint=server.url)
    assert [len(one) for one in shown] == [3, 1]
    if mends:
        assert found["score"] == pytest.approx((1 + 0.5) / 3)
    else:
        assert (found["outcome"], found["score"]) == ("unreadable", None)
        assert "1 of 3 facts" in found["details"]["reason"]


def test_a_reply_without_json_leaves_the_answer_unscored(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    server = scripted_llm()
    server.handlers["grade_facts"] = lambda _: "I cannot help with that."
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(BRIDGE) + "\n", encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "reference-coverage", "--judge", "reference-free")
    (found,) = arena_of.lines(*words, endpoint=server.url)
    assert found["score"] is None
    assert found["outcome"] in {"unreadable", "refused"}


def test_the_plan_names_one_request_an_answer(arena_of: Commands) -> None:
    words = ("--set", "tiny", "--judge", "reference-free", "--metric", "reference-coverage", "--json")
    (plan,) = arena_of.json("metrics", "plan", *words)
    assert plan["requests"] == pytest.approx(plan["pending"], abs=plan["pending"] / 2)
    assert 0 < plan["cost_usd"] < plan["cost_usd_most"]
    assert [task["task"] for task in plan["tasks"]] == ["grade_facts"]
