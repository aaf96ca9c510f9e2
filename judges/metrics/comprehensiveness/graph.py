"""The fact graph of an answer: what its claims cover of the passages' claims, and what is missing.

Source: Dejl et al., "Comprehensiveness Metrics for Automatic Evaluation of Factual Recall in Text
Generation", section 3.1.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from data.declines import declines
from data.errors import FileFormatError, RecordError
from data.files.strict_json import in_words
from data.models import Json, MetricItem, Outcome, Passage
from data.models.words import to_json
from judges.llm.requests import CallFailure


class NodeKind(StrEnum):
    """Source of a node's claim."""

    ANSWER = "atom"
    PASSAGE = "context"


class Relation(StrEnum):
    """Relation between two claims; only the first two shape the coverage."""

    ENTAILMENT = "entailment"
    EQUIVALENCE = "equivalence"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"


class Node(NamedTuple):
    """A claim of the answer or of a passage."""

    id: str
    kind: NodeKind
    text: str = ""
    source: str = ""


class Edge(NamedTuple):
    """Relation of the claim `start` to the claim `end`."""

    start: str
    end: str
    relation: Relation


@dataclass(frozen=True)
class FactGraph:
    """Claims and what they say of one another."""

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
    """Coverage of the passages' claims by an answer.

    Attributes:
        covered: Ids of the passages' claims that some claim of the answer implies, sorted.
        uncovered: Ids of the others, sorted.
        clusters: The passages' claims grouped by what they say; one group a distinct statement.
        basis: One id for each statement that would have to be added to miss nothing: the uncovered
            statements that no other uncovered one implies, each by its representative.
        basis_clusters: The groups of the basis.
        score: The share of the statements that are covered; None without any.
    """

    covered: tuple[str, ...]
    uncovered: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]
    basis: tuple[str, ...]
    basis_clusters: tuple[tuple[str, ...], ...]
    score: float | None

    @property
    def defined(self) -> bool:
        """True if there was anything to cover."""
        return bool(self.clusters)


def analyse(graph: FactGraph) -> Coverage:
    """Find what an answer covers.

    Claims that imply each other are one statement (a strongly connected component). A statement of
    the passages is covered where a path leads to it from a claim of the answer.

    Source: section 3.1, "Comprehensiveness Score Calculation". No path from a covered claim leads to
    an uncovered one, so the basis is made of the uncovered statements without a predecessor.
    """
    following: dict[str, set[str]] = {name: set() for name in graph.by_id}
    for start, end in _implications(graph.edges):
        following[start].add(end)
    reached = _reached(following)
    implied = {
        reached[end] for start, ends in following.items() for end in ends if reached[start] != reached[end]
    }
    passages: dict[int, list[str]] = {}
    said = 0
    for node in graph.nodes:
        if node.kind is NodeKind.PASSAGE:
            passages.setdefault(reached[node.id], []).append(node.id)
        else:
            said |= reached[node.id]
    statements = {number: tuple(sorted(members)) for number, members in passages.items()}
    # The answer leads to whatever a statement leads to where it leads to the statement.
    covered = [group for number, group in statements.items() if not number & ~said]
    missing = [number for number in statements if number & ~said]
    basis = sorted(statements[number] for number in missing if number not in implied)
    total = len(covered) + len(missing)
    return Coverage(
        covered=tuple(sorted(claim_id for group in covered for claim_id in group)),
        uncovered=tuple(sorted(claim_id for number in missing for claim_id in statements[number])),
        clusters=tuple(sorted([*covered, *(statements[number] for number in missing)])),
        basis=tuple(sorted(representative(graph, group) for group in basis)),
        basis_clusters=tuple(basis),
        score=len(covered) / total if total else None,
    )


