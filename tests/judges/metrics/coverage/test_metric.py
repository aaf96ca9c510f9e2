from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.corpora.index import CorpusLibrary
from data.models import Json, Outcome, Passage, Score
from judges.llm.requests import CallFailure
from judges.llm.tasks import TaskRunner
from judges.metrics.coverage.metric import Variant, build
from judges.metrics.coverage.settings import icat, share
from judges.retrieval import RankedSource, WordRanker
from judges.text.tokens import TERMS
from tests.judges.asking import scored, with_runner
from tests.judges.metrics.coverage.conftest import ITEM
from tests.narrow import listed

Serve = Callable[..., Any]
M, S, A = (variant.value for variant in Variant)
JUDGED: dict[str, Json] = {"judgments": {"q-1": {"p1": ["benefits for health"], "p2": [2]}}}


@pytest.fixture
def icat_llm(scripted_llm: Callable[..., Any]) -> Callable[..., Any]:
    """Start a scripted LLM: claims are sentences, support is a shared key word, aspects follow key words."""

    def extract(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        tag = "answer" if ask.tagged("answer") else "text"
        sentences = ask.tagged(tag)[0].rstrip(".").split(". ")
        return {"claims": [{"text": f"{sentence}.", "kind": "claim"} for sentence in sentences]}

    def relation(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        premise, claim = ask.tagged("premise")[0], ask.tagged("hypothesis")[0]
        entailed = any(word in premise and word in claim for word in ("diabetes", "sleep"))
        return {"relation": "entailment" if entailed else "neutral"}

    def align(ask: Any) -> object:  # noqa: ANN401 - as above
        claims, aspects = ask.identified("claim"), ask.identified("aspect")
        words = {"benefits": "lowers", "risks": "disturbs", "sleep": "disturbs"}
        covered = []
        for name, text in aspects.items():
            key = next((word for start, word in words.items() if start in text), None)
            by = [number for number, claim in claims.items() if key and key in claim]
            if by:
                covered.append({"aspect": name, "claims": by})
        return {"covered": [*covered, {"aspect": "t99", "claims": ["a1"]}]}

    def serve(**script: object) -> Any:  # noqa: ANN401 - as above
        server = scripted_llm(**script)
        server.handlers["extract_claims"] = extract
        server.handlers["revise_claims"] = lambda _: {"claims": []}
        server.handlers["classify_relation"] = relation
        server.handlers["align_aspects"] = align
        server.handlers["generate_aspects"] = lambda _: {"aspects": ["benefits", "sleep", "price", "sleep"]}
        return server

    return serve


def test_judge_aligns_claims_with_set_aspects(icat_llm: Serve) -> None:
    score = scored(S, icat_llm().url, ITEM)
    assert score.score == pytest.approx(2 / 3)
    assert (score.details["factuality"], score.details["coverage"]) == (2 / 3, 2 / 3)
    first, second, third = listed(score.details["claims"])
    assert (first["grounded"], first["passage"], first["aspects"]) == (True, "p1", [0])
    assert (second["passage"], second["aspects"]) == ("p2", [1])
    assert (third["grounded"], third["passage"], third["aspects"]) == (False, None, [])
    assert score.details["aspects"] == [
        {"text": "benefits for health", "covered": True, "claims": ["a1"], "passages": ["p1"]},
        {"text": "risks for health", "covered": True, "claims": ["a2"], "passages": ["p2"]},
        {"text": "how much is too much", "covered": False, "claims": [], "passages": []},
    ]
    assert score.details["counts"] == {"grounded": 2, "unsupported": 1}
    assert score.details["ignored"] == 1
    json.dumps(dict(score.details), allow_nan=False)


def test_generated_aspects_ignore_aspects_of_set(icat_llm: Serve) -> None:
    server = icat_llm()
    score = scored(A, server.url, ITEM)
    assert [row["text"] for row in listed(score.details["aspects"])] == ["benefits", "sleep", "price"]
    assert score.details["coverage"] == 2 / 3
    assert not any("for health" in text for text in prompts(server, besides=ITEM.question))


def prompts(server: Any, *, besides: str) -> list[str]:  # noqa: ANN401 - the scripted server's own type
    return [
        message["content"].replace(besides, "") for body in server.log.bodies for message in body["messages"]
    ]


def test_judgments_align_by_supporting_passage(icat_llm: Serve) -> None:
    server = icat_llm()
    score = scored(M, server.url, ITEM, **JUDGED)
    assert score.details["coverage"] == 2 / 3
    assert not any("<aspect " in text for text in prompts(server, besides=""))


def test_judgments_apply_only_to_their_question(icat_llm: Serve) -> None:
    score = scored(M, icat_llm().url, replace(ITEM, id="q-2"), **JUDGED)
    assert (score.outcome, score.score) == (Outcome.UNREADABLE, None)
    assert "This question has no judgments" in score.reason
    unknown = scored(M, icat_llm().url, ITEM, judgments={"q-1": {"p1": ["prices"]}})
    assert "prices" in unknown.reason


def test_ungrounded_answer_scores_zero(icat_llm: Serve) -> None:
    server = icat_llm()
    score = scored(S, server.url, replace(ITEM, answer="Coffee makes people taller."))
    assert (score.score, score.details["factuality"], score.details["coverage"]) == (0, 0, 0)
    assert not any("<aspect " in text for text in prompts(server, besides=""))


def test_undecided_claim_is_excluded(icat_llm: Serve) -> None:
    server = icat_llm()
    plain = server.handlers["classify_relation"]
    server.handlers["classify_relation"] = lambda ask: (
        "?" if "taller" in json.dumps(ask.messages) else plain(ask)
    )
    score = scored(S, server.url, ITEM)
    assert score.details["factuality"] == 1
    assert score.details["counts"] == {"grounded": 2, "undecided": 1}
    assert listed(score.details["claims"])[2]["grounded"] is None
    server.handlers["classify_relation"] = lambda _: "?"
    assert "could be decided" in scored(S, server.url, ITEM).reason


def test_claims_are_grounded_in_corpus(tmp_path: Path) -> None:
    rows = [{"id": passage.id, "text": passage.text} for passage in ITEM.passages]
    (tmp_path / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    library = CorpusLibrary(tmp_path / "corpora", TERMS)
    library.add("coffee", tmp_path / "documents.jsonl")
    source = RankedSource(WordRanker(library.open("coffee")))
    metric = build(M, runner=None, options=JUDGED, source=source)
    score = asyncio.run(metric.score(replace(ITEM, passages=())))
    assert [claim["passage"] for claim in listed(score.details["claims"])] == ["p1#1", "p2#1", None]
    assert score.details["coverage"] == 2 / 3


class Web:
    """Web source with a single snippet, or a failure."""

    def __init__(self, failure: CallFailure | None = None) -> None:
        self._failure = failure

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        if self._failure is not None:
            return self._failure
        text = "Late coffee disturbs sleep." if "sleep" in query else "Nothing to see."
        return [Passage("https://example.org/", text)][:k]


def test_claims_are_grounded_in_web(icat_llm: Serve) -> None:
    def metric(runner: TaskRunner, web: Web) -> Awaitable[Score]:
        return build(S, runner=runner, options={}, source=web).score(replace(ITEM, passages=()))

    url = icat_llm().url
    score = with_runner(url, lambda runner: metric(runner, Web()))
    passages = [claim["passage"] for claim in listed(score.details["claims"])]
    assert passages == [None, "https://example.org/", None]
    broken = Web(CallFailure(outcome=Outcome.FAILED, detail="The search service is down."))
    failed = with_runner(url, lambda runner: metric(runner, broken))
    assert (failed.outcome, failed.score) == (Outcome.FAILED, None)
    assert "down" in failed.reason


@pytest.mark.parametrize(
    ("factuality", "coverage", "beta", "expected"),
    [
        (0.8, 0.4, 1, 0.533333),
        (0.8, 0.4, 2, 0.444444),
        (0.8, 0.4, 0.5, 0.666667),
        (0, 0, 1, 0),
        (1, 1, 3, 1),
        (0, 1, 1, 0),
    ],
)
def test_icat_is_weighted_harmonic_mean(
    factuality: float, coverage: float, beta: float, expected: float
) -> None:
    assert icat(factuality, coverage, beta) == pytest.approx(expected, abs=5e-7)


def test_undefined_value_stays_undefined() -> None:
    assert share(0, 0) is None
    assert icat(None, 0.5) is None
    assert icat(None, 0.0) == 0.0
    assert icat(0.5, None) is None
