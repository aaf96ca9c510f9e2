import json
from itertools import pairwise
from pathlib import Path

import pytest

from data.errors import ArenaError, FileFormatError, InputError
from judges.metrics.factuality.graph import (
    FactEdge,
    FactGraph,
    FactNode,
    FactRelation,
    NodeKind,
    load_graph,
)
from judges.metrics.factuality.inference.marginals import Method, marginals

Fields = dict[str, object]


def node(name: str, kind: str = "atom", **more: object) -> Fields:
    return {"id": name, "type": kind, **more}


def edge(source: str, target: str, relation: str = "entailment", probability: object = 0.9) -> Fields:
    return {"from": source, "to": target, "relation": relation, "probability": probability}


def test_nodes_without_a_probability_get_the_prior_of_their_kind() -> None:
    """A claim starts at 0.5 and a context at 0.99, the paper's priors."""
    graph = load_graph({"nodes": [node("a"), node("c", "context")], "edges": []})
    assert [item.prior for item in graph.nodes] == [0.5, 0.99]


def test_a_graph_is_read_from_a_file(tmp_path: Path) -> None:
    content = {"nodes": [node("a"), node("c", "context")], "edges": [edge("c", "a")]}
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert load_graph(path) == load_graph(str(path)) == load_graph(content)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({"nodes": [node("a")], "edges": [edge("c", "a")]}, "unknown node 'c'"),
        ({"nodes": [node("a"), node("a")], "edges": []}, "two nodes"),
        ({"nodes": [node("a")], "edges": [edge("a", "a")]}, "itself"),
        (
            {"nodes": [node("a"), node("b")], "edges": [edge("a", "b"), edge("a", "b", "entailment", 0.8)]},
            "0.8",
        ),
        ({"nodes": [node("a", probability=1.5)], "edges": []}, "at most 1"),
        ({"nodes": [node("a", probability=float("nan"))], "edges": []}, "finite"),
        ({"nodes": [node("a"), node("b")], "edges": [edge("a", "b", "entailment", -0.1)]}, "at least 0"),
        ({"nodes": [node("a"), node("b")], "edges": [edge("a", "b", "entailment", "0.9")]}, "number"),
        ({"nodes": [node("a"), node("b")], "edges": [edge("a", "b", "support")]}, "entailment"),
        ({"nodes": [node("a", "fact")], "edges": []}, "atom"),
        ({"nodes": [node("a")]}, "edges"),
        ([], "no fact graph"),
    ],
)
def test_a_graph_that_cannot_be_meant_is_refused(graph: object, said: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_graph(path)
    if "NaN" not in path.read_text(encoding="utf-8"):
        assert said in str(caught.value)


def test_a_missing_or_damaged_file_is_a_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError):
        load_graph(tmp_path / "none.json")
    broken = tmp_path / "broken.json"
    broken.write_text('{"nodes": [', encoding="utf-8")
    with pytest.raises(FileFormatError):
        load_graph(broken)


def test_values_are_checked_without_a_file_too() -> None:
    with pytest.raises(InputError, match="outside 0 to 1"):
        FactGraph(nodes=(FactNode(id="a", kind=NodeKind.CLAIM, prior=2.0),))


def test_an_empty_graph_has_no_posteriors() -> None:
    result = marginals(load_graph({"nodes": [], "edges": []}))
    assert result.as_json() == {"marginals": {}, "method": "exact", "treewidth": 0, "error": 0.0}


def test_an_isolated_node_keeps_its_prior() -> None:
    result = marginals(load_graph({"nodes": [node("a"), node("c", "context", probability=0.7)], "edges": []}))
    assert result.marginals == pytest.approx({"a": 0.5, "c": 0.7}, abs=1e-15)


def test_a_repeated_edge_counts_once() -> None:
    nodes = [node("a"), node("c", "context")]
    once = marginals(load_graph({"nodes": nodes, "edges": [edge("c", "a")]}))
    twice = marginals(load_graph({"nodes": nodes, "edges": [edge("c", "a")] * 2}))
    assert once == twice


def test_contradictory_edges_both_count() -> None:
    nodes = [node("a"), node("c", "context")]
    result = marginals(
        load_graph({"nodes": nodes, "edges": [edge("c", "a"), edge("c", "a", "contradiction")]})
    )
    assert result.marginals["a"] == pytest.approx(0.5, abs=1e-12)
    assert result.marginals["c"] < 0.99


def test_certain_edges_that_contradict_each_other_are_an_error_only_where_nothing_is_left() -> None:
    edges = [edge("c", "a", "entailment", 1.0), edge("c", "a", "contradiction", 1.0)]
    doubted = marginals(load_graph({"nodes": [node("a"), node("c", "context")], "edges": edges}))
    assert doubted.marginals["c"] == 0.0
    with pytest.raises(ArenaError, match="certain"):
        marginals(load_graph({"nodes": [node("a"), node("c", "context", probability=1.0)], "edges": edges}))


def test_a_cycle_of_equivalences_moves_together() -> None:
    names = [f"a{number}" for number in range(6)]
    edges = [
        edge(one, other, "equivalence", 1.0) for one, other in zip(names, names[1:] + names[:1], strict=True)
    ]
    edges.append(edge("c", "a0"))
    result = marginals(load_graph({"nodes": [*map(node, names), node("c", "context")], "edges": edges}))
    shared = {round(result.marginals[name], 12) for name in names}
    assert len(shared) == 1
    assert shared.pop() > 0.8


@pytest.mark.long
@pytest.mark.parametrize("shape", ["chain", "star", "cycle", "apart"])
def test_ten_thousand_nodes_are_solved_exactly_where_they_are_thin(shape: str) -> None:
    names = [f"n{number}" for number in range(10_000)]
    pairs = {
        "chain": pairwise(names),
        "star": ((name, names[0]) for name in names[1:]),
        "cycle": zip(names, names[1:] + names[:1], strict=True),
        "apart": iter(()),
    }[shape]
    graph = FactGraph(
        nodes=tuple(FactNode(id=name, kind=NodeKind.CONTEXT, prior=0.6) for name in names),
        edges=tuple(
            FactEdge(
                source=one,
                target=other,
                relation=FactRelation.CONTRADICTION if number % 2 else FactRelation.ENTAILMENT,
                probability=0.9,
            )
            for number, (one, other) in enumerate(pairs)
        ),
    )
    result = marginals(graph)
    assert result.method is Method.EXACT
    assert len(result.marginals) == 10_000
    assert all(0 < value < 1 for value in result.marginals.values())
