"""Settings of comprehensiveness, and scores with what they depend on: covered, missing, basis, sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from data.models import Json, MetricItem, Outcome, Score, unscored
from judges.metrics.comprehensiveness.graph import FactGraph, Relation, analyse, representative


class ComprehensivenessSettings(BaseModel):
    """Settings of the metrics.

    Attributes:
        relevance: Claims and questions rated below this are left out (T_rel, section 4.1).
        confidence: Answers held with less confidence than this are left out (T_conf, section 4.1).
        summarise: Whether passages are first cut down to what bears on the question (listing 1).
        similarity: Pairs of claims that share less than this of their weight are not asked about but
            taken as neutral; 0 asks about every pair.
        most_pairs: An item with more pairs of claims than this is not scored.
        nli: The folder of an NLI model that relates claims, in place of words or of the LLM.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance: Annotated[float, Field(ge=1, le=5)] = 3.5
    confidence: Annotated[float, Field(ge=1, le=5)] = 2.0
    summarise: bool = False
    similarity: Annotated[float, Field(ge=0, le=1)] = 0.0
    most_pairs: Annotated[int, Field(ge=1)] = 1_000_000
    nli: str = ""


NOTHING_RELEVANT = "The passages say nothing that bears on the question."


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The statements of the passages and where they stand, as they go into a score's details.

    Attributes:
        covered: Statements that the answer makes: `{"id"?, "text", "passages"}`.
        basis: The fewest of these that would have to be added.
        contradicted: Those of the missing that it speaks against, with the key `answer`.
    """

    covered: Sequence[Json]
    missing: Sequence[Json]
    basis: Sequence[Json]
    contradicted: Sequence[Json] = ()


def facts_of(graph: FactGraph) -> Facts:
    """Return the statements of a fact graph; none where it has no claim of a passage."""
    coverage = analyse(graph)
    covered = set(coverage.covered)
    return Facts(
        covered=[statement_json(graph, group) for group in coverage.clusters if group[0] in covered],
        missing=[statement_json(graph, group) for group in coverage.clusters if group[0] not in covered],
        basis=[statement_json(graph, group) for group in coverage.basis_clusters],
        contradicted=_contradicted(graph, covered),
    )


def score_facts(item: MetricItem, metric: str, facts: Facts, engine: str) -> Score:
    """Score an answer by what it covers: the share of the statements."""
    total = len(facts.covered) + len(facts.missing)
    if not total:
        return unscored(item, metric, Outcome.UNREADABLE, NOTHING_RELEVANT)
    return Score(
        id=item.id,
        metric=metric,
        outcome=Outcome.JUDGED,
        score=len(facts.covered) / total,
        details={
            "covered": list(facts.covered),
            "missing": list(facts.missing),
            "basis": list(facts.basis),
            "contradicted": list(facts.contradicted),
            "counts": {
                "covered": len(facts.covered),
                "missing": len(facts.missing),
                "basis": len(facts.basis),
            },
            "engine": engine,
        },
    )


def statement_json(graph: FactGraph, group: Sequence[str]) -> dict[str, Json]:
    """Return a statement by its representative, with every passage that makes it."""
    name = representative(graph, group)
    passages = sorted({graph.by_id[claim_id].source for claim_id in group})
    return {"id": name, "text": graph.by_id[name].text, "passages": passages}


def _contradicted(graph: FactGraph, covered: set[str]) -> list[Json]:
    """Return the passages' claims that a claim of the answer contradicts and none covers."""
    contradicted: dict[str, Json] = {}
    for edge in graph.edges:
        answer, passage = graph.by_id[edge.start], graph.by_id[edge.end]
        against = edge.relation is Relation.CONTRADICTION and not answer.source and passage.source
        if against and passage.id not in covered:
            fact = statement_json(graph, [passage.id])
            contradicted.setdefault(passage.id, {**fact, "answer": answer.text})
    return list(contradicted.values())
