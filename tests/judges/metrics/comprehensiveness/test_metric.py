from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from data.errors import SpecError
from data.models import EMBEDDED_ENGINE, MetricItem, Outcome, Passage, Score
from judges.metrics.comprehensiveness.embedded import Ground
from judges.metrics.comprehensiveness.graph import Claim
from judges.metrics.comprehensiveness.llm_steps import compare_quantities
from judges.metrics.registry import build_metric
from tests.judges.asking import embedded, scored
from tests.scripted_llm import ToolUse

Serve = Callable[..., Any]
NLI, QA, END_TO_END = "comprehensiveness-nli", "comprehensiveness-qa", "comprehensiveness-end-to-end"

TOWER = MetricItem(
    id="t",
    question="What should I know about the Eiffel Tower?",
    answer="The Eiffel Tower was finished in 1925 and is 330 metres tall. The tower is green.",
    passages=(
        Passage("p1", "The Eiffel Tower was finished in 1889. It is 330 metres tall."),
        Passage("p2", "About seven million people visit the Eiffel Tower each year."),
        Passage("p3", "Basil wants warm soil and a sunny window."),
    ),
)


def texts(score: Score, name: str) -> list[str]:
    rows: Any = score.details[name]
    return [row["text"] for row in rows]


@pytest.mark.parametrize("name", [NLI, END_TO_END])
def test_embedded_version_lists_covered_and_missing(name: str) -> None:
    score = embedded(name, TOWER)
    assert texts(score, "covered") == ["It is 330 metres tall."]
    assert texts(score, "missing") == [
        "The Eiffel Tower was finished in 1889.",
        "About seven million people visit the Eiffel Tower each year.",
    ]
    assert texts(score, "contradicted") == ["The Eiffel Tower was finished in 1889."]
    assert score.score == pytest.approx(1 / 3)
    assert score.details["engine"] == EMBEDDED_ENGINE


@pytest.mark.parametrize("name", [NLI, END_TO_END])
def test_reference_replaces_missing_passages(name: str) -> None:
    score = embedded(name, replace(TOWER, passages=(), reference="The Eiffel Tower is 330 metres tall."))
    assert score.score == 1.0


def test_qa_requires_llm() -> None:
    with pytest.raises(SpecError, match="no embedded version"):
        build_metric(QA)


def test_too_many_pairs_are_skipped_with_reason() -> None:
    score = embedded(NLI, TOWER, most_pairs=3)
    assert score.outcome is Outcome.SKIPPED
    assert "pairs of claims" in score.reason


# A server that answers by rule -----------------------------------------------------------------
# Every sentence "k3 some words." makes the claim k3, whatever its words; "x" sentences are irrelevant.

RULED = MetricItem(
    id="r",
    question="Which keys?",
    answer="k1 said. k9 said.",
    passages=(Passage("p 1", "k1 told. k2 told. x1 told."), Passage("p2", "k2 repeated. k3 told.")),
)


def key(text: str) -> str:
    return text.split(maxsplit=1)[0]


def sentences(ask: Any) -> list[str]:  # noqa: ANN401 - the scripted server's own type
    text = (ask.tagged("passage") + ask.tagged("answer"))[0]
    return re.findall(r"[^.]+\.", text.strip())


def serve_rules(server: Any, tool_use: Any = None) -> None:  # noqa: ANN401 - the scripted server's own types
    def extract(ask: Any) -> object:  # noqa: ANN401 - as above
        kinds = [("fact" if key(sentence)[0] in "kx" else "other") for sentence in sentences(ask)]
        return {
            "claims": [
                {"text": sentence.strip(), "kind": kind}
                for sentence, kind in zip(sentences(ask), kinds, strict=True)
            ]
        }

    def revise(ask: Any) -> object:  # noqa: ANN401 - as above
        claims = ask.identified("claim")
        return {"claims": [{"number": int(number), "claims": [text]} for number, text in claims.items()]}

    def relate(ask: Any) -> object:  # noqa: ANN401 - as above
        premise, hypothesis = ask.tagged("premise")[0], ask.tagged("hypothesis")[0]
        return {"relation": "entailment" if key(premise) == key(hypothesis) else "neutral"}

    def cover(ask: Any) -> object:  # noqa: ANN401 - as above
        covered_keys = {key(sentence) for sentence in re.findall(r"[^.]+\.", ask.tagged("answer")[0].strip())}
        passages: dict[str, list[str]] = {}
        for name, text in ask.identified("passage").items():
            for sentence in re.findall(r"[^.]+\.", text):
                passages.setdefault(key(sentence), []).append(name)
        rows = [
            {"statement": sentence, "passages": names}
            for sentence, names in passages.items()
            if sentence[0] == "k"
        ]
        covered = [row for row in rows if row["statement"] in covered_keys]
        return {"reasoning": "", "covered": covered, "uncovered": [row for row in rows if row not in covered]}

    def compare(ask: Any) -> object:  # noqa: ANN401 - as above
        first, second = ask.tagged("first_answer")[0], ask.tagged("second_answer")[0]
        call = {"first": first, "second": second}
        if ask.offered and not ask.results:
            return tool_use((("compare_quantities", call),))
        (result,) = ask.results or ask.tagged("tool_result")
        if "not called" in result:
            return {"compare_quantities": call, "reasoning": "", "relation": None}
        relation = "equivalent" if "equal to" in result else "contradictory"
        return {"compare_quantities": None, "reasoning": result, "relation": relation}

    server.handlers |= {
        "extract_claims": extract,
        "revise_claims": revise,
        "rate_relevance": lambda ask: {"relevance": 1 if key(ask.tagged("claim")[0])[0] == "x" else 5},
        "classify_relation": relate,
        "evaluate_coverage": cover,
        "compare_answers": compare,
        "summarize_passage": lambda ask: {
            "summary": re.sub(r"x\d [^.]+\.", "", ask.tagged("passage")[0]).strip()
        },
    }


