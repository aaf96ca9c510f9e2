from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from data.models import MetricItem, Passage

CLAIMS = (
    "Coffee lowers the risk of type 2 diabetes.",
    "Coffee disturbs sleep when taken late.",
    "Coffee makes people taller.",
)
ASPECTS = ("benefits for health", "risks for health", "how much is too much")


ITEM = MetricItem(
    id="q-1",
    question="Is coffee good for health?",
    answer=" ".join(CLAIMS),
    passages=(
        Passage("p1", "Studies find that coffee lowers the risk of type 2 diabetes by a third."),
        Passage("p2", "Taken late in the day, coffee disturbs sleep."),
        Passage("p3", "Tea is grown in the highlands of Asia."),
    ),
    aspects=ASPECTS,
)
"""A question with three passages and three aspects; the answer makes three claims, one unsupported."""


@pytest.fixture
def icat_llm(scripted_llm: Callable[..., Any]) -> Callable[..., Any]:
    """Start a scripted LLM: claims are sentences, support is a shared key word, aspects go by key words."""

    def extract(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        tag = "answer" if ask.tagged("answer") else "text"
        sentences = ask.tagged(tag)[0].rstrip(".").split(". ")
        return {"claims": [{"text": f"{sentence}.", "kind": "claim"} for sentence in sentences]}

    def relation(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        premise, claim = ask.tagged("premise")[0], ask.tagged("hypothesis")[0]
        held = any(word in premise and word in claim for word in ("diabetes", "sleep"))
        return {"relation": "entailment" if held else "neutral"}

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