def _reached(following: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return what each node of a graph leads to, itself included, as a set of bits.

    Nodes that lead to the same ones are a strongly connected component.
    """
    bits = {name: 1 << at for at, name in enumerate(following)}
    reached = {name: bits[name] | sum(bits[end] for end in ends) for name, ends in following.items()}
    for name, bit in bits.items():
        beyond = reached[name]
        if beyond != bit:
            reached |= {start: ends | beyond for start, ends in reached.items() if ends & bit}
    return reached


def representative(graph: FactGraph, group: Sequence[str]) -> str:
    """Return the id that stands for a group of claims: of its most frequent wording, the first in order.

    Claims of passages go before claims of the answer; ids are ordered, so that every run names the
    same one.
    """
    passages = [claim_id for claim_id in group if graph.by_id[claim_id].kind is NodeKind.PASSAGE]
    candidates = sorted(passages or group)
    texts = {name: " ".join(graph.by_id[name].text.casefold().split()) for name in candidates}
    wordings = Counter(texts.values())
    return max(candidates, key=lambda name: wordings[texts[name]])


def _implications(edges: Iterable[Edge]) -> Iterable[tuple[str, str]]:
    for edge in edges:
        if edge.relation in {Relation.ENTAILMENT, Relation.EQUIVALENCE} and edge.start != edge.end:
            yield edge.start, edge.end
            if edge.relation is Relation.EQUIVALENCE:
                yield edge.end, edge.start


def _as_edge(value: object) -> object:
    triple = ("from", "to", "relation")
    if isinstance(value, list | tuple) and len(value) == len(triple):
        return dict(zip(triple, value, strict=True))
    return value


def _as_nodes(value: object) -> object:
    if isinstance(value, Mapping):
        return [{"id": name, "type": kind} for name, kind in value.items()]
    return value


class _NodeLine(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    id: str
    kind: NodeKind = Field(alias="type")
    text: str = ""
    source: str = ""


class _EdgeLine(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    relation: Relation = Relation.ENTAILMENT


class _GraphFile(BaseModel):
    model_config = ConfigDict(extra="ignore")

    nodes: Annotated[list[_NodeLine], BeforeValidator(_as_nodes)]
    edges: list[Annotated[_EdgeLine, BeforeValidator(_as_edge)]] = []
    texts: dict[str, str] = {}


def read_graphs(value: object, *, where: str) -> tuple[FactGraph, ...]:
    """Read one fact graph or a list of them from parsed JSON.

    Args:
        value: `{"nodes": …, "edges": …}`, a list of those, or `{"graphs": […]}`. Nodes are objects with
            `id` and `type` (`atom` or `context`) and perhaps `text` and `source`, or a map from id to
            type beside a map `texts`. Edges are objects with `from`, `to` and `relation`, or triples.
        where: What to call the source in errors.
    """
    values = value["graphs"] if isinstance(value, Mapping) and "graphs" in value else value
    try:
        parsed = TypeAdapter(list[_GraphFile]).validate_python(
            values if isinstance(values, list) else [values]
        )
    except ValidationError as error:
        message = f"{where} is not a fact graph: {in_words(error)[0]}."
        raise FileFormatError(
            message, advice="See docs/method/comprehensiveness.md for the format."
        ) from error
    return tuple(_graph(file) for file in parsed)


def coverage_json(coverage: Coverage) -> dict[str, Json]:
    """Return the output of `arena metrics coverage` for one graph."""
    return to_json(coverage, defined=coverage.defined)


def _graph(file: _GraphFile) -> FactGraph:
    return FactGraph(
        nodes=tuple(
            Node(line.id, line.kind, line.text or file.texts.get(line.id, ""), line.source)
            for line in file.nodes
        ),
        edges=tuple(Edge(line.start, line.end, line.relation) for line in file.edges),
    )


REFERENCE_ID = "reference"


class ClaimKind(StrEnum):
    """The form of a content unit (section 3.1, listing 3)."""

    FACT = "fact"
    CLAIM = "claim"
    INSTRUCTION = "instruction"
    DATA_FORMAT = "data format"
    META_STATEMENT = "meta statement"
    QUESTION = "question"
    OTHER = "other"


SAYING_SOMETHING = frozenset({ClaimKind.FACT, ClaimKind.CLAIM, ClaimKind.INSTRUCTION, ClaimKind.DATA_FORMAT})
"""The kinds that can be covered or missed; the others are about the text itself."""


class Claim(NamedTuple):
    """One atomic statement of a text, and the passage it is from (empty for the answer)."""

    text: str
    source: str = ""
    kind: ClaimKind = ClaimKind.CLAIM


T = TypeVar("T")


class UnscoredError(Exception):
    """An answer cannot be scored; the metric turns it into an outcome with its reason."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


def answered(reply: T | CallFailure) -> T:
    """Return a reply."""
    if isinstance(reply, CallFailure):
        raise UnscoredError(reply.outcome, reply.detail)
    return reply


async def together(steps: Iterable[Awaitable[T]]) -> list[T]:
    """Run steps at once, to the end of all, so that no request goes on unseen; raise the first error."""
    results = await asyncio.gather(*steps, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


@dataclass(frozen=True, slots=True)
class Wordings:
    """The different wordings of an answer's claims and of the passages', to be related to each other."""

    of_answer: tuple[str, ...]
    of_passages: tuple[str, ...]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Every pair of two different wordings, in both orders, but pairs of the answer's own."""
        own = frozenset(self.of_passages)
        every = dict.fromkeys((*self.of_answer, *self.of_passages))
        for first in every:
            for second in every if first in own else self.of_passages:
                if first != second:
                    yield first, second


Relations = Mapping[tuple[str, str], Relation]


class Steps(Protocol):
    """The steps of the NLI-based metric for one item."""

    async def claims(self, text: str, source: str) -> tuple[Claim, ...]:
        """Extract the claims of one text and make them self-contained."""
        ...

    async def relevance(self, claims: Sequence[Claim]) -> tuple[float, ...]:
        """Rate how much each claim matters to the question, 1–5."""
        ...

    async def relations(
        self, wordings: Wordings, wanted: Callable[[str, str], bool] | None = None
    ) -> Relations:
        """Tell what the first of each pair says of the second; pairs that are not `wanted` are neutral."""
        ...


def ground_truth_of(item: MetricItem) -> tuple[Passage, ...]:
    """Return the passages of an item, else its reference as one passage unless it declines, else nothing."""
    passages = tuple(passage for passage in item.passages if passage.text.strip())
    if passages:
        return passages
    reference = (item.reference or "").strip()
    return () if declines(reference, item.question) else (Passage(REFERENCE_ID, reference),)