@pytest.mark.parametrize(("name", "options"), [(NLI, {}), (NLI, {"summarise": True}), (END_TO_END, {})])
def test_claims_are_covered_by_llm(scripted_llm: Serve, name: str, options: dict[str, Any]) -> None:
    server = scripted_llm()
    serve_rules(server)
    score = scored(name, server.url, RULED, **options)
    assert [key(text) for text in texts(score, "covered")] == ["k1"]
    assert [key(text) for text in texts(score, "missing")] == ["k2", "k3"]
    missing: Any = score.details["missing"]
    assert missing[0]["passages"] == ["p 1", "p2"]
    assert score.score == pytest.approx(1 / 3)
    assert score.details["engine"] == "m"
    assert not server.log.asked_twice
    assert (server.log.calls == 1) is (name == END_TO_END)


def test_dissimilar_pairs_are_not_requested(scripted_llm: Serve) -> None:
    pairs: dict[float, int] = {}
    scores: dict[float, float | None] = {}
    for similarity in (0.0, 0.5):
        server = scripted_llm()
        serve_rules(server)
        options = {"similarity": similarity} if similarity else {}
        scores[similarity] = scored(NLI, server.url, RULED, **options).score
        pairs[similarity] = sum(
            body["response_format"]["json_schema"]["name"] == "classify_relation"
            for body in server.log.bodies
        )
    # Six claims, two of them the answer's: every pair except within the answer. Two pairs share a key.
    assert pairs == {0.0: 6 * 5 - 2, 0.5: 2 * 2}
    assert scores[0.5] == scores[0.0] == pytest.approx(1 / 3)


@pytest.mark.parametrize("tools", [True, False])
def test_qa_is_scored_by_llm(scripted_llm: Serve, *, tools: bool) -> None:
    server = scripted_llm(tools=tools)
    serve_rules(server, ToolUse)
    by_text = {
        "answer": {1: [("10 km", 5)], 2: [("unknown", 5)]},
        "p1": {1: [("10,000 m", 4)], 2: [("blue", 5), ("green", 1)]},
        "p2": {1: [("12 miles", 5)]},
    }

    def answers(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        name = next(iter(ask.identified("passage")), "answer")
        return {
            "answered": [
                {"number": number, "answers": [{"answer": text, "confidence": sure} for text, sure in rows]}
                for number, rows in by_text[name].items()
            ]
        }

    server.handlers |= {
        "mine_questions": lambda _ask: {"questions": ["How far?", "Which colour?", "Who asks?"]},
        "refine_questions": lambda ask: {
            "questions": [
                {"question": sentence, "relevance": 2 if sentence == "Who asks?" else 5}
                for sentence in ask.tagged("mined_question")
            ]
        },
        "answer_questions": answers,
    }
    item = MetricItem(
        id="q",
        question="How far, which colour?",
        answer="10 km.",
        passages=(Passage("p1", "…"), Passage("p2", "…")),
    )
    score = scored(QA, server.url, item)
    assert texts(score, "covered") == ["How far? — 10,000 m"]
    assert sorted(texts(score, "missing")) == ["How far? — 12 miles", "Which colour? — blue"]
    assert score.score == pytest.approx(1 / 3)
    called = [body for body in server.log.bodies if body["messages"][-1]["role"] == "tool"]
    assert bool(called) is tools


@pytest.mark.parametrize("name", [NLI, QA, END_TO_END])
def test_reference_does_not_replace_empty_summaries(scripted_llm: Serve, name: str) -> None:
    server = scripted_llm()
    serve_rules(server)
    server.handlers["summarize_passage"] = lambda _: {"summary": ""}
    item = MetricItem(
        id="r", question="Which?", answer="k1 said.", passages=RULED.passages, reference="k1 said. k2 said."
    )
    score = scored(name, server.url, item, summarise=True)
    assert (score.outcome, score.score) == (Outcome.UNREADABLE, None)
    assert "nothing relevant to the question" in score.reason


@pytest.mark.parametrize(
    ("first", "second", "comparison"),
    [
        ("10 km", "10,000 m", "equal to"),
        ("about 100 °C", "212 °F", "equal to"),
        ("5 %", "7 percent", "smaller than"),
        ("3 hours", "90 minutes", "larger than"),
        ("3 hours", "90 metres", "cannot be compared"),
        ("blue", "3", "cannot be compared"),
        ("5 __import__('os')", "5 m", "cannot be compared"),
        ("", "", "cannot be compared"),
    ],
)
def test_tool_converts_units(first: str, second: str, comparison: str) -> None:
    assert comparison in compare_quantities(first, second)


def test_claim_is_rated_in_context() -> None:
    passages = (
        Passage("p", "Ada Rowe kept a shop. She sold lamps there. In old age she was ill. She died in Orr."),
        Passage("far", "Basil wants warm soil and a sunny window."),
    )
    ground = Ground("When did Ada Rowe die?", passages)
    died = ground.rate(Claim("She died in Orr.", "p"))
    assert died > ground.rate(Claim("She sold lamps there.", "p")) >= 3.5
    assert ground.rate(Claim("Basil wants warm soil and a sunny window.", "far")) == 3.0
