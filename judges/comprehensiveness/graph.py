"""The fact graph of an answer: what its claims cover of the passages' claims, and what is missing.

Source: Dejl et al., "Comprehensiveness Metrics for Automatic Evaluation of Factual Recall in Text
Generation", section 3.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import networkx as nx

from data.errors import RecordError


class NodeKind(StrEnum):
    """Whose claim a node is."""

    ANSWER = "atom"
    PASSAGE = "context"


class Relation(StrEnum):
    """What one claim says of another; only the first two shape the coverage."""

    ENTAILMENT = "entailment"
    EQUIVALENCE = "equivalence"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Node:
    """A claim of the answer or of a passage."""

    id: str
    kind: NodeKind
    text: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """What the claim `start` says of the claim `end`."""

    start: str
    end: str
    relation: Relation


@dataclass(frozen=True)
class FactGraph:
    """Claims and what they say of one another.

    Raises:
        RecordError: Two nodes share an id, or an edge names a node that is not there.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    by_id: Mapping[str, Node] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id = {node.id: node for node in self.nodes}
        if len(by_id) != len(self.nodes):
            twice = next(name for name, count in Counter(node.id for node in self.nodes).items() if count > 1)
            message = f"Two claims of the fact graph have the id {twice!r}."
            raise RecordError(message, advice="Give every node an id of its own.")
        for edge in self.edges:
            for end in (edge.start, edge.end):
                if end not in by_id:
                    message = f"An edge of the fact graph names the claim {end!r}, which is not there."
                    raise RecordError(message, advice="Name only nodes of the graph.")
        object.__setattr__(self, "by_id", by_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What an answer covers of the passages' claims.

    Attributes:
        covered: Ids of the passages' claims that some claim of the answer implies, sorted.
        uncovered: Ids of the others, sorted.
        clusters: The passages' claims grouped by what they say; one group a distinct statement.
        basis: One id for each statement that would have to be added to miss nothing: the uncovered
            statements that no other uncovered one implies, each by its representative.
        basis_clusters: The groups of the basis.
        score: The share of the statements that are covered; 0 where there are none, as the authors
            have it (`defined` tells the two apart).
    """

    covered: tuple[str, ...]
    uncovered: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]
    basis: tuple[str, ...]
    basis_clusters: tuple[tuple[str, ...], ...]
    score: float

    @property
    def defined(self) -> bool:
        """Whether there was anything to cover."""
        return bool(self.clusters)


def analyse(graph: FactGraph) -> Coverage:
    """Find what an answer covers.

    Claims that imply each other are one statement (a strongly connected component). A statement of
    the passages is covered where a path leads to it from a claim of the answer.

    Source: section 3.1, "Comprehensiveness Score Calculation". No path from a covered claim leads to
    an uncovered one, so the basis is made of the uncovered statements without a predecessor.
    """
    directed = nx.DiGraph()
    directed.add_nodes_from(graph.by_id)
    directed.add_edges_from(_implications(graph.edges))
    components = list(nx.strongly_connected_components(directed))
    number_of = {one: number for number, members in enumerate(components) for one in members}
    implied = {number_of[end] for start, end in directed.edges if number_of[start] != number_of[end]}
    said = _reached(directed, (node.id for node in graph.nodes if node.kind is NodeKind.ANSWER))
    statements = {
        number: tuple(sorted(one for one in members if graph.by_id[one].kind is NodeKind.PASSAGE))
        for number, members in enumerate(components)
    }
    covered = [group for group in statements.values() if group and group[0] in said]
    missing = [number for number, group in statements.items() if group and group[0] not in said]
    basis = sorted(statements[number] for number in missing if number not in implied)
    whole = len(covered) + len(missing)
    return Coverage(
        covered=tuple(sorted(one for group in covered for one in group)),
        uncovered=tuple(sorted(one for number in missing for one in statements[number])),
        clusters=tuple(sorted([*covered, *(statements[number] for number in missing)])),
        basis=tuple(sorted(representative(graph, group) for group in basis)),
        basis_clusters=tuple(basis),
        score=len(covered) / whole if whole else 0.0,
    )


def representative(graph: FactGraph, group: Sequence[str]) -> str:
    """The id that stands for a group of claims: of its most frequent wording, the first in order.

    Claims of passages go before claims of the answer; ids are ordered, so that every run names the
    same one.
    """
    passages = [one for one in group if graph.by_id[one].kind is NodeKind.PASSAGE]
    candidates = sorted(passages or group)
    wordings = Counter(" ".join(graph.by_id[one].text.casefold().split()) for one in candidates)
    return max(candidates, key=lambda one: wordings[" ".join(graph.by_id[one].text.casefold().split())])


def _implications(edges: Iterable[Edge]) -> Iterable[tuple[str, str]]:
    for edge in edges:
        if edge.relation in {Relation.ENTAILMENT, Relation.EQUIVALENCE} and edge.start != edge.end:
            yield edge.start, edge.end
            if edge.relation is Relation.EQUIVALENCE:
                yield edge.end, edge.start


def _reached(directed: nx.DiGraph, starts: Iterable[str]) -> set[str]:
    """Every claim that a path from one of the starts leads to, the starts included."""
    found = set(starts)
    waiting = list(found)
    successors = directed.adj
    while waiting:
        for following in successors[waiting.pop()]:
            if following not in found:
                found.add(following)
                waiting.append(following)
    return found
