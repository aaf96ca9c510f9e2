"""Fact graphs as people bring them: nodes as objects or as a map, edges as objects or triples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from data.errors import FileFormatError
from data.records import Json
from judges.comprehensiveness.graph import Coverage, Edge, FactGraph, Node, NodeKind, Relation


def _as_edge(value: object) -> object:
    """Read a triple as an edge."""
    triple = ("from", "to", "relation")
    if isinstance(value, list | tuple) and len(value) == len(triple):
        return dict(zip(triple, value, strict=True))
    return value


def _as_nodes(value: object) -> object:
    """Read a map of ids to types as a list of nodes."""
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


class _GraphList(BaseModel):
    model_config = ConfigDict(extra="ignore")

    graphs: list[_GraphFile]


def read_graphs(value: object, *, where: str) -> tuple[FactGraph, ...]:
    """Read one fact graph or a list of them from parsed JSON.

    Args:
        value: `{"nodes": …, "edges": …}`, a list of those, or `{"graphs": […]}`. Nodes are objects with
            `id` and `type` (`atom` or `context`) and perhaps `text` and `source`, or a map from id to
            type beside a map `texts`. Edges are objects with `from`, `to` and `relation`, or triples.
        where: What to call the source in errors.

    Raises:
        FileFormatError: It has another shape.
        RecordError: Ids are doubled or missing.
    """
    shape: Any = _GraphFile
    if isinstance(value, list):
        shape = list[_GraphFile]
    elif isinstance(value, Mapping) and "graphs" in value:
        shape = _GraphList
    try:
        found = TypeAdapter(shape).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the top"
        message = f"{where} is no fact graph: {first['msg']} (at {place})."
        raise FileFormatError(
            message, advice="See docs/method/comprehensiveness.md for the format."
        ) from error
    files: Sequence[_GraphFile] = (
        found.graphs if isinstance(found, _GraphList) else (found if isinstance(found, list) else [found])
    )
    return tuple(_graph(each) for each in files)


def coverage_json(coverage: Coverage) -> dict[str, Json]:
    """What `arena metrics coverage` prints of one graph."""
    return {
        "covered": list(coverage.covered),
        "uncovered": list(coverage.uncovered),
        "clusters": [list(group) for group in coverage.clusters],
        "basis": list(coverage.basis),
        "basis_clusters": [list(group) for group in coverage.basis_clusters],
        "score": coverage.score,
        "defined": coverage.defined,
    }


def _graph(file: _GraphFile) -> FactGraph:
    return FactGraph(
        nodes=tuple(
            Node(line.id, line.kind, line.text or file.texts.get(line.id, ""), line.source)
            for line in file.nodes
        ),
        edges=tuple(Edge(line.start, line.end, line.relation) for line in file.edges),
    )
