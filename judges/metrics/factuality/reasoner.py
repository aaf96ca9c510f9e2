"""FactReasoner: claims and contexts as a Markov network, in three versions.

FR1 relates each claim to its own contexts, FR2 to all contexts of the answer; FR3 also relates contexts to
each other.

Source: FactReasoner, section 3.3.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from data.errors import StatisticsError
from data.models import Json, MetricItem, Outcome, Passage
from judges.llm.requests import CallFailure
from judges.llm.templates import passage_text
from judges.metrics.comprehensiveness.graph import UnscoredError
from judges.metrics.factuality.baselines import Assessor
from judges.metrics.factuality.evidence import Evidence, EvidenceSource, require
from judges.metrics.factuality.graph import FactEdge, FactGraph, FactNode, FactRelation, NodeKind
from judges.metrics.factuality.inference.marginals import Marginals, marginals
from judges.metrics.factuality.report import Assessment, Link, reasoner_details
from judges.metrics.factuality.tasks import FactualitySettings
from judges.metrics.relations.model import Entailment, Pair, Related, RelationModel


class Version(StrEnum):
    """Versions of the reasoner by the relations they use."""

    FR1 = "fr1"
    FR2 = "fr2"
    FR3 = "fr3"


class _Question(NamedTuple):
    """A relation to classify, from one node to another."""

    source: str
    target: str
    pair: Pair


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Contexts as nodes, and the relations to classify."""

    contexts: dict[str, Passage]
    to_claims: tuple[_Question, ...]
    between: tuple[_Question, ...]


class FactReasoner(Assessor):
    """Scores an answer by the share of claims that are more likely true than false."""

    def __init__(
        self,
        version: Version,
        *,
        evidence: EvidenceSource,
        relations: RelationModel,
        settings: FactualitySettings,
        engine: str = "",
    ) -> None:
        super().__init__(version, engine=engine)
        self._version = version
        self._evidence = evidence
        self._relations = relations
        self._settings = settings

    async def _details(self, item: MetricItem, claims: Sequence[str] | None) -> tuple[dict[str, Json], float]:
        return reasoner_details(await self.assess(item, claims), self._settings)

    async def assess(self, item: MetricItem, claims: Sequence[str] | None = None) -> Assessment:
        """Assess the claims of the answer, or `claims`."""
        evidence = await self._evidence.collect(item, claims)
        nodes = _nodes_of(evidence, self._version)
        questions = (*nodes.to_claims, *nodes.between)
        replies = await self._relations.relate(
            [question.pair for question in questions], question=item.question
        )
        failures = Counter(reply.outcome.value for reply in replies if isinstance(reply, CallFailure))
        for reply in replies:
            if isinstance(reply, CallFailure):
                require(reply)
        if questions and failures.total() == len(questions):
            raise UnscoredError(
                Outcome(failures.most_common(1)[0][0]), "All replies about relations are unreadable."
            )
        cut = len(nodes.to_claims)
        links = _to_claims(nodes.to_claims, replies[:cut]) + _between(nodes.between, replies[cut:])
        graph = self._graph(evidence, nodes, links)
        return Assessment(
            claims=evidence.claims,
            contexts=nodes.contexts,
            links=tuple(links),
            graph=graph,
            posteriors=self._infer(graph),
            lost=dict(failures),
            cut=evidence.cut,
        )

    def _graph(self, evidence: Evidence, nodes: _Nodes, links: Sequence[Link]) -> FactGraph:
        chosen = self._settings
        claims = [
            FactNode(id=claim.id, kind=NodeKind.CLAIM, prior=chosen.claim_prior) for claim in evidence.claims
        ]
        contexts = [
            FactNode(
                id=name,
                kind=NodeKind.CONTEXT,
                prior=chosen.source_priors.get(passage.id, chosen.context_prior),
            )
            for name, passage in nodes.contexts.items()
        ]
        return FactGraph(nodes=(*claims, *contexts), edges=tuple(link.edge for link in links))

    def _infer(self, graph: FactGraph) -> Marginals:
        chosen = self._settings
        try:
            return marginals(graph, factors=chosen.factors, inference=chosen.inference)
        except StatisticsError as error:
            raise UnscoredError(Outcome.UNREADABLE, error.message) from error


def _nodes_of(evidence: Evidence, version: Version) -> _Nodes:
    unique = evidence.contexts.unique
    if version is Version.FR1:
        premises = [
            (claim, f"{context.id}/{claim.id}", context.passage)
            for claim, contexts in zip(evidence.claims, evidence.contexts.by_claim, strict=True)
            for context in contexts
        ]
        return _Nodes(
            contexts={name: passage for _, name, passage in premises},
            to_claims=tuple(
                _Question(name, claim.id, Pair(passage_text(passage), claim.text))
                for claim, name, passage in premises
            ),
            between=(),
        )
    to_claims = tuple(
        _Question(context.id, claim.id, Pair(passage_text(context.passage), claim.text))
        for claim in evidence.claims
        for context in unique
    )
    between = tuple(
        _Question(source.id, target.id, Pair(passage_text(source.passage), passage_text(target.passage)))
        for first, second in combinations(unique, 2)
        for source, target in ((first, second), (second, first))
    )
    contexts = {context.id: context.passage for context in unique}
    return _Nodes(contexts, to_claims, between if version is Version.FR3 else ())


def _to_claims(questions: Sequence[_Question], replies: Sequence[Related | CallFailure]) -> list[Link]:
    return [
        _link(question, reply, FactRelation(reply.stance.value))
        for question, reply in zip(questions, replies, strict=True)
        if isinstance(reply, Related) and reply.stance is not Entailment.NEUTRAL
    ]


def _between(questions: Sequence[_Question], replies: Sequence[Related | CallFailure]) -> list[Link]:
    """Merge both directions of each pair of contexts into at most one edge.

    Mutual entailment is equivalence with the mean probability. Otherwise the more probable direction counts,
    as in the public code, even if it is neutral.
    """
    links = []
    for at in range(0, len(questions), 2):
        both = [
            (question, reply)
            for question, reply in zip(questions[at : at + 2], replies[at : at + 2], strict=True)
            if isinstance(reply, Related)
        ]
        if not both:
            continue
        question, reply = max(
            both, key=lambda pair: (pair[1].probability, pair[1].stance is not Entailment.NEUTRAL)
        )
        if len(both) == len(questions[at : at + 2]) and all(
            relation.stance is Entailment.ENTAILMENT for _, relation in both
        ):
            mean = sum(relation.probability for _, relation in both) / len(both)
            question = both[0][0]
            links.append(
                _link(question, Related(Entailment.ENTAILMENT, mean, reply.why), FactRelation.EQUIVALENCE)
            )
        elif reply.stance is not Entailment.NEUTRAL:
            links.append(_link(question, reply, FactRelation(reply.stance.value)))
    return links


def _link(question: _Question, reply: Related, relation: FactRelation) -> Link:
    edge = FactEdge(
        source=question.source, target=question.target, relation=relation, probability=reply.probability
    )
    return Link(edge, reply.why)
