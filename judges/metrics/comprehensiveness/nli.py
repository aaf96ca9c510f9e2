"""Comprehensiveness by claims and entailment (section 3.1 of the paper), by an LLM or embedded."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

from data.models import MetricItem, Outcome, Passage
from judges.metrics.comprehensiveness.embedded import SAID
from judges.metrics.comprehensiveness.graph import (
    SAYING_SOMETHING,
    Claim,
    Edge,
    FactGraph,
    Node,
    NodeKind,
    Relation,
    Relations,
    Steps,
    UnscoredError,
    Wordings,
    answered,
    ground_truth_of,
    together,
)
from judges.metrics.comprehensiveness.report import ComprehensivenessSettings, Facts, facts_of
from judges.metrics.relations.model import Entailment, Pair, RelationModel
from judges.text.tokens import related, terms


def hopeful(premise: str, hypothesis: str, similarity: float) -> bool:
    """Return whether two claims share at least a share of the smaller one's terms, related words included."""
    if similarity <= 0:
        return True
    premise_terms, hypothesis_terms = (
        {related(term) for term in terms(text)} for text in (premise, hypothesis)
    )
    smaller = min(len(premise_terms), len(hypothesis_terms))
    return not smaller or len(premise_terms & hypothesis_terms) / smaller >= similarity


class NliReader:
    """Claims of the answer and of the passages, their relations, and what is missing."""

    def __init__(
        self, steps: Callable[[MetricItem], Steps], *, engine: str, settings: ComprehensivenessSettings
    ) -> None:
        self._steps = steps
        self._settings = settings
        self.engine = engine

    async def read(self, item: MetricItem) -> Facts:
        """Build the fact graph and read off what is covered; an answer without claims covers nothing."""
        return facts_of(await self.graph(item))

    async def graph(self, item: MetricItem) -> FactGraph:
        """Build the fact graph of one answer."""
        steps = self._steps(item)
        texts = (Passage("", item.answer), *ground_truth_of(item))
        of_answer, *of_passages = await together(self._claims(steps, text) for text in texts)
        passages = await self._relevant(steps, list(chain.from_iterable(of_passages)))
        nodes = [Node(f"a{at}", NodeKind.ANSWER, claim.text) for at, claim in enumerate(of_answer)]
        nodes += [
            Node(f"c{at}_{claim.source}", NodeKind.PASSAGE, claim.text, claim.source)
            for at, claim in enumerate(passages)
        ]
        return FactGraph(tuple(nodes), await self._edges(steps, nodes))

    @staticmethod
    async def _claims(steps: Steps, text: Passage) -> tuple[Claim, ...]:
        if not text.text.strip():
            return ()
        claims = await steps.claims(text.text, text.id)
        return tuple(dict.fromkeys(claim for claim in claims if claim.kind in SAYING_SOMETHING))

    async def _relevant(self, steps: Steps, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        ratings = await steps.relevance(claims) if claims else ()
        return tuple(
            claim for claim, rating in zip(claims, ratings, strict=True) if rating >= self._settings.relevance
        )

    async def _edges(self, steps: Steps, nodes: Sequence[Node]) -> tuple[Edge, ...]:
        """Relate all claims but those of the answer to one another; identical wordings imply each other."""
        of_answer = sum(node.kind is NodeKind.ANSWER for node in nodes)
        wanted = len(nodes) * (len(nodes) - 1) - of_answer * (of_answer - 1)
        if wanted > self._settings.most_pairs:
            reason = f"The texts have {wanted:,} pairs of claims, more than {self._settings.most_pairs:,}."
            raise UnscoredError(Outcome.SKIPPED, reason)
        texts = {
            kind: tuple(dict.fromkeys(node.text for node in nodes if node.kind is kind)) for kind in NodeKind
        }
        wordings = Wordings(texts[NodeKind.ANSWER], texts[NodeKind.PASSAGE])
        least = self._settings.similarity
        tried = partial(hopeful, similarity=least) if least > 0 else None
        return _edges_of(nodes, await steps.relations(wordings, tried))


def _edges_of(nodes: Sequence[Node], relations: Relations) -> tuple[Edge, ...]:
    """Return the edges between nodes, by their wordings' relations; equal ones imply each other."""
    places: dict[str, list[int]] = {}
    for place, node in enumerate(nodes):
        places.setdefault(node.text, []).append(place)
    same = (((text, text), Relation.EQUIVALENCE) for text, those in places.items() if len(those) > 1)
    edges = [
        (a, b, relation)
        for (first, second), relation in chain(same, relations.items())
        for a in places.get(first, ())
        for b in places.get(second, ())
        if a != b and (nodes[a].kind is NodeKind.PASSAGE or nodes[b].kind is NodeKind.PASSAGE)
    ]
    return tuple(Edge(nodes[a].id, nodes[b].id, relation) for a, b, relation in sorted(edges))


class RelatedByNli:
    """Steps whose relations an NLI model finds; everything else is as it was."""

    def __init__(self, steps: Steps, model: RelationModel, question: str) -> None:
        self._model = model
        self._question = question
        self.claims = steps.claims
        self.relevance = steps.relevance

    async def relations(
        self, wordings: Wordings, wanted: Callable[[str, str], bool] | None = None
    ) -> Relations:
        """Ask the model about each pair."""
        pairs = [Pair(*pair) for pair in wordings.pairs() if wanted is None or wanted(*pair)]
        found = await self._model.relate(pairs, question=self._question)
        relations: dict[tuple[str, str], Relation] = {}
        for pair, relation in zip(pairs, map(answered, found), strict=True):
            if relation.stance is not Entailment.NEUTRAL:
                relations[pair.premise, pair.hypothesis] = SAID[relation.stance]
        return relations
