"""Fact graphs of claims, contexts and their relations.

The file format has `nodes` (`id`, `type`, `probability`) and `edges` (`from`, `to`, `relation`,
`probability`); the type of claims is `atom`, as in the paper.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from data.errors import FileFormatError, InputError
from data.files.strict_json import in_words, parse_json
from data.files.text_files import ReadLimits, read_text


class FactorTables(StrEnum):
    """Factors by relation."""

    TABLE1 = "table1"
    REFERENCE_CODE = "reference-code"


class Inference(StrEnum):
    """Inference engines; `auto` is exact if memory allows, else weighted mini-buckets."""

    AUTO = "auto"
    EXACT = "exact"
    WMB = "wmb"


CLAIM_PRIOR = 0.5
CONTEXT_PRIOR = 0.99
MAX_PROBLEMS = 5


class NodeKind(StrEnum):
    """Kind of a node, as in the file format."""

    CLAIM = "atom"
    CONTEXT = "context"


class FactRelation(StrEnum):
    """Relation between two texts; neutral pairs have no edge."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    EQUIVALENCE = "equivalence"


PRIORS: Mapping[NodeKind, float] = {NodeKind.CLAIM: CLAIM_PRIOR, NodeKind.CONTEXT: CONTEXT_PRIOR}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactNode:
    """A claim or a context with the prior probability that it is true."""

    id: str
    kind: NodeKind
    prior: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FactEdge:
    """A relation between two nodes and its probability."""

    source: str
    target: str
    relation: FactRelation
    probability: float


@dataclass(frozen=True, kw_only=True)
class FactGraph:
    """Validated nodes and edges.

    Repeated edges count once; conflicting edges, and a relation and its reverse, both count.
    """

    nodes: tuple[FactNode, ...] = ()
    edges: tuple[FactEdge, ...] = ()

    def __post_init__(self) -> None:
        problems = [*_node_problems(self.nodes), *_edge_problems(self.nodes, self.edges)]
        if problems:
            first = "; ".join(problems[:MAX_PROBLEMS])
            further = len(problems) - MAX_PROBLEMS
            more = f"; and {further} more" if further > 0 else ""
            message = f"The fact graph is invalid: {first}{more}."
            raise InputError(message, advice="Correct these nodes and edges.")
        object.__setattr__(self, "edges", tuple(dict.fromkeys(self.edges)))


def _node_problems(nodes: tuple[FactNode, ...]) -> list[str]:
    problems = []
    ids: set[str] = set()
    for node in nodes:
        if node.id in ids:
            problems.append(f"two nodes have the id {node.id!r}")
        ids.add(node.id)
        if not 0 <= node.prior <= 1:
            problems.append(f"the probability of {node.id!r} is {node.prior}, outside 0 to 1")
    return problems


def _edge_problems(nodes: tuple[FactNode, ...], edges: tuple[FactEdge, ...]) -> list[str]:
    node_ids = {node.id for node in nodes}
    problems = []
    known: dict[tuple[str, str, FactRelation], float] = {}
    for edge in edges:
        name = f"the {edge.relation} edge from {edge.source!r} to {edge.target!r}"
        problems += [
            f"{name} names the unknown node {end!r}"
            for end in tuple(dict.fromkeys((edge.source, edge.target)))
            if end not in node_ids
        ]
        if edge.source == edge.target:
            problems.append(f"{name} joins a node to itself")
        if not 0 <= edge.probability <= 1:
            problems.append(f"{name} has the probability {edge.probability}, outside 0 to 1")
        key = (edge.source, edge.target, edge.relation)
        if known.setdefault(key, edge.probability) != edge.probability:
            problems.append(f"{name} has the probabilities {known[key]} and {edge.probability}")
    return problems


Probability = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]


class _NodeLine(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: StrictStr
    type: NodeKind
    probability: Probability | None = None


class _EdgeLine(BaseModel):
    model_config = ConfigDict(frozen=True)

    source: StrictStr = Field(alias="from")
    target: StrictStr = Field(alias="to")
    relation: FactRelation
    probability: Probability


class _GraphFile(BaseModel):
    model_config = ConfigDict(frozen=True)

    nodes: tuple[_NodeLine, ...]
    edges: tuple[_EdgeLine, ...]


def load_graph(source: Path | str | Mapping[str, object]) -> FactGraph:
    """Load a fact graph from a JSON file or from its parsed content.

    A node without a probability gets the prior of its kind: 0.5 for a claim, 0.99 for a context.
    """
    if isinstance(source, Mapping):
        return _from_object(source, "The fact graph")
    path = Path(source)
    return _from_object(parse_json(read_text(path, ReadLimits()), 0), path.name)


def _from_object(content: object, name: str) -> FactGraph:
    try:
        file = _GraphFile.model_validate(content)
    except ValidationError as error:
        problems = in_words(error)
        first = "; ".join(problems[:MAX_PROBLEMS])
        more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
        raise FileFormatError(
            f"{name} is not a fact graph: {first}{more}.",
            advice="Use `nodes` (id, type, probability) and `edges` (from, to, relation, probability).",
            code="bad-graph",
        ) from error
    return FactGraph(
        nodes=tuple(
            FactNode(
                id=line.id,
                kind=line.type,
                prior=PRIORS[line.type] if line.probability is None else line.probability,
            )
            for line in file.nodes
        ),
        edges=tuple(
            FactEdge(
                source=line.source, target=line.target, relation=line.relation, probability=line.probability
            )
            for line in file.edges
        ),
    )
