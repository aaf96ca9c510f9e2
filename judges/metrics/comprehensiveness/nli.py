"""Comprehensiveness by claims and entailment (section 3.1 of the paper), by an LLM or embedded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain

from data.records import MetricItem, Outcome, Passage
from judges.llm.requests import CallFailure
from judges.metrics.comprehensiveness.claims import SAYING_SOMETHING, Claim, Missing, Steps, yardstick_of
from judges.metrics.comprehensiveness.graph import Edge, FactGraph, Node, NodeKind, Relation
from judges.metrics.comprehensiveness.report import Facts, facts_of
from judges.metrics.comprehensiveness.settings import ComprehensivenessSettings
from judges.metrics.relations.model import Pair, RelationModel
from judges.pairwise.cleaning import clean, is_no_answer
from judges.text.entailment import classify, entailment_weights
from judges.text.statements import read_statement, read_statements
from judges.text.term_weights import TermWeights
from judges.text.tokens import related, terms


def hopeful(premise: str, hypothesis: str, similarity: float) -> bool:
    """Whether two claims share at least a share of the smaller one's terms, related words included."""
    if similarity <= 0:
        return True
    premise_terms, hypothesis_terms = (
        {related(term) for term in terms(text)} for text in (premise, hypothesis)
    )
    smaller = min(len(premise_terms), len(hypothesis_terms))
    return not smaller or len(premise_terms & hypothesis_terms) / smaller >= similarity


class NliReader:
    """Claims of the answer and of the passages, what each says of the others, and what is missing.

    Args:
        steps: Makes the steps for one item.
        engine: Who carries them out: an LLM's name, or that of the embedded version.
        settings: Thresholds.
    """

    def __init__(
        self, steps: Callable[[MetricItem], Steps], *, engine: str, settings: ComprehensivenessSettings
    ) -> None:
        self._steps = steps
        self._settings = settings
        self.engine = engine

    async def read(self, item: MetricItem) -> Facts | Missing:
        """Build the fact graph and read off what is covered; an answer without claims covers nothing."""
        graph = await self.graph(item)
        return graph if isinstance(graph, Missing) else facts_of(graph)

    async def graph(self, item: MetricItem) -> FactGraph | Missing:
        """Build the fact graph of one answer."""
        steps = self._steps(item)
        texts = (Passage("", item.answer), *yardstick_of(item))
        by_text = await asyncio.gather(*(self._claims(steps, text) for text in texts))
        for claims in by_text:
            if isinstance(claims, Missing):
                return claims
        of_answer, *of_passages = [claims for claims in by_text if not isinstance(claims, Missing)]
        passages = await self._relevant(steps, list(chain.from_iterable(of_passages)))
        if isinstance(passages, Missing):
            return passages
        nodes = [Node(f"a{at}", NodeKind.ANSWER, claim.text) for at, claim in enumerate(of_answer)]
        nodes += [
            Node(f"c{at}_{claim.source}", NodeKind.PASSAGE, claim.text, claim.source)
            for at, claim in enumerate(passages)
        ]
        edges = await self._edges(steps, nodes)
        return edges if isinstance(edges, Missing) else FactGraph(tuple(nodes), edges)

    @staticmethod
    async def _claims(steps: Steps, text: Passage) -> tuple[Claim, ...] | Missing:
        if not text.text.strip():
            return ()
        claims = await steps.claims(text.text, text.id)
        if isinstance(claims, Missing):
            return claims
        return tuple(dict.fromkeys(claim for claim in claims if claim.kind in SAYING_SOMETHING))

    async def _relevant(self, steps: Steps, claims: Sequence[Claim]) -> tuple[Claim, ...] | Missing:
        ratings = await steps.relevance(claims) if claims else ()
        if isinstance(ratings, Missing):
            return ratings
        return tuple(
            claim for claim, rating in zip(claims, ratings, strict=True) if rating >= self._settings.relevance
        )

    async def _edges(self, steps: Steps, nodes: Sequence[Node]) -> tuple[Edge, ...] | Missing:
        """Relate all claims but those of the answer to one another; identical wordings imply each other."""
        pairs = [(a, b) for a in nodes for b in nodes if _related(a, b)]
        if len(pairs) > self._settings.most_pairs:
            reason = (
                f"The texts have {len(pairs):,} pairs of claims, more than {self._settings.most_pairs:,}."
            )
            return Missing(Outcome.SKIPPED, reason)
        different = (
            (a.text, b.text)
            for a, b in pairs
            if a.text != b.text and hopeful(a.text, b.text, self._settings.similarity)
        )
        unique_pairs = tuple(dict.fromkeys(different))
        relations = await steps.relations(unique_pairs)
        if isinstance(relations, Missing):
            return relations
        by_pair = dict(zip(unique_pairs, relations, strict=True))
        return tuple(_edges_of(pairs, by_pair))


