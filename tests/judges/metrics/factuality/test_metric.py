from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from data.errors import StatisticsError
from data.models import Json, MetricItem, Outcome, Passage, Reply, Score
from judges.llm.requests import CallFailure
from judges.metrics.comprehensiveness.embedded import LexicalSteps
from judges.metrics.coverage.sources import LocalSource
from judges.metrics.factuality.contexts import PassageIndex, gather
from judges.metrics.factuality.evidence import EvidenceSource
from judges.metrics.factuality.graph import load_graph
from judges.metrics.factuality.inference.marginals import marginals
from judges.metrics.factuality.metric import build
from judges.metrics.factuality.reasoner import FactReasoner, Version
from judges.metrics.factuality.report import summarise
from judges.metrics.factuality.tasks import FactualitySettings, relation_probability
from judges.metrics.registry import build_metric
from judges.metrics.relations.model import Entailment, Pair, Related
from tests.cases import cases
from tests.judges import asking
from tests.narrow import instance

Serve = Callable[..., Any]

ITEM = MetricItem(
    id="liu",
    question="When did Liu Zhi die?",
    answer=(
        "Liu Zhi died in 1972 in Taiwan. He fled to Hong Kong and taught Chinese in Indonesia. He liked tea."
    ),
    passages=(
        Passage(
            "p1",
            "Liu Zhi fled to British Hong Kong and taught Chinese in Indonesia. He died in Taiwan in 1972.",
        ),
        Passage("p2", "Liu Zhi died on the 15 January 1971 (aged 78) in Taichung, Taiwan."),
        Passage("p3", "Liu Zhi, the general, died in Taiwan in 1972 after a long illness."),
    ),
)
LETTERED = MetricItem(
    id="l",
    question="Q?",
    answer="C1. C2.",
    passages=(Passage("1", "P1"), Passage("2", "P2"), Passage("3", "P3")),
)


def embedded(assessor: str, item: MetricItem = ITEM, **options: Json) -> Score:
    return asking.embedded(f"factuality-{assessor}", item, **options)


def scripted(url: str, assessor: str, item: MetricItem = LETTERED, **options: Json) -> Score:
    return asking.scored(f"factuality-{assessor}", url, item, **options)


def test_conflict_between_passages_has_reasons() -> None:
    score = embedded("fr3")
    details: Any = score.details
    first, second, third = details["claims"]
    assert first["label"] == "supported"
    assert {witness["passage"] for witness in first["for"]} == {"p1", "p3"}
    assert [witness["passage"] for witness in first["against"]] == ["p2"]
    assert "contradicted by p2" in first["reason"]
    assert "1971" in first["against"][0]["why"]
    assert second["label"] == "supported"
    assert (third["label"], third["posterior"]) == ("undecided", 0.5)
    assert score.score == pytest.approx(2 / 3)
    doubted = {context["passage"]: context["posterior"] for context in details["contexts"]}
    assert doubted["p2"] < doubted["p3"]


def test_stored_graph_reproduces_posteriors() -> None:
    for version in ("fr1", "fr2", "fr3"):
        details: Any = embedded(version).details
        again = marginals(load_graph(details["graph"])).marginals
        assert {claim["id"]: claim["posterior"] for claim in details["claims"]} == pytest.approx(
            {name: value for name, value in again.items() if name.startswith("a")}
        )
        json.dumps(details, allow_nan=False)


def test_recall_and_f1_require_k() -> None:
    """Without K they are null; with it they follow the paper."""
    without: Any = embedded("fr2").details
    assert (without["recall_at_k"], without["f1_at_k"]) == (None, None)
    details: Any = embedded("fr2", recall_k=4).details
    assert details["recall_at_k"] == pytest.approx(0.5)
    assert details["f1_at_k"] == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))


def test_summary_uses_median_k() -> None:
    brief, nothing = (replace(ITEM, answer=answer) for answer in ("Liu Zhi liked tea.", "…"))
    summary = summarise([embedded("fr2"), embedded("fr2", brief), embedded("fr2", nothing)])
    assert (summary.answers, summary.left_out, summary.k) == (2, {"unreadable": 1}, 2.0)
    assert summary.precision == pytest.approx((2 / 3 + 0) / 2)
    assert summary.f1_at_k == pytest.approx((2 * (2 / 3) / (2 / 3 + 1) + 0) / 2)
    assert summary.entropy is not None
    assert summarise([embedded("veriscore")], k=7).entropy is None
    with pytest.raises(StatisticsError):
        summarise([embedded("fr2", nothing)])


