"""Settings and scores of comprehensiveness."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from data.models import Json, MetricItem, Outcome, Score, unscored
from judges.metrics.comprehensiveness.graph import FactGraph, Relation, analyse, representative


class ComprehensivenessSettings(BaseModel):
    """Settings of the metrics.

    Attributes:
        relevance: Minimum relevance of claims and questions (T_rel, section 4.1).
        confidence: Minimum confidence of answers (T_conf, section 4.1).
        summarise: Whether to summarise passages for the question first (listing 1).
        similarity: Minimum share of common roots of a pair of claims; other pairs are neutral without a
            request. 0 asks about every pair.
        most_pairs: Maximum number of pairs of claims; larger items are not scored.
        nli: Folder of an NLI model that relates claims instead of words or the LLM.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance: Annotated[float, Field(ge=1, le=5)] = 3.5
    confidence: Annotated[float, Field(ge=1, le=5)] = 2.0
    summarise: bool = False
    similarity: Annotated[float, Field(ge=0, le=1)] = 0.0
    most_pairs: Annotated[int, Field(ge=1)] = 1_000_000
    nli: str = ""


NOTHING_RELEVANT = "The passages contain nothing relevant to the question."


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Covered and missing statements of the passages, as in a score's details.

    Attributes:
        covered: Statements that the answer covers: `{"id"?, "text", "passages"}`.
        basis: Minimal set of missing statements to add.
        contradicted: Missing statements that the answer contradicts, with the key `answer`.
    """

    covered: Sequence[Json]
    missing: Sequence[Json]
    basis: Sequence[Json]
    contradicted: Sequence[Json] = ()


def facts_of(graph: FactGraph) -> Facts:
    """Return the facts of a fact graph."""
    coverage = analyse(graph)
    covered = set(coverage.covered)
    return Facts(
        covered=[statement_json(graph, group) for group in coverage.clusters if group[0] in covered],
        missing=[statement_json(graph, group) for group in coverage.clusters if group[0] not in covered],
        basis=[statement_json(graph, group) for group in coverage.basis_clusters],
        contradicted=_contradicted(graph, covered),
    )


def score_facts(item: MetricItem, metric: str, facts: Facts, engine: str) -> Score:
    """Score an answer by its share of covered statements."""
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
    """Return a statement's representative with all its passages."""
    name = representative(graph, group)
    passages = sorted({graph.by_id[claim_id].source for claim_id in group})
    return {"id": name, "text": graph.by_id[name].text, "passages": passages}


def _contradicted(graph: FactGraph, covered: set[str]) -> list[Json]:
    """Return uncovered claims of passages that a claim of the answer contradicts."""
    contradicted: dict[str, Json] = {}
    for edge in graph.edges:
        answer, passage = graph.by_id[edge.start], graph.by_id[edge.end]
        against = edge.relation is Relation.CONTRADICTION and not answer.source and passage.source
        if against and passage.id not in covered:
            fact = statement_json(graph, [passage.id])
            contradicted.setdefault(passage.id, {**fact, "answer": answer.text})
    return list(contradicted.values())
