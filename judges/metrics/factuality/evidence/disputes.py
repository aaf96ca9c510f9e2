"""The conflicts of one answer's passages, and the passages that have a say in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.errors import StatisticsError
from data.records import Passage
from judges.llm.requests import CallFailure
from judges.metrics.factuality.claims import Claim
from judges.metrics.factuality.evidence.conflicts import MIN_SUPPORT, PassageStance, Resolution, resolve
from judges.metrics.factuality.graph import FactGraph, FactRelation
from judges.metrics.factuality.report import Conflict, Link
from judges.metrics.relations.model import Pair, Related
from judges.text.entailment import Entailment

AGREES = {FactRelation.ENTAILMENT, FactRelation.EQUIVALENCE}
RelationReplies = Mapping[Pair, Related | CallFailure]


def text_of(passage: Passage) -> str:
    """What a passage says, as texts are related."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


class ConflictResolver:
    """Finds the conflicts in a fact graph and settles them.

    Args:
        claims: The claims of the answer.
        contexts: The passage of each context node.
        links: The edges of the graph.
        graph: The fact graph, for the priors.
        posteriors: The posterior of every node.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        contexts: Mapping[str, Passage],
        links: Sequence[Link],
        graph: FactGraph,
        posteriors: Mapping[str, float],
    ) -> None:
        self._claims = claims
        self._contexts = contexts
        self._posteriors = posteriors
        self._priors = {node.id: node.prior for node in graph.nodes}
        self._to_claims: dict[str, list[Link]] = {}
        self._between: list[Link] = []
        for link in links:
            if link.edge.target in contexts:
                self._between.append(link)
            else:
                self._to_claims.setdefault(link.edge.target, []).append(link)

    def to_ask(self) -> list[Pair]:
        """How the other passages bear on sentences in dispute, where the relation model names these."""
        return [
            Pair(text_of(passage), link.point)
            for link in self._stated()
            if link.point
            for name, passage in self._contexts.items()
            if name not in (link.edge.source, link.edge.target)
        ]

    def settle(self, replies: RelationReplies) -> tuple[Conflict, ...]:
        """Return the conflicts with their outcomes: stated ones first, then those over claims."""
        return (*self._stated_conflicts(replies), *self._conflicts_over_claims())

    def _stated(self) -> list[Link]:
        return [link for link in self._between if link.edge.relation is FactRelation.CONTRADICTION]

    def _stated_conflicts(self, replies: RelationReplies) -> list[Conflict]:
        conflicts = []
        for link in self._stated():
            source, target = link.edge.source, link.edge.target
            stances = [
                self._stance(target, link.edge.probability, link.point, supports=True),
                self._stance(source, link.edge.probability, link.why, supports=False),
                *(self._stances_on(replies, link) if link.point else self._stances_of_others(source, target)),
            ]
            resolution = self._resolve(link.point or self._contexts[target].text, stances)
            if resolution is not None:
                conflicts.append(
                    self._conflict((source, target), link.edge.probability, None, link.why, resolution)
                )
        return conflicts

    def _stances_on(self, replies: RelationReplies, link: Link) -> list[PassageStance]:
        """What the other passages say of the sentence in dispute."""
        stances = []
        for name, passage in self._contexts.items():
            relation = replies.get(Pair(text_of(passage), link.point))
            aside = name in (link.edge.source, link.edge.target)
            if aside or not isinstance(relation, Related) or relation.stance is Entailment.NEUTRAL:
                continue
            if relation.probability < MIN_SUPPORT:
                continue
            supports = relation.stance is Entailment.ENTAILMENT
            stances.append(self._stance(name, relation.probability, relation.why, supports=supports))
        return stances

    def _stances_of_others(self, source: str, target: str) -> list[PassageStance]:
        """The passages that agree with one of the two or contradict the other, as wholes."""
        stances = []
        for link in self._between:
            ends = (link.edge.source, link.edge.target)
            for end, other in (ends, ends[::-1]):
                aside = end not in (source, target) or other in (source, target)
                if not aside and link.edge.probability >= MIN_SUPPORT:
                    supports = (end == target) == (link.edge.relation in AGREES)
                    stances.append(self._stance(other, link.edge.probability, link.why, supports=supports))
        return stances

    def _conflicts_over_claims(self) -> list[Conflict]:
        """Pairs of contexts of which one supports a claim that the other contradicts."""
        conflicts: list[Conflict] = []
        for claim in self._claims:
            links = [
                link for link in self._to_claims.get(claim.id, []) if link.edge.probability >= MIN_SUPPORT
            ]
            stances = [
                self._stance(
                    link.edge.source,
                    link.edge.probability,
                    link.why,
                    supports=link.edge.relation is FactRelation.ENTAILMENT,
                )
                for link in links
            ]
            ours = [link for link in links if link.edge.relation is FactRelation.ENTAILMENT]
            theirs = [link for link in links if link.edge.relation is FactRelation.CONTRADICTION]
            resolution = self._resolve(claim.text, stances) if ours and theirs else None
            if resolution is not None:
                conflicts += [
                    self._conflict(
                        (supporting.edge.source, contradicting.edge.source),
                        min(supporting.edge.probability, contradicting.edge.probability),
                        claim.id,
                        contradicting.why,
                        resolution,
                    )
                    for supporting in ours
                    for contradicting in theirs
                ]
        return conflicts

    def _conflict(
        self, pair: tuple[str, str], probability: float, claim: str | None, why: str, resolution: Resolution
    ) -> Conflict:
        first, second = pair
        return Conflict(
            passages=(self._contexts[first].id, self._contexts[second].id),
            posteriors=(self._posteriors[first], self._posteriors[second]),
            probability=probability,
            claim=claim,
            why=why,
            resolution=resolution,
        )

    def _stance(self, name: str, probability: float, why: str, *, supports: bool) -> PassageStance:
        return PassageStance(self._contexts[name].id, supports, probability, self._priors[name], why)

    @staticmethod
    def _resolve(point: str, stances: Sequence[PassageStance]) -> Resolution | None:
        """The outcome; None where certain passages leave no possible world, which no one can settle."""
        try:
            return resolve(point, stances)
        except StatisticsError:
            return None
