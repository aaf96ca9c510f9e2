"""`arena metrics run` and `metrics score` as a user runs them, against an LLM that answers by rule."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.settings import read_settings
from tests.arena.conftest import Commands

Words = Sequence[object]
NLI = "comprehensiveness-nli"
RUN = ("metrics", "run", "--set", "tiny", "--metric", NLI, "--json")


def key(text: str) -> str:
    """A statement without case and punctuation."""
    return re.sub(r"\W+", " ", text.casefold()).strip()


def serve_rules(server: Any) -> Any:  # noqa: ANN401 - the scripted server's own type
    """Sentences are claims, everything is relevant, equal words mean the same, all else is neutral."""

    def extract(ask: Any) -> object:  # noqa: ANN401 - as above
        (text,) = ask.tagged("text") or ask.tagged("answer") or ask.tagged("passage")
        found = [one.strip() for one in re.split(r"(?<=[.])\s+", text) if one.strip()]
        return {"claims": [{"text": one, "kind": "fact"} for one in found]}

    def relate(ask: Any) -> object:  # noqa: ANN401 - as above
        same = key(ask.tagged("premise")[0]) == key(ask.tagged("hypothesis")[0])
        return {"relation": "entailment" if same else "neutral"}

    server.handlers["extract_claims"] = extract
    server.handlers["revise_claims"] = lambda _: {"claims": []}
    server.handlers["rate_relevance"] = lambda _: {"relevance": 5}
    server.handlers["classify_relation"] = relate
    return server


@pytest.mark.long
@pytest.mark.parametrize("concurrency", [4, 16])
def test_an_llm_scores_a_set_and_what_is_scored_is_not_asked_again(
    arena_of: Commands, scripted_llm: Callable[..., Any], concurrency: int
) -> None:
    """Known facts give known scores; a second run asks nothing; the embedded scores stand beside them."""
    server = serve_rules(scripted_llm())
    words = (*RUN, "--judge", "reference-free", "--concurrency", concurrency)
    done = arena_of.json(*words, endpoint=server.url)
    assert (done["judged"], done["pending"], done["kept"]) == (24, 0, 0)
    assert done["mean"] == pytest.approx(0.75)
    assert done["calls"] == server.log.calls > 0
    assert done["judge"] == f"reference-free@{done['model']}"
    asked = server.log.calls
    again = arena_of.json(*words, endpoint=server.url)
    assert (again["judged"], again["kept"], server.log.calls) == (0, 24, asked)
    embedded = arena_of.json(*RUN, "--systems", "half")
    assert (embedded["judged"], embedded["judge"]) == (12, "embedded")
    assert {judge for judge, *_ in arena_of.scores()} == {"", done["judge"]}


def test_malformed_replies_leave_answers_unscored_with_the_reason(
    arena_of: Commands, scripted_llm: Callable[..., Any]
) -> None:
    """A reply that stays malformed is asked for once more; then there is a reason and no number."""
    server = serve_rules(scripted_llm())
    server.handlers["classify_relation"] = lambda _: "I would rather not say."
    done = arena_of.json(*RUN, "--judge", "reference-free", endpoint=server.url)
    assert (done["unreadable"], done["judged"], done["mean"]) == (24, 0, None)
    (reason,) = done["reasons"]
    assert "classify_relation stayed malformed" in reason
    assert all(value is None and why for _, _, value, why in arena_of.scores())


def test_the_budget_ends_as_skipped_and_the_next_run_goes_on(
    arena_of: Commands, scripted_llm: Callable[..., Any]
) -> None:
    server = serve_rules(scripted_llm())
    words = (*RUN, "--judge", "reference-free")
    none = arena_of.json(*words, "--budget-usd", "0", endpoint=server.url)
    assert (none["skipped"], none["judged"], server.log.calls) == (24, 0, 0)
    assert list(none["reasons"]) == ["The budget's cap is reached."]
    some = arena_of.json(*words, "--budget-usd", "0.05", "--concurrency", "1", endpoint=server.url)
    assert some["cost_usd"] <= 0.05
    assert some["judged"] > 0
    assert some["skipped"] == 24 - some["judged"]
    rest = arena_of.json(*words, endpoint=server.url)
    assert (rest["judged"], rest["kept"]) == (some["skipped"], some["judged"])


@pytest.mark.long
def test_an_endpoint_that_is_gone_ends_the_run_and_keeps_what_is_done(
    arena_of: Commands, scripted_llm: Callable[..., Any]
) -> None:
    """Answers that failed are tried again by the next run; a dead endpoint is one line and exit code 1."""
    code, _, err = arena_of(*RUN, "--judge", "reference-free")
    assert code == 1
    assert "127.0.0.1:9" in err
    assert "Traceback" not in err
    server = serve_rules(scripted_llm())
    done = arena_of.json(*RUN, "--judge", "reference-free", endpoint=server.url)
    assert done["judged"] == 24


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_cut_off_goes_on_where_it_was(
    arena_of: Commands, scripted_llm: Callable[..., Any], how: signal.Signals
) -> None:
    """Ctrl-C ends in order with the rest pending, kill -9 does not; both keep scores and ask none twice."""
    server = serve_rules(scripted_llm(latency=0.05))
    words = (*RUN, "--judge", "reference-free", "--concurrency", "2")
    arena_of.prepare(server.url)
    command = [sys.executable, "-m", "arena", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(arena_of.scores()) < 3:
            time.sleep(0.1)
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    kept = len(arena_of.scores())
    assert 3 <= kept < 24
    if how is signal.SIGINT:
        assert process.returncode == 0, err
        assert json.loads(out)["pending"] == 24 - kept
    rest = arena_of.json(*words, endpoint=server.url)
    assert (rest["judged"], rest["kept"], rest["pending"]) == (24 - kept, kept, 0)
    if how is signal.SIGINT:
        assert server.log.asked_twice == {}
    assert sum(value for _, _, value, _ in arena_of.scores() if value is not None) == pytest.approx(18.0)


def test_a_file_is_scored_line_by_line(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """`metrics score` prints an object a line in the file's order, with what is undefined null."""
    passages = [{"id": "p1", "text": "The sky is blue."}, {"id": "p2", "text": "Grass is green."}]
    rows = [
        {"id": "a", "question": "Colours?", "answer": "The sky is blue.", "passages": passages},
        {
            "id": "b",
            "question": "Colours?",
            "answer": "The sky is blue. Grass is green.",
            "passages": passages,
        },
        {"id": "c", "question": "Colours?", "answer": "The sky is blue."},
    ]
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    server = serve_rules(scripted_llm())
    for more in ((), ("--judge", "reference-free")):
        code, out, err = arena_of("metrics", "score", path, "--metric", NLI, *more, endpoint=server.url)
        assert code == 0, err
        lines = [json.loads(line) for line in out.splitlines()]
        assert [(line["id"], line["score"]) for line in lines] == [("a", 0.5), ("b", 1.0), ("c", None)]
        assert lines[2]["outcome"] == "unreadable"
        assert "neither passages nor a reference" in lines[2]["details"]["reason"]
    assert server.log.calls > 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--judge", "panel"), "asks one LLM"),
        (("--judge", "nobody"), "nobody"),
        (("--systems", "half,nobody"), "nobody did not submit"),
        (("--option", "relevence=3"), "relevence"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line(arena_of: Commands, more: Words, message: str) -> None:
    """A panel, an unknown judge, system or option: one line that says what to do, exit code 1."""
    code, _, err = arena_of(*RUN, *more)
    assert code == 1
    assert message in err
    assert "Traceback" not in err


def test_options_are_kept_apart(arena_of: Commands) -> None:
    """Scores with another constant stand under a name of their own, and boards show the default ones."""
    arena_of.json(*RUN)
    changed = arena_of.json(*RUN, "--option", "relevance=1")
    assert (changed["judged"], changed["judge"]) == (24, "relevance=1")
    assert {judge for judge, *_ in arena_of.scores()} == {"", "relevance=1"}


ASSESSORS = ("fr1", "fr2", "fr3", "factscore", "factverify", "veriscore", "direct")


def serve_assessors(server: Any) -> Any:  # noqa: ANN401 - the scripted server's own type
    """Every claim is supported, by each assessor's own prompt."""
    serve_rules(server)
    server.handlers["classify_relation"] = lambda _: {"relation": "entailment"}
    server.handlers["factuality_factscore"] = lambda _: {"answer": True}
    for name in ("factverify", "veriscore", "direct"):
        server.handlers[f"factuality_{name}"] = lambda _: {"reasons": "So it is.", "finding": "supported"}
    return server


@pytest.mark.long
@pytest.mark.parametrize("assessor", ASSESSORS)
def test_each_assessor_scores_the_demo_set_without_an_llm_and_with_one(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path, assessor: str
) -> None:
    """`metrics run` scores a part of the demo set, lexically and over HTTP, side by side."""
    demo, part = Path(__file__).parents[3] / "data/sets/demo", tmp_path / "part"
    part.mkdir()
    (part / "set.toml").write_text((demo / "set.toml").read_text())
    for name in ("questions.jsonl", "answers/pithy.jsonl"):
        lines = (demo / name).read_text().splitlines(keepends=True)
        (part / Path(name).name).write_text("".join(lines[:3]))
    assert arena_of("sets", "import", part)[0] == 0
    add = ("submissions", "add", part / "pithy.jsonl", "--set", "demo", "--system", "pithy")
    assert arena_of(*add)[0] == 0
    words = ("metrics", "run", "--set", "demo", "--metric", f"factuality-{assessor}", "--json")
    lexical = arena_of.json(*words)
    assert lexical["judged"] == lexical["answers"] == 3
    assert 0 < lexical["mean"] <= 1
    server = serve_assessors(scripted_llm())
    asked = arena_of.json(*words, "--judge", "reference-free", endpoint=server.url)
    assert (asked["judged"], asked["failed"], asked["mean"]) == (3, 0, 1.0)
    assert asked["calls"] > 0


def test_boards_score_what_a_set_has_and_say_what_it_lacks(arena_of: Commands) -> None:
    """Publishing scores the metrics that the set has data for and names what others would need."""
    assert arena_of("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "r")[0] == 0
    code, _, err = arena_of("rounds", "publish", "r")
    assert code == 0, err
    assert "not scoring coverage-icat-s: no question of the set has aspects" in err
    assert "no answers file gives the contexts" in err
    arena = Arena(read_settings())
    line = arena.boards.get("r").standings["lines"]["overall"][0]
    arena.close()
    assert set(line["scores"]) == {NLI, "factuality-fr3"}
