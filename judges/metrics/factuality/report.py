"""JSON form of assessments, and summaries of scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from data.errors import StatisticsError
from data.models import Json, Outcome, Passage, Score
from judges.metrics.factuality.evidence import Claim
from judges.metrics.factuality.graph import FactEdge, FactGraph, FactRelation
from judges.metrics.factuality.inference.marginals import Marginals
from judges.metrics.factuality.measures import (
    Counts,
    Label,
    count,
    entropy_measure,
    f1_at,
    label_of,
    median_claims,
    precision,
    recall_at,
    repaired_entropy_measure,
)
from judges.metrics.factuality.tasks import FactualitySettings
from judges.metrics.shortening import cut_details


@dataclass(frozen=True, slots=True)
class Link:
    """An edge and its decisive wording, if known."""

    edge: FactEdge
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A fact graph with its posteriors.

    Attributes:
        contexts: Passage of each context node; in FR1 several nodes can have the same passage.
        lost: Number of relations without a readable reply, by outcome.
        cut: Shortened passages with their words before and after.
    """

    claims: tuple[Claim, ...]
    contexts: Mapping[str, Passage]
    links: tuple[Link, ...]
    graph: FactGraph
    posteriors: Marginals
    lost: Mapping[str, int]
    cut: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def count_details(counts: Counts, settings: FactualitySettings) -> dict[str, Json]:
    """Return counts and derived measures; recall and F1@K are null without a K."""
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


def reasoner_details(assessment: Assessment, settings: FactualitySettings) -> tuple[dict[str, Json], float]:
    """Return the details of a FactReasoner score, and the score."""
    posteriors = [assessment.posteriors.marginals[claim.id] for claim in assessment.claims]
    trust = [assessment.posteriors.marginals[name] for name in assessment.contexts]
    counts = count([label_of(p) for p in posteriors])
    details = count_details(counts, settings)
    details |= {
        "entropy": entropy_measure(posteriors),
        "entropy_repaired": repaired_entropy_measure(posteriors),
        "mean_context_posterior": fmean(trust) if trust else None,
        "factors": settings.factors.value,
        "inference": {
            "method": assessment.posteriors.method.value,
            "treewidth": assessment.posteriors.treewidth,
            "error": assessment.posteriors.error,
        },
        "claims": [_claim(claim, assessment) for claim in assessment.claims],
        "contexts": [_context(name, passage, assessment) for name, passage in assessment.contexts.items()],
        "graph": graph_json(assessment.graph),
        "unanswered": dict(assessment.lost),
        **cut_details(assessment.cut),
    }
    return details, precision(counts)


def graph_json(graph: FactGraph) -> dict[str, Json]:
    """Return a fact graph in its file format, for `arena metrics marginals`."""
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


def _claim(claim: Claim, assessment: Assessment) -> dict[str, Json]:
    posterior = assessment.posteriors.marginals[claim.id]
    label = label_of(posterior)
    links = [link for link in assessment.links if link.edge.target == claim.id]
    sides = [
        [_passage_json(link, assessment) for link in links if link.edge.relation is relation]
        for relation in (FactRelation.ENTAILMENT, FactRelation.CONTRADICTION)
    ]
    return {
        "id": claim.id,
        "text": claim.text,
        "posterior": posterior,
        "label": label.value,
        "for": sides[0],
        "against": sides[1],
        "reason": _reason(label, posterior, links, assessment),
    }


def _context(name: str, passage: Passage, assessment: Assessment) -> dict[str, Json]:
    posterior = assessment.posteriors.marginals[name]
    return {"id": name, "passage": passage.id, "title": passage.title, "posterior": posterior}


def _passage_json(link: Link, assessment: Assessment) -> dict[str, Json]:
    name = link.edge.source
    return {
        "context": name,
        "passage": assessment.contexts[name].id,
        "probability": link.edge.probability,
        "posterior": assessment.posteriors.marginals[name],
        "why": link.why,
    }