def test_less_reliable_source_counts_less() -> None:
    plain: Any = embedded("fr2").details
    doubted: Any = embedded("fr2", source_priors={"p1": 0.5, "p3": 0.5}).details
    assert doubted["claims"][0]["posterior"] < plain["claims"][0]["posterior"]


def test_fr1_uses_only_own_contexts() -> None:
    fr1: Any = embedded("fr1", contexts_per_claim=1).details
    two: Any = embedded("fr2", contexts_per_claim=1).details
    assert {edge["to"] for edge in fr1["graph"]["edges"]} <= {edge["to"] for edge in two["graph"]["edges"]}
    assert all(context["id"].split("/")[1].startswith("a") for context in fr1["contexts"])
    assert fr1["inference"]["treewidth"] <= 1
    assert len({context["passage"] for context in two["contexts"]}) == len(two["contexts"])


def test_baselines_differ_in_strictness() -> None:
    labels = {}
    for rival in ("factscore", "factverify", "veriscore", "direct"):
        details: Any = embedded(rival).details
        labels[rival] = [claim["label"] for claim in details["claims"]]
    assert labels["factscore"] == ["supported", "supported", "contradicted"]
    assert labels["factverify"] == ["supported", "supported", "undecided"]
    assert labels["direct"] == ["supported", "supported", "undecided"]
    assert labels["veriscore"] == ["undecided", "supported", "undecided"]


def test_retrieval_returns_closest_distinct_passages() -> None:
    sentence = "Electrons are leptons and fermions."
    texts = (
        "Bread rises by yeast.",
        sentence,
        sentence.swapcase(),
        "Quarks are fermions too.",
        "",
        "Tides follow.",
    )
    passages = [Passage(str(number), text) for number, text in enumerate(texts, start=1)]
    index = PassageIndex(passages)
    assert [hit.id for hit in index.find("Are electrons leptons?", 2)] == ["2"]
    assert [hit.id for hit in index.find("Electrons and quarks are fermions", 2)] == ["4", "2"]
    assert index.find("Nothing of the kind", 2) == ()
    assert len(index.find("Nothing of the kind", 4)) == 4
    assert PassageIndex([Passage("1", "…")] * 2).find("anything", 3) != ()
    contexts = gather([index.find("electrons", 2), index.find("electrons fermions", 2)])
    assert [context.id for context in contexts.unique] == ["c1", "c2"]
    assert contexts.by_claim[0][0] is contexts.by_claim[1][0]


def test_contexts_or_corpus_replace_passages() -> None:
    item = replace(ITEM, passages=(), contexts=ITEM.passages)
    assert embedded("fr2", item).score == embedded("fr2").score
    metric = build("factuality-fr2", runner=None, options={}, source=LocalSource(PassageIndex(ITEM.passages)))
    assert asyncio.run(metric.score(replace(ITEM, passages=()))).score == embedded("fr2").score


RELATIONS = {
    ("P1", "C1"): "entailment",
    ("P2", "C1"): "contradiction",
    ("P3", "P2"): "contradiction",
    ("P2", "P3"): "contradiction",
    ("P1", "C2"): "entailment",
}


def relate(ask: Any) -> dict[str, str]:  # noqa: ANN401 - the scripted server's own type
    [premise], [hypothesis] = ask.tagged("premise"), ask.tagged("hypothesis")
    return {"relation": RELATIONS.get((premise, hypothesis), "neutral")}


def serve(scripted_llm: Serve, **script: object) -> Any:  # noqa: ANN401 - the scripted server's own type
    """Serve an endpoint that knows two claims and their relations to three passages."""
    server = scripted_llm(**script)
    server.handlers["extract_claims"] = lambda _: {
        "claims": [{"text": text, "kind": "fact"} for text in ("C1", "It 2", "C1")]
        + [{"text": "I hope this helps", "kind": "meta statement"}]
    }
    server.handlers["revise_claims"] = lambda _: {"claims": [{"number": 2, "claims": ["C2"]}]}
    server.handlers["classify_relation"] = relate
    return server


