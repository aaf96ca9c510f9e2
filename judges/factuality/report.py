"""What is kept of an assessment: JSON that the site shows and that a person can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from data.records import Json, Passage
from judges.factuality.claims import Claim
from judges.factuality.conflicts import Resolution
from judges.factuality.graph import FactEdge, FactGraph, FactRelation
from judges.factuality.inference import Marginals
from judges.factuality.measures import (
    Counts,
    Label,
    count,
    entropy_measure,
    f1_at,
    label_of,
    precision,
    recall_at,
    repaired_entropy_measure,
)
from judges.factuality.settings import FactualitySettings


@dataclass(frozen=True, slots=True)
class Link:
    """An edge, the wording that made it, and the sentence that is contradicted, where they are known."""

    edge: FactEdge
    why: str = ""
    point: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two passages that contradict each other, by themselves or over a claim, and how it ends."""

    passages: tuple[str, str]
    posteriors: tuple[float, float]
    probability: float
    claim: str | None
    why: str
    resolution: Resolution

    def as_json(self) -> dict[str, Json]:
        """What is kept beside the score."""
        return {
            "passages": list(self.passages),
            "posteriors": list(self.posteriors),
            "probability": self.probability,
            "claim": self.claim,
            "why": self.why,
            "resolution": self.resolution.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A fact graph with its posteriors.

    Attributes:
        claims: The claims.
        contexts: The passage of each context node; in FR1 one passage can stand at several nodes.
        links: The edges with their reasons.
        graph: The fact graph.
        posteriors: The posterior of every node.
        conflicts: The passages that contradict each other.
        lost: How many relations could not be read or were refused, by outcome.
    """

    claims: tuple[Claim, ...]
    contexts: Mapping[str, Passage]
    links: tuple[Link, ...]
    graph: FactGraph
    posteriors: Marginals
    conflicts: tuple[Conflict, ...]
    lost: Mapping[str, int]


def count_details(counts: Counts, settings: FactualitySettings) -> dict[str, Json]:
    """The counts and what follows from them; recall and F1@K are null without a K."""
    k = settings.recall_k
    return {
        "supported": counts.supported,
        "contradicted": counts.contradicted,
        "undecided": counts.undecided,
        "precision": precision(counts),
        "k": k,
        "recall_at_k": None if k is None else recall_at(counts, k),
        "f1_at_k": None if k is None else f1_at(counts, k),
    }


def reasoner_details(found: Assessment, settings: FactualitySettings) -> tuple[dict[str, Json], float]:
    """Return the details of a FactReasoner score, and the score."""
    posteriors = [found.posteriors.marginals[claim.id] for claim in found.claims]
    trust = [found.posteriors.marginals[name] for name in found.contexts]
    counts = count([label_of(p) for p in posteriors])
    details = count_details(counts, settings)
    details |= {
        "entropy": entropy_measure(posteriors),
        "entropy_repaired": repaired_entropy_measure(posteriors),
        "mean_context_posterior": fmean(trust) if trust else None,
        "factors": settings.factors.value,
        "inference": {
            "method": found.posteriors.method.value,
            "treewidth": found.posteriors.treewidth,
            "error": found.posteriors.error,
        },
        "claims": [_claim(claim, found) for claim in found.claims],
        "contexts": [_context(name, passage, found) for name, passage in found.contexts.items()],
        "conflicts": [conflict.as_json() for conflict in found.conflicts],
        "graph": graph_json(found.graph),
        "unanswered": dict(found.lost),
    }
    return details, precision(counts)


def graph_json(graph: FactGraph) -> dict[str, Json]:
    """A fact graph in its file format, as `arena metrics marginals` reads it."""
    return {
        "nodes": [
            {"id": node.id, "type": node.kind.value, "probability": node.prior} for node in graph.nodes
        ],
        "edges": [
            {
                "from": edge.source,
                "to": edge.target,
                "relation": edge.relation.value,
                "probability": edge.probability,
            }
            for edge in graph.edges
        ],
    }


def _claim(claim: Claim, found: Assessment) -> dict[str, Json]:
    posterior = found.posteriors.marginals[claim.id]
    label = label_of(posterior)
    own = [link for link in found.links if link.edge.target == claim.id]
    sides = [
        [_witness(link, found) for link in own if link.edge.relation is relation]
        for relation in (FactRelation.ENTAILMENT, FactRelation.CONTRADICTION)
    ]
    return {
        "id": claim.id,
        "text": claim.text,
        "posterior": posterior,
        "label": label.value,
        "for": sides[0],
        "against": sides[1],
        "reason": _reason(label, posterior, own, found),
    }


def _context(name: str, passage: Passage, found: Assessment) -> dict[str, Json]:
    posterior = found.posteriors.marginals[name]
    return {"id": name, "passage": passage.id, "title": passage.title, "posterior": posterior}


def _witness(link: Link, found: Assessment) -> dict[str, Json]:
    name = link.edge.source
    return {
        "context": name,
        "passage": found.contexts[name].id,
        "probability": link.edge.probability,
        "posterior": found.posteriors.marginals[name],
        "why": link.why,
    }


def _reason(label: Label, posterior: float, own: Sequence[Link], found: Assessment) -> str:
    """One sentence for people: which passages speak for and against, and which of them are doubted."""
    if not own:
        return "No passage speaks for or against it."
    parts = []
    for relation, verb in (
        (FactRelation.ENTAILMENT, "supported by"),
        (FactRelation.CONTRADICTION, "contradicted by"),
    ):
        names = [
            f"{found.contexts[link.edge.source].id} ({link.edge.probability:.2f}{_doubt(link, found)})"
            for link in own
            if link.edge.relation is relation
        ]
        if names:
            parts.append(f"{verb} {', '.join(names)}")
    what = {
        Label.SUPPORTED: "Likelier true than false",
        Label.CONTRADICTED: "Likelier false than true",
        Label.UNDECIDED: "As likely true as false",
    }[label]
    return f"{what} ({posterior:.2f}): {'; '.join(parts)}."


def _doubt(link: Link, found: Assessment) -> str:
    """That other passages contradict this one, where they do."""
    name = link.edge.source
    rivals = dict.fromkeys(
        found.contexts[other].id
        for each in found.links
        if each.edge.relation is FactRelation.CONTRADICTION and name in (each.edge.source, each.edge.target)
        for other in (each.edge.source, each.edge.target)
        if other != name and other in found.contexts
    )
    trust = found.posteriors.marginals[name]
    return f", itself contradicted by {', '.join(rivals)} and held true at {trust:.2f}" if rivals else ""