def _reason(label: Label, posterior: float, links: Sequence[Link], assessment: Assessment) -> str:
    """Explain a label by the supporting and contradicting passages."""
    if not links:
        return "No passage supports or contradicts it."
    parts = []
    for relation, verb in (
        (FactRelation.ENTAILMENT, "supported by"),
        (FactRelation.CONTRADICTION, "contradicted by"),
    ):
        names = [_weighted_name(link, assessment) for link in links if link.edge.relation is relation]
        if names:
            parts.append(f"{verb} {', '.join(names)}")
    conclusion = {
        Label.SUPPORTED: "More likely true than false",
        Label.CONTRADICTED: "More likely false than true",
        Label.UNDECIDED: "As likely true as false",
    }[label]
    return f"{conclusion} ({posterior:.2f}): {'; '.join(parts)}."


def _weighted_name(link: Link, assessment: Assessment) -> str:
    passage = assessment.contexts[link.edge.source]
    return f"{passage.id} ({link.edge.probability:.2f}{_doubt(link, assessment)})"


def _doubt(link: Link, assessment: Assessment) -> str:
    name = link.edge.source
    contradicting = dict.fromkeys(
        assessment.contexts[other].id
        for conflicting in assessment.links
        if conflicting.edge.relation is FactRelation.CONTRADICTION
        and name in (conflicting.edge.source, conflicting.edge.target)
        for other in (conflicting.edge.source, conflicting.edge.target)
        if other != name and other in assessment.contexts
    )
    trust = assessment.posteriors.marginals[name]
    return (
        f", itself contradicted by {', '.join(contradicting)} and true with probability {trust:.2f}"
        if contradicting
        else ""
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactualitySummary:
    """Means of an assessor's scores over the answers of a set; baselines have no entropy.

    `left_out` counts unscored answers by outcome; `k` is the median number of claims.
    """

    answers: int
    left_out: dict[str, int]
    k: float
    supported: float
    contradicted: float
    undecided: float
    precision: float
    recall_at_k: float
    f1_at_k: float
    entropy: float | None
    entropy_repaired: float | None


def summarise(scores: Sequence[Score], *, k: float | None = None) -> FactualitySummary:
    """Summarise the scores of a set.

    Raises:
        StatisticsError: No answer has a score.

    Source: FactReasoner, section 4 (measures of performance).
    """
    judged = [score for score in scores if score.outcome is Outcome.JUDGED]
    if not judged:
        message = f"None of {len(scores)} answers has a factuality score."
        raise StatisticsError(message, advice="See the reasons in the scores.")
    counts = [_counts(score) for score in judged]
    at = median_claims([entry.claims for entry in counts]) if k is None else k
    return FactualitySummary(
        answers=len(judged),
        left_out=dict(
            Counter(score.outcome.value for score in scores if score.outcome is not Outcome.JUDGED)
        ),
        k=at,
        supported=fmean(entry.supported for entry in counts),
        contradicted=fmean(entry.contradicted for entry in counts),
        undecided=fmean(entry.undecided for entry in counts),
        precision=fmean(precision(entry) for entry in counts),
        recall_at_k=fmean(recall_at(entry, at) for entry in counts),
        f1_at_k=fmean(f1_at(entry, at) for entry in counts),
        entropy=_mean(judged, "entropy"),
        entropy_repaired=_mean(judged, "entropy_repaired"),
    )


def _counts(score: Score) -> Counts:
    stored = {name: score.details.get(name) for name in ("supported", "contradicted", "undecided")}
    numbers = {name: value for name, value in stored.items() if isinstance(value, int)}
    if len(numbers) != len(stored):
        message = f"The score {score.metric} of {score.id} has no counts of claims."
        raise StatisticsError(message, advice="Summarise only scores of factuality metrics.")
    return Counts(**numbers)


def _mean(scores: Sequence[Score], name: str) -> float | None:
    values = [score.details.get(name) for score in scores]
    numbers = [value for value in values if isinstance(value, float)]
    return fmean(numbers) if numbers else None