def _related(a: Node, b: Node) -> bool:
    """Whether the relation from a to b is wanted: any but within the answer."""
    return a is not b and NodeKind.PASSAGE in {a.kind, b.kind}


def _edges_of(pairs: Iterable[tuple[Node, Node]], by_pair: dict[tuple[str, str], Relation]) -> Iterable[Edge]:
    for a, b in pairs:
        default = Relation.EQUIVALENCE if a.text == b.text else Relation.NEUTRAL
        relation = by_pair.get((a.text, b.text), default)
        if relation is not Relation.NEUTRAL:
            yield Edge(a.id, b.id, relation)


LOWEST, HIGHEST = 1.0, 5.0
ON_TOPIC = 0.5


class LexicalSteps:
    """The steps for one item, with term weights fitted on its passages."""

    def __init__(self, item: MetricItem) -> None:
        self._question = item.question
        self._passages = yardstick_of(item)

    async def claims(self, text: str, source: str) -> tuple[Claim, ...] | Missing:
        """Every sentence with something to say is a claim; a "no answer" has none."""
        bare = text if source else clean(text)
        if not source and is_no_answer(bare):
            return ()
        return tuple(Claim(statement.text, source) for statement in read_statements(bare))

    async def relevance(self, claims: Sequence[Claim]) -> tuple[float, ...] | Missing:
        """Rate a claim by how much of the question its passage, or it alone, speaks of."""
        return tuple(self.rate(claim) for claim in claims)

    async def relations(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...] | Missing:
        """Compare the two claims of each pair."""
        return tuple(
            Relation(classify(read_statement(first), read_statement(second), self.weights).value)
            for first, second in pairs
        )

    def rate(self, claim: Claim) -> float:
        """The relevance of one claim, 1–5: 3 where its passage shares nothing with the question."""
        of_passage = self._on_topic.get(claim.source, 0.0)
        alone = self._share(frozenset(map(related, terms(claim.text))))
        most = max(self._on_topic.values(), default=0.0)
        share = max(of_passage, alone) / most if most else 1.0
        return LOWEST + (HIGHEST - LOWEST) * (ON_TOPIC + (1 - ON_TOPIC) * min(1.0, share))

    @cached_property
    def weights(self) -> TermWeights:
        """Term weights of the item's passages, the question's terms weighing little."""
        texts = [statement.text for passage in self._passages for statement in read_statements(passage.text)]
        return entailment_weights(texts, self._question)

    @cached_property
    def _on_topic(self) -> dict[str, float]:
        return {passage.id: self._share(self._roots(passage)) for passage in self._passages}

    @cached_property
    def _question_terms(self) -> frozenset[str]:
        return frozenset(map(related, terms(self._question)))

    @staticmethod
    def _roots(passage: Passage) -> frozenset[str]:
        return frozenset(related(term) for term in terms(f"{passage.title} {passage.text}"))

    def _share(self, roots: frozenset[str]) -> float:
        return len(self._question_terms & roots) / len(self._question_terms) if self._question_terms else 0.0


class RelatedByNli:
    """Steps whose relations an NLI model finds; everything else is as it was.

    Args:
        steps: Finds claims and their relevance.
        model: Relates claims.
        question: What was asked.
    """

    def __init__(self, steps: Steps, model: RelationModel, question: str) -> None:
        self._model = model
        self._question = question
        self.claims = steps.claims
        self.relevance = steps.relevance

    async def relations(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...] | Missing:
        """Ask the model about each pair."""
        found = await self._model.relate([Pair(*pair) for pair in pairs], question=self._question)
        relations = []
        for relation in found:
            if isinstance(relation, CallFailure):
                return Missing(relation.outcome, relation.detail)
            relations.append(Relation(relation.stance.value))
        return tuple(relations)
