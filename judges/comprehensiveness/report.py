"""Scores of comprehensiveness with what they rest on: covered, missing, basis, sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.records import Json, MetricItem, Outcome, Score, unscored
from judges.comprehensiveness.graph import Coverage, FactGraph, Relation, analyse, representative

NOTHING_RELEVANT = "The passages say nothing that bears on the question."
NO_YARDSTICK = "There are neither passages nor a reference to hold the answer against."


def score_graph(item: MetricItem, metric: str, graph: FactGraph, about: Mapping[str, Json]) -> Score:
    """Score an answer by its fact graph.

    Returns:
        A score with the details `covered`, `missing` and `basis` (lists of `{"id", "text", "passages"}`,
        a statement each), `contradicted` (`{"id", "text", "passages", "answer"}`), `counts`, and what
        `about` adds. Unreadable where the graph has no claim of a passage.
    """
    coverage = analyse(graph)
    if not coverage.defined:
        return unscored(item, metric, Outcome.UNREADABLE, NOTHING_RELEVANT)
    return Score(
        id=item.id,
        metric=metric,
        outcome=Outcome.JUDGED,
        score=coverage.score,
        details={**_details(graph, coverage), **about},
    )


def _details(graph: FactGraph, coverage: Coverage) -> dict[str, Json]:
    said = set(coverage.covered)
    covered = [group for group in coverage.clusters if group[0] in said]
    missing = [group for group in coverage.clusters if group[0] not in said]
    return {
        "covered": [statement_json(graph, group) for group in covered],
        "missing": [statement_json(graph, group) for group in missing],
        "basis": [statement_json(graph, group) for group in coverage.basis_clusters],
        "contradicted": _contradicted(graph, said),
        "counts": {"covered": len(covered), "missing": len(missing), "basis": len(coverage.basis)},
    }


def statement_json(graph: FactGraph, group: Sequence[str]) -> dict[str, Json]:
    """A statement by its representative, with every passage that makes it."""
    name = representative(graph, group)
    passages = sorted({graph.by_id[one].source for one in group})
    return {"id": name, "text": graph.by_id[name].text, "passages": passages}


def _contradicted(graph: FactGraph, said: set[str]) -> list[Json]:
    """The passages' claims that a claim of the answer contradicts and none covers."""
    found: dict[str, Json] = {}
    for edge in graph.edges:
        if edge.relation is not Relation.CONTRADICTION:
            continue
        answer, passage = graph.by_id[edge.start], graph.by_id[edge.end]
        if not answer.source and passage.source and passage.id not in said and passage.id not in found:
            found[passage.id] = {
                "id": passage.id,
                "text": passage.text,
                "passages": [passage.source],
                "answer": answer.text,
            }
    return list(found.values())
