"""Fact graph: coverage of the passages' claims by an answer's claims.

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
    """Claims and their relations."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    by_id: Mapping[str, Node] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id = {node.id: node for node in self.nodes}
        if len(by_id) != len(self.nodes):
            name = next(name for name, count in Counter(node.id for node in self.nodes).items() if count > 1)
            message = f"Two claims of the fact graph have the id {name!r}."
            raise RecordError(message, advice="Give every node a unique id.")
        for edge in self.edges:
            for end in (edge.start, edge.end):
                if end not in by_id:
                    message = f"An edge of the fact graph refers to an unknown claim, {end!r}."
                    raise RecordError(message, advice="Edges must join nodes of the graph.")
        object.__setattr__(self, "by_id", by_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Coverage of the passages' claims by an answer.

    Attributes:
        covered: Ids of the passages' claims that a claim of the answer implies, sorted.
        uncovered: Ids of the other claims of the passages, sorted.
        clusters: The passages' claims grouped by statement.
        basis: Representatives of a minimal set of statements to add for full coverage: the uncovered
            statements that no other uncovered one implies.
        basis_clusters: The groups of the basis.
        score: Share of covered statements; None without statements.
    """

    covered: tuple[str, ...]
    uncovered: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]
    basis: tuple[str, ...]
    basis_clusters: tuple[tuple[str, ...], ...]
    score: float | None

    @property
    def defined(self) -> bool:
        """True if there are statements to cover."""
        return bool(self.clusters)


def analyse(graph: FactGraph) -> Coverage:
    """Compute the coverage of a graph.

    Claims that imply each other are one statement (a strongly connected component). A statement of
    the passages is covered if a path leads to it from a claim of the answer.

    Source: section 3.1, "Comprehensiveness Score Calculation". No path from a covered claim leads to
    an uncovered one, so the basis consists of the uncovered statements without a predecessor.
    """
    following: dict[str, set[str]] = {name: set() for name in graph.by_id}
    for start, end in _implications(graph.edges):
        following[start].add(end)
    reachable = _reachable(following)
    implied = {
        reachable[end]
        for start, ends in following.items()
        for end in ends
        if reachable[start] != reachable[end]
    }
    passages: dict[int, list[str]] = {}
    answer = 0
    for node in graph.nodes:
        if node.kind is NodeKind.PASSAGE:
            passages.setdefault(reachable[node.id], []).append(node.id)
        else:
            answer |= reachable[node.id]
    statements = {number: tuple(sorted(members)) for number, members in passages.items()}
    # If the answer reaches a statement, it reaches everything that the statement reaches.
    covered = [group for number, group in statements.items() if not number & ~answer]
    missing = [number for number in statements if number & ~answer]
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


def _reachable(following: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return the nodes reachable from each node, including itself, as a bit set.

    Nodes with the same set are a strongly connected component.
    """
    bits = {name: 1 << at for at, name in enumerate(following)}
    reachable = {name: bits[name] | sum(bits[end] for end in ends) for name, ends in following.items()}
    for name, bit in bits.items():
        beyond = reachable[name]
        if beyond != bit:
            reachable |= {start: ends | beyond for start, ends in reachable.items() if ends & bit}
    return reachable


def representative(graph: FactGraph, group: Sequence[str]) -> str:
    """Return the representative of a group of claims: the first id of its most frequent wording.

    Claims of passages precede claims of the answer; sorting makes the choice deterministic.
    """
    if len(group) == 1:
        return group[0]
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
        value: `{"nodes": …, "edges": …}`, a list of graphs, or `{"graphs": […]}`. Nodes are objects with
            `id` and `type` (`atom` or `context`) and perhaps `text` and `source`, or a map from id to
            type, with a separate map `texts`. Edges are objects with `from`, `to` and `relation`, or triples.
        where: Name of the source in errors.
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


CONTENT_KINDS = frozenset({ClaimKind.FACT, ClaimKind.CLAIM, ClaimKind.INSTRUCTION, ClaimKind.DATA_FORMAT})
"""Kinds that can be covered or missed; the other kinds are about the text itself."""


class Claim(NamedTuple):
    """An atomic statement of a text and its passage (empty for the answer)."""

    text: str
    source: str = ""
    kind: ClaimKind = ClaimKind.CLAIM


T = TypeVar("T")


class UnscoredError(Exception):
    """Raised if an answer cannot be scored; the metric converts it to an outcome with a reason."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


def require_reply(reply: T | CallFailure) -> T:
    """Return a reply, or raise `UnscoredError`."""
    if isinstance(reply, CallFailure):
        raise UnscoredError(reply.outcome, reply.detail)
    return reply


async def gather_all(steps: Iterable[Awaitable[T]]) -> list[T]:
    """Run steps concurrently, wait for all of them even after an error, and raise the first error."""
    results = await asyncio.gather(*steps, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


@dataclass(frozen=True, slots=True)
class Wordings:
    """Distinct wordings of the claims of an answer and of the passages."""

    of_answer: tuple[str, ...]
    of_passages: tuple[str, ...]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield ordered pairs of distinct wordings, except pairs within the answer."""
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
        """Rate the relevance of each claim to the question, 1–5."""
        ...

    async def relations(
        self, wordings: Wordings, select: Callable[[str, str], bool] | None = None
    ) -> Relations:
        """Classify the relation of the first wording to the second; pairs not in `select` are neutral."""
        ...


def ground_truth_of(item: MetricItem) -> tuple[Passage, ...]:
    """Return the passages of an item, or else its reference as a passage unless it declines."""
    passages = tuple(passage for passage in item.passages if passage.text.strip())
    if passages:
        return passages
    reference = (item.reference or "").strip()
    return () if declines(reference, item.question) else (Passage(REFERENCE_ID, reference),)