def test_pipeline_requests_claims_and_relations(scripted_llm: Serve) -> None:
    server = serve(scripted_llm, logprobs=False)
    score = scripted(server.url, "fr3")
    details: Any = score.details
    edges = ("c1 a1 entailment", "c2 a1 contradiction", "c1 a2 entailment", "c2 c3 contradiction")
    named = (edge.split() for edge in edges)
    expected = load_graph(
        {
            "nodes": [{"id": name, "type": "atom"} for name in ("a1", "a2")]
            + [{"id": name, "type": "context"} for name in ("c1", "c2", "c3")],
            "edges": [{"from": a, "to": b, "relation": kind, "probability": 0.9} for a, b, kind in named],
        }
    )
    posteriors = marginals(expected).marginals
    assert [claim["posterior"] for claim in details["claims"]] == pytest.approx(
        [posteriors["a1"], posteriors["a2"]]
    )
    assert details["unanswered"] == {}
    assert server.log.replied.total() == 2 + 2 * 3 + 3 * 2


@pytest.mark.parametrize(
    ("forth", "back", "edge"),
    [
        (("entailment", 0.7), ("entailment", 0.9), ("equivalence", 0.8)),
        (("entailment", 0.7), ("contradiction", 0.8), ("contradiction", 0.8)),
        (("entailment", 0.7), ("neutral", 0.6), ("entailment", 0.7)),
        (("entailment", 0.7), ("neutral", 0.8), None),
        (("neutral", 0.9), ("neutral", 0.9), None),
    ],
)
def test_more_probable_direction_counts(
    forth: tuple[str, float], back: tuple[str, float], edge: tuple[str, float] | None
) -> None:
    class Relations:
        async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
            del question
            known = {("P1", "P2"): forth, ("P2", "P1"): back}
            rows = (known.get((pair.premise, pair.hypothesis), ("neutral", 1.0)) for pair in pairs)
            return [Related(Entailment(stance), probability) for stance, probability in rows]

    settings = FactualitySettings()
    reasoner = FactReasoner(
        Version.FR3, evidence=EvidenceSource(LexicalSteps, settings), relations=Relations(), settings=settings
    )
    item = MetricItem(id="x", question="Q?", answer="", passages=LETTERED.passages[:2])
    edges = asyncio.run(reasoner.assess(item, ["C1"])).graph.edges
    assert [(row.relation.value, round(row.probability, 9)) for row in edges] == ([edge] if edge else [])


@pytest.mark.parametrize(("version", "calls"), [("fr1", 8), ("fr2", 8), ("fr3", 14)])
def test_versions_request_relations_as_in_paper(scripted_llm: Serve, version: str, calls: int) -> None:
    server = serve(scripted_llm)
    details: Any = scripted(server.url, version).details
    assert {edge["probability"] for edge in details["graph"]["edges"]} == {1.0}
    assert server.log.replied.total() == calls
    assert not server.log.asked_twice


def test_first_token_of_label_gives_probability() -> None:
    def token(text: str, **rivals: float) -> dict[str, object]:
        top = [{"token": name, "logprob": value} for name, value in rivals.items()]
        return {"token": text, "logprob": -0.1, "top_logprobs": top}

    rows = list(map(token, ('{"', "relation", '":', ' "', "ent", "ailment", '"}')))
    rows[4] = token("ent", ent=math.log(1 / 2), contr=math.log(1 / 4), the=math.log(1 / 4))
    reply = Reply(key="k", endpoint="e", model="m", text="", logprobs=json.dumps(rows))
    assert relation_probability(reply, Entailment.ENTAILMENT) == pytest.approx(2 / 3)
    assert relation_probability(reply, Entailment.NEUTRAL) is None
    assert relation_probability(Reply(key="k", endpoint="e", model="m", text=""), Entailment.NEUTRAL) is None
    # A grammar forced the label, which the model would not have chosen.
    rows[4] = token("ent", Hello=-0.3, I=-1.6, ent=-9.2)
    assert relation_probability(replace(reply, logprobs=json.dumps(rows)), Entailment.ENTAILMENT) is None


