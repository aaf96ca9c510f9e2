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
from judges.metrics.factuality.tasks import Pair, Related
from judges.text.entailment import Entailment

AGREES = {FactRelation.ENTAILMENT, FactRelation.EQUIVALENCE}
Heard = Mapping[Pair, Related | CallFailure]


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

    def settle(self, replies: Heard) -> tuple[Conflict, ...]:
        """Return the conflicts with their outcomes: stated ones first, then those over claims."""
        return (*self._stated_conflicts(replies), *self._conflicts_over_claims())

    def _stated(self) -> list[Link]:
        return [link for link in self._between if link.edge.relation is FactRelation.CONTRADICTION]

    def _stated_conflicts(self, replies: Heard) -> list[Conflict]:
        conflicts = []
        for link in self._stated():
            source, target = link.edge.source, link.edge.target
            voices = [
                self._voice(target, link.edge.probability, link.point, supports=True),
                self._voice(source, link.edge.probability, link.why, supports=False),
                *(self._heard(replies, link) if link.point else self._allies(source, target)),
            ]
            resolution = self._resolve(link.point or self._contexts[target].text, voices)
            if resolution is not None:
                conflicts.append(
                    self._conflict((source, target), link.edge.probability, None, link.why, resolution)
                )
        return conflicts

    def _heard(self, replies: Heard, link: Link) -> list[PassageStance]:
        """What the other passages say of the sentence in dispute."""
        voices = []
        for name, passage in self._contexts.items():
            relation = replies.get(Pair(text_of(passage), link.point))
            aside = name in (link.edge.source, link.edge.target)
            if aside or not isinstance(relation, Related) or relation.stance is Entailment.NEUTRAL:
                continue
            if relation.probability < MIN_SUPPORT:
                continue
            supports = relation.stance is Entailment.ENTAILMENT
            voices.append(self._voice(name, relation.probability, relation.why, supports=supports))
        return voices

    def _allies(self, source: str, target: str) -> list[PassageStance]:
        """The passages that agree with one of the two or contradict the other, as wholes."""
        voices = []
        for link in self._between:
            ends = (link.edge.source, link.edge.target)
            for end, other in (ends, ends[::-1]):
                aside = end not in (source, target) or other in (source, target)
                if not aside and link.edge.probability >= MIN_SUPPORT:
                    supports = (end == target) == (link.edge.relation in AGREES)
                    voices.append(self._voice(other, link.edge.probability, link.why, supports=supports))
        return voices

    def _conflicts_over_claims(self) -> list[Conflict]:
        """Pairs of contexts of which one supports a claim that the other contradicts."""
        conflicts: list[Conflict] = []
        for claim in self._claims:
            own = [link for link in self._to_claims.get(claim.id, []) if link.edge.probability >= MIN_SUPPORT]
            voices = [
                self._voice(
                    link.edge.source,
                    link.edge.probability,
                    link.why,
                    supports=link.edge.relation is FactRelation.ENTAILMENT,
                )
                for link in own
            ]
            ours = [link for link in own if link.edge.relation is FactRelation.ENTAILMENT]
            theirs = [link for link in own if link.edge.relation is FactRelation.CONTRADICTION]
            resolution = self._resolve(claim.text, voices) if ours and theirs else None
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

    def _voice(self, name: str, probability: float, why: str, *, supports: bool) -> PassageStance:
        return PassageStance(self._contexts[name].id, supports, probability, self._priors[name], why)

    @staticmethod
    def _resolve(point: str, voices: Sequence[PassageStance]) -> Resolution | None:
        """The outcome; None where certain passages leave no possible world, which no one can settle."""
        try:
            return resolve(point, voices)
        except StatisticsError:
            return None
