"""ICAT, CRUX, controlled sets and agreement as a user runs them, with an LLM that answers by rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Server = Any  # the scripted server's own type, or any JSON
Ask = Any
Commands = Any  # what the fixture `run` of tests/arena/conftest.py gives
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
@pytest.mark.parametrize(
    ("metric", "covered", "score"),
    [
        ("coverage-icat-s", [True, True, False], 2 / 3),
        ("coverage-icat-a", [True, True, False], 2 / 3),
    ],
)
def test_icat_gives_the_values_known_in_advance(
    run: Commands, items: Path, metric: str, covered: list[bool], score: float
) -> None:
    """Two of three claims are grounded and two of three aspects covered: factuality, coverage and F1 2/3."""
    line = scored(run, items, metric)
    details = line["details"]
    assert [claim["grounded"] for claim in details["claims"]] == [True, True, False]
    assert [aspect["covered"] for aspect in details["aspects"]] == covered
    assert (details["factuality"], details["coverage"]) == pytest.approx((2 / 3, 2 / 3))
    assert line["score"] == pytest.approx(score)
    weighted = scored(run, items, metric, "--option", "beta=2")
    assert weighted["score"] == pytest.approx(2 / 3)


def test_only_grounded_claims_are_aligned(run: Commands, items: Path, llm: Server) -> None:
    """The alignment prompt never has an ungrounded claim, nor, with generated aspects, the given ones."""
    scored(run, items, "coverage-icat-a")
    asked = [
        body
        for body in llm.log.bodies
        if body.get("response_format", {}).get("json_schema", {}).get("name") == "align_aspects"
    ]
    assert len(asked) == 1
    text = asked[0]["messages"][-1]["content"]
    assert LIE not in text
    assert "painted" not in text


@pytest.mark.usefixtures("llm")
def test_crux_gives_the_values_known_in_advance(run: Commands, items: Path) -> None:
    """Three of four sub-questions are answerable; the context answers one of them, the answer two."""
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
        ("coverage-icat-s", "classify_relation"),
        ("context-crux", "generate_sub_questions"),
        ("context-crux", "rate_answerability"),
        ("answer-crux", "rate_answerability"),
    ],
)
def test_malformed_replies_leave_the_answer_unscored(
    run: Commands,
    items: Path,
    llm: Server,
    metric: str,
    task: str,
) -> None:
    """Whichever task it is: one re-ask, then no number but the reason, with the task's name."""
    llm.handlers[task] = lambda _: "I would rather not say."
    line = scored(run, items, metric)
    assert (line["outcome"], line["score"]) == ("unreadable", None)
    assert f"{task} stayed malformed" in line["details"]["reason"]


@pytest.mark.parametrize("rating", [6, -1, 3.5, "high", None])
def test_ratings_off_the_scale_are_no_ratings(
    run: Commands,
    items: Path,
    llm: Server,
    rating: object,
) -> None:
    """A rating that is no whole number of 0 to 5 is malformed, neither clipped nor 0."""
    llm.handlers["rate_answerability"] = lambda _: {"rating": rating}
    line = scored(run, items, "context-crux")
    assert (line["outcome"], line["score"]) == ("unreadable", None)


def test_no_answerable_sub_question_is_undefined(
    run: Commands,
    items: Path,
    llm: Server,
) -> None:
    """If the passages answer nothing there is nothing to cover: no score, neither 0 nor 1."""
    llm.handlers["rate_answerability"] = lambda _: {"rating": 2}
    for metric in ("context-crux", "answer-crux"):
        line = scored(run, items, metric)
        assert line["score"] is None
        assert "No sub-question can be answered" in line["details"]["reason"]


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
    """Passages, request and sub-questions are written and rated; what answers nothing is told, not kept."""
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
    """With `--ratings` the set's own ratings count, and are kept apart; a context of other texts is rated."""
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


@pytest.mark.parametrize("task", ["write_passages", "write_request", "rate_answerability"])
def test_a_set_without_a_question_is_not_written(
    run: Commands,
    sources: Path,
    tmp_path: Path,
    llm: Server,
    task: str,
) -> None:
    """If every source fails, the command fails with the first reason and writes nothing."""
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
    """Nothing is asked where the file has problems."""
    path = tmp_path / "sources.jsonl"
    path.write_text(json.dumps(row) + "\n")
    code, out, err = run("sets", "build", path, tmp_path / "out", *BUILD)
    assert code == 1
    assert message in out + err


def test_a_judge_without_an_llm_builds_no_set(run: Commands, sources: Path, tmp_path: Path) -> None:
    """The embedded judge cannot write."""
    code, _, err = run("sets", "build", sources, tmp_path / "out", "--judge", "lexical")
    assert (code, "asks no LLM" in err) == (1, True)