def test_unreadable_relations_are_counted(scripted_llm: Serve) -> None:
    server = serve(scripted_llm)

    def handler(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        return relate(ask) if ask.tagged("premise") in (["P1"], ["P2"]) else "Hard to say."

    server.handlers["classify_relation"] = handler
    details: Any = scripted(server.url, "fr2").details
    assert details["unanswered"] == {"unreadable": 2}
    server.handlers["classify_relation"] = lambda _: "Hard to say."
    score = scripted(server.url, "fr2")
    assert (score.outcome, score.score) == (Outcome.UNREADABLE, None)


@pytest.mark.parametrize("rival", ["factverify", "veriscore", "direct"])
def test_baselines_score_findings_of_llm(scripted_llm: Serve, rival: str) -> None:
    server = serve(scripted_llm)
    passages = []

    def handler(ask: Any) -> dict[str, str]:  # noqa: ANN401 - the scripted server's own type
        passages.append(sorted(ask.identified("passage")))
        finding = "supported" if ask.tagged("claim") == ["C1"] else "undecided"
        return {"reasons": "As P1 says.", "finding": finding}

    server.handlers[f"factuality_{rival}"] = handler
    score = scripted(server.url, rival)
    details: Any = score.details
    assert score.score == 0.5
    assert [claim["reason"] for claim in details["claims"]] == ["As P1 says."] * 2
    assert passages == [["1", "2", "3"]] * 2


def test_factscore_is_true_or_false(scripted_llm: Serve) -> None:
    """Claims that FactScore does not find supported count as contradicted, as in the paper's tables."""
    server = serve(scripted_llm)
    server.handlers["factuality_factscore"] = lambda ask: {"answer": ask.tagged("claim") == ["C2"]}
    details: Any = scripted(server.url, "factscore").details
    assert (details["supported"], details["contradicted"], details["undecided"]) == (1, 1, 0)


def test_queries_are_written_and_contexts_summarised(scripted_llm: Serve) -> None:
    server = serve(scripted_llm)
    premises = set()
    server.handlers["factuality_query"] = lambda ask: {"query": f"about {ask.tagged('claim')[0]}"}
    server.handlers["factuality_summary"] = lambda ask: {
        "summary": "" if "P3" in ask.tagged("passage") else f"Summary of {ask.tagged('passage')[0]}"
    }

    def handler(ask: Any) -> dict[str, str]:  # noqa: ANN401 - the scripted server's own type
        premises.update(ask.tagged("premise"))
        return {"relation": "entailment"}

    server.handlers["classify_relation"] = handler
    score = scripted(server.url, "fr2", write_queries=True, summarise=True)
    assert score.score == 1.0
    assert premises == {"Summary of P1", "Summary of P2"}


@pytest.mark.parametrize(
    ("assessor", "task"),
    [("fr2", "classify_relation"), ("veriscore", "factuality_veriscore"), ("fr2", "factuality_query")],
)
def test_failed_request_leaves_no_score(scripted_llm: Serve, assessor: str, task: str) -> None:
    server = serve(scripted_llm)

    def overloaded(_: object) -> None:
        raise web.HTTPServiceUnavailable

    # An unreadable query is not missing evidence: the claim itself is the query.
    server.handlers["factuality_query"] = lambda _: "Hard to say."
    server.handlers[task] = overloaded
    score = scripted(server.url, assessor, write_queries=True)
    assert (score.outcome, score.score) == (Outcome.FAILED, None)
    assert score.reason


PASSAGES = tuple(Passage(name, text) for name, text in cases(__file__, "PASSAGES").items())
TRUE, WRONG_DATE, WRONG = (cases(__file__, name) for name in ("TRUE", "WRONG_DATE", "WRONG"))


def test_true_claims_have_higher_posteriors() -> None:
    claims = (*TRUE, *WRONG_DATE, *WRONG)
    metric = instance(FactReasoner, build_metric("factuality-fr2"))
    question = "Tell me a biography of the film maker Edmund Harrowgate."
    item = MetricItem(id="b", question=question, answer=" ".join(claims), passages=PASSAGES)
    assessment = asyncio.run(metric.assess(item, claims))
    believed = {claim.text: assessment.posteriors.marginals[claim.id] for claim in assessment.claims}
    pairs = [(believed[true], believed[false]) for true in TRUE for false in (*WRONG_DATE, *WRONG)]
    assert sum((true > false) + 0.5 * (true == false) for true, false in pairs) >= 0.95 * len(pairs)
    assert sum(believed[claim] > 0.5 for claim in TRUE) >= 0.9 * len(TRUE)
    assert all(believed[claim] <= 0.5 for claim in WRONG_DATE)
