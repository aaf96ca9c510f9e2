from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FileFormatError, RecordError
from judges.metrics.comprehensiveness.graph import (
    Edge,
    FactGraph,
    Node,
    NodeKind,
    Relation,
    analyse,
    coverage_json,
    read_graphs,
)
from tests.narrow import listed

SAMPLE = Path(__file__).parents[4] / "../shared/data/graphs/comp_graphs_sample.json"
IMPLYING = (Relation.ENTAILMENT, Relation.EQUIVALENCE)


@pytest.mark.skipif(not SAMPLE.exists(), reason="needs the authors' graphs next to the checkout")
def test_authors_graphs_are_reproduced() -> None:
    """All 123 stored graphs: covered, uncovered, clusters, basis and score are equal.

    Without statements to cover they store 0, but the score here is null.
    """
    raw = json.loads(SAMPLE.read_text(encoding="utf-8"))
    graphs = read_graphs(raw, where="the sample")
    assert len(graphs) == 123
    for stored, graph in zip(raw["graphs"], graphs, strict=True):
        result = coverage_json(analyse(graph))
        for name in ("covered", "uncovered", "clusters", "basis_clusters"):
            assert result[name] == sorted(stored[name])
        assert result["score"] == (pytest.approx(stored["score"], abs=1e-12) if stored["clusters"] else None)
        assert result["defined"] is bool(stored["clusters"])
        assert len(listed(result["basis"])) == len(stored["basis_clusters"])


def graph_of(answer: int, passages: int, edges: list[tuple[str, str, Relation]]) -> FactGraph:
    nodes = [Node(f"a{at}", NodeKind.ANSWER) for at in range(answer)]
    nodes += [Node(f"c{at}", NodeKind.PASSAGE) for at in range(passages)]
    return FactGraph(tuple(nodes), tuple(Edge(*edge) for edge in edges))


def test_implication_chain_shortens_basis() -> None:
    ahead, same = Relation.ENTAILMENT, Relation.EQUIVALENCE
    result = analyse(
        graph_of(
            1,
            7,
            [
                ("a0", "c0", ahead),
                ("c0", "c1", ahead),
                ("c2", "c3", ahead),
                ("c4", "c5", same),
                ("c6", "c0", Relation.CONTRADICTION),
            ],
        )
    )
    assert result.covered == ("c0", "c1")
    assert result.uncovered == ("c2", "c3", "c4", "c5", "c6")
    assert result.clusters == (("c0",), ("c1",), ("c2",), ("c3",), ("c4", "c5"), ("c6",))
    assert result.basis == ("c2", "c4", "c6")
    assert result.score == pytest.approx(2 / 6)


@pytest.mark.parametrize(("answer", "passages"), [(0, 0), (3, 0)])
def test_empty_ground_truth_differs_from_no_coverage(answer: int, passages: int) -> None:
    """Without claims of passages the score is undefined; a graph without coverage scores 0."""
    result = analyse(graph_of(answer, passages, []))
    assert (result.score, result.defined) == (None, False)
    assert coverage_json(result)["score"] is None
    assert analyse(graph_of(0, 1, [])).score == 0


def test_representative_is_most_frequent_wording() -> None:
    nodes = [
        Node(f"c{at}", NodeKind.PASSAGE, text)
        for at, text in enumerate(["Late", "It is late.", "it is  late."])
    ]
    edges = [Edge("c0", "c1", Relation.EQUIVALENCE), Edge("c1", "c2", Relation.EQUIVALENCE)]
    assert analyse(FactGraph(tuple(nodes), tuple(edges))).basis == ("c1",)


@st.composite
def graphs(draw: st.DrawFn) -> FactGraph:
    answer, passages = draw(st.integers(0, 3)), draw(st.integers(0, 5))
    ids = [f"a{at}" for at in range(answer)] + [f"c{at}" for at in range(passages)]
    pairs = list(itertools.permutations(ids, 2))
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=12, unique=True)) if pairs else []
    return graph_of(answer, passages, [(*pair, draw(st.sampled_from(Relation))) for pair in chosen])


def closure(graph: FactGraph) -> set[tuple[str, str]]:
    ids = list(graph.by_id)
    implied = {(name, name) for name in ids}
    for edge in graph.edges:
        if edge.relation in IMPLYING:
            implied.add((edge.start, edge.end))
        if edge.relation is Relation.EQUIVALENCE:
            implied.add((edge.end, edge.start))
    for middle, first, last in itertools.product(ids, ids, ids):
        if (first, middle) in implied and (middle, last) in implied:
            implied.add((first, last))
    return implied


@given(graphs())
def test_independent_implementation_agrees(graph: FactGraph) -> None:
    """A direct implementation of section 3.1 over the transitive closure gives the same result."""
    implied, result = closure(graph), analyse(graph)
    passages = [node.id for node in graph.nodes if node.kind is NodeKind.PASSAGE]
    answer = [node.id for node in graph.nodes if node.kind is NodeKind.ANSWER]
    covered = [name for name in passages if any((own, name) in implied for own in answer)]
    assert list(result.covered) == sorted(covered)
    missing = [name for name in passages if name not in covered]
    for name in missing:
        above = [other for other in missing if (other, name) in implied and (name, other) not in implied]
        assert any(name in group for group in result.basis_clusters) == (not above)
    assert len(result.basis) == len(result.basis_clusters) <= len(missing)


def test_both_forms_of_graph_files_are_read() -> None:
    objects = {
        "nodes": [{"id": "a0", "type": "atom"}, {"id": "c0", "type": "context"}],
        "edges": [{"from": "a0", "to": "c0", "relation": "entailment"}],
    }
    triples = {"nodes": {"a0": "atom", "c0": "context"}, "edges": [["a0", "c0", "entailment"]]}
    assert (
        read_graphs(objects, where="x")
        == read_graphs([triples], where="x")
        == read_graphs({"graphs": [triples]}, where="x")
    )


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"nodes": 3}, FileFormatError),
        ({"edges": []}, FileFormatError),
        ("graph", FileFormatError),
        ({"nodes": {"a": "atom"}, "edges": [["a", "b"]]}, FileFormatError),
        ({"nodes": {"a": "claim"}}, FileFormatError),
        ({"nodes": {"a": "atom"}, "edges": [["a", "b", "entailment"]]}, RecordError),
        ({"nodes": [{"id": "a", "type": "atom"}, {"id": "a", "type": "context"}]}, RecordError),
    ],
)
def test_invalid_graphs_report_location(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_graphs(value, where="graph.json")
