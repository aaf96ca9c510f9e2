from __future__ import annotations

import importlib.util
import itertools
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from data.errors import ArenaError, FileFormatError, InputError
from judges.metrics.factuality.graph import FactGraph, FactorTables, FactRelation, Inference, load_graph
from judges.metrics.factuality.inference.exact import exact_posteriors
from judges.metrics.factuality.inference.marginals import Marginals, Method, marginals, network_marginals
from judges.metrics.factuality.inference.minibuckets import minibucket_posteriors
from judges.metrics.factuality.inference.network import Network, network_of, network_of_factors
from judges.metrics.factuality.inference.ordering import min_fill

SHARED = Path(__file__).parents[5] / "../shared/data"


def brute_force(network: Network) -> NDArray[np.float64]:
    states = np.array(list(itertools.product((0, 1), repeat=network.size)), dtype=int)
    scores = network.unary[np.arange(network.size), states].sum(axis=1)
    for (first, second), table in zip(network.pairs, network.tables, strict=True):
        scores = scores + table[states[:, first], states[:, second]]
    weights = np.exp(scores - scores.max())
    chances: NDArray[np.float64] = (weights[:, None] * states).sum(axis=0) / weights.sum()
    return chances


Fields = dict[str, object]


def node(name: str, kind: str = "atom", **more: object) -> Fields:
    return {"id": name, "type": kind, **more}


def edge(source: str, target: str, relation: str = "entailment", probability: object = 0.9) -> Fields:
    return {"from": source, "to": target, "relation": relation, "probability": probability}


def fact_graph(claims: int, contexts: int, density: float, seed: int) -> FactGraph:
    """Random FR3 graph: each context relates to some of the claims and of the other contexts."""
    rng = np.random.default_rng(seed)
    names = [f"a{number}" for number in range(claims)] + [f"c{number}" for number in range(contexts)]
    edges = []
    for position, source in enumerate(names[claims:], start=claims):
        for target in names[:position]:
            if rng.random() < density:
                relation = list(FactRelation)[int(rng.integers(2 if target[0] == "a" else 3))]
                edges.append(edge(source, target, relation.value, float(rng.uniform(0.5, 1))))
    nodes = [node(name, "atom" if name[0] == "a" else "context") for name in names]
    return load_graph({"nodes": nodes, "edges": edges})


@st.composite
def graphs(draw: st.DrawFn) -> FactGraph:
    """Graphs of up to nine nodes, probabilities strictly between 0 and 1."""
    inside, kinds = st.floats(0.02, 0.98), st.sampled_from(["atom", "context"])
    names = [f"n{number}" for number in range(draw(st.integers(1, 9)))]
    nodes = [node(name, draw(kinds), probability=draw(inside)) for name in names]
    pairs = [(a, b) for a in names for b in names if a != b]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16)) if pairs else []
    relations = st.sampled_from([relation.value for relation in FactRelation])
    return load_graph(
        {"nodes": nodes, "edges": [edge(*pair, draw(relations), draw(inside)) for pair in chosen]}
    )


def paper_figure(*, third: bool) -> FactGraph:
    nodes = [node("a1"), *(node(name, "context") for name in ("c1", "c2", "c3"))]
    edges = [
        edge("c1", "a1", probability=0.8),
        edge("c2", "a1", "contradiction"),
        edge("c3", "c2", "contradiction"),
    ]
    return load_graph({"nodes": nodes[: 4 if third else 3], "edges": edges[: 3 if third else 2]})


@pytest.mark.parametrize("inference", list(Inference))
@pytest.mark.parametrize(("third", "expected"), [(False, 0.317881), (True, 0.411596)])
def test_paper_examples_are_reproduced(inference: Inference, third: bool, expected: float) -> None:
    """Figure 1 gives 0.317881; Figure 2 gives 0.411596, which the paper prints as P(not a1)."""
    result = marginals(paper_figure(third=third), inference=inference)
    assert result.marginals["a1"] == pytest.approx(expected, abs=5e-7)
    assert result.error == 0.0


def test_appendix_example_is_reproduced() -> None:
    """Figure 4 of the appendix: P(X1) is 0.4561 false and 0.5439 true."""
    network = network_of_factors(
        ("x1", "x2", "x3"),
        [((0, 1), (0.3, 0.7, 0.5, 0.1)), ((0, 2), (0.2, 0.4, 0.8, 0.3)), ((1, 2), (0.8, 0.3, 0.6, 0.7))],
    )
    assert network_marginals(network).marginals["x1"] == pytest.approx(0.5439, abs=5e-5)


def test_networks_of_real_answers_are_solved() -> None:
    path = SHARED / "graphs/fr_real_uai.json"
    if not path.exists():
        pytest.skip(f"{path} is absent: the real networks were not checked")
    for content in json.loads(path.read_text(encoding="utf-8"))["networks"]:
        network = network_of_factors([str(index) for index in range(content["n"])], content["factors"])
        for inference in Inference:
            result = network_marginals(network, inference=inference)
            assert list(result.marginals.values()) == pytest.approx(content["P_true"], abs=1e-9)
        whole = exact_posteriors(network, min_fill(network))
        assert np.exp(whole.log_partition) == pytest.approx(content["Z"], rel=1e-9)


@pytest.mark.parametrize(("target", "kind", "q"), [("e", "atom", 0.5), ("d", "context", 0.9)])
def test_factor_tables_match_paper_and_code(target: str, kind: str, q: float) -> None:
    expected = {
        ("entailment", FactorTables.TABLE1): [0.7, 0.7, 0.3, 0.7],
        ("contradiction", FactorTables.TABLE1): [0.7, 0.7, 0.7, 0.3],
        ("equivalence", FactorTables.TABLE1): [0.7, 0.3, 0.3, 0.7],
        ("entailment", FactorTables.REFERENCE_CODE): [1 - q, q, 0.3, 0.7],
        ("contradiction", FactorTables.REFERENCE_CODE): [1 - q, q, 0.7, 0.3],
        ("equivalence", FactorTables.REFERENCE_CODE): [0.7, 0.3, 0.3, 0.7],
    }
    nodes = [node("c", "context"), node(target, kind, probability=0.8)]
    for (relation, tables), values in expected.items():
        graph = load_graph({"nodes": nodes, "edges": [edge("c", target, relation, 0.7)]})
        assert np.exp(network_of(graph, tables).tables[0]).ravel() == pytest.approx(values)


@given(graph=graphs(), tables=st.sampled_from(list(FactorTables)))
def test_elimination_matches_brute_force(graph: FactGraph, tables: FactorTables) -> None:
    network = network_of(graph, tables)
    result = network_marginals(network)
    assert list(result.marginals.values()) == pytest.approx(brute_force(network), abs=1e-9)


@given(graph=graphs())
def test_mini_buckets_are_exact_without_splits(graph: FactGraph) -> None:
    network = network_of(graph)
    order = min_fill(network)
    approximate = minibucket_posteriors(network, order, i_bound=order.width)
    assert approximate.split == 0
    assert approximate.true == pytest.approx(exact_posteriors(network, order).true, abs=1e-9)


@pytest.mark.slow
def test_wide_unimodal_graph_has_no_error_estimate() -> None:
    """24 contexts that all agree and entail 26 claims: by symmetry all posteriors are 1 to twelve digits."""
    contexts, claims = [f"c{number}" for number in range(24)], [f"a{number}" for number in range(26)]
    edges = [edge(*pair, "equivalence") for pair in itertools.combinations(contexts, 2)]
    edges += [edge(source, target) for source in contexts for target in claims]
    nodes = [*(node(name, "context") for name in contexts), *map(node, claims)]
    result = marginals(load_graph({"nodes": nodes, "edges": edges}))
    assert (result.method, result.treewidth > 23, result.error) == (Method.WMB, True, None)
    assert min(result.marginals.values()) == pytest.approx(1, abs=1e-9)


@pytest.mark.slow
def test_mini_bucket_errors_are_bounded_on_random_graphs() -> None:
    split = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        claims, contexts = int(rng.integers(2, 5)), int(rng.integers(3, 9))
        network = network_of(fact_graph(claims, contexts, float(rng.uniform(0.2, 1)), seed))
        result = network_marginals(network, inference=Inference.WMB)
        off = np.abs(np.array(list(result.marginals.values())) - brute_force(network)).max()
        assert result.error is None or off <= result.error + 1e-9
        split += [off] if result.error is None else []
    # Split buckets put posteriors off by up to a fifth, so no error is stated.
    assert len(split) > 10
    assert max(split) > 0.1


def test_many_equally_strong_relations_do_not_underflow() -> None:
    names = [f"c{number}" for number in range(2000)]
    edges = [
        edge(name, "a", "entailment" if at < 1000 else "contradiction", 0.99) for at, name in enumerate(names)
    ]
    graph = load_graph({"nodes": [node("a"), *(node(name, "context") for name in names)], "edges": edges})
    assert marginals(graph).marginals["a"] == pytest.approx(0.5, abs=1e-6)


def test_exact_inference_beyond_memory_is_error() -> None:
    with pytest.raises(InputError, match="auto"):
        marginals(fact_graph(30, 60, 0.3, seed=1), inference=Inference.EXACT)


ORACLE = """
import itertools, json, sys
import pyagrum
problem = json.load(sys.stdin)
network = pyagrum.MarkovRandomField()
for name in problem["names"]:
    network.add(pyagrum.LabelizedVariable(name, name, 2))
for scope, values in problem["factors"]:
    factor = network.addFactor(scope)
    for state, value in zip(itertools.product((0, 1), repeat=len(scope)), values):
        factor[dict(zip(scope, state))] = value
engine = pyagrum.ShaferShenoyMRFInference(network)
engine.makeInference()
json.dump({name: engine.posterior(name)[1] for name in problem["names"]}, sys.stdout)
"""


def test_independent_library_agrees() -> None:
    """PyAgrum agrees on a network of treewidth above six.

    It runs in a separate process, since it crashes if warnings are errors.
    """
    if importlib.util.find_spec("pyagrum") is None:
        pytest.skip("pyAgrum is not installed: there was no independent check")
    network = network_of(fact_graph(12, 30, 0.15, seed=9))
    factors = [[[name], np.exp(row).tolist()] for name, row in zip(network.names, network.unary, strict=True)]
    factors += [
        [[network.names[first], network.names[second]], np.exp(table).ravel().tolist()]
        for (first, second), table in zip(network.pairs.tolist(), network.tables, strict=True)
    ]
    problem = json.dumps({"names": network.names, "factors": factors})
    done = subprocess.run(
        [sys.executable, "-c", ORACLE], input=problem, capture_output=True, text=True, check=True, timeout=60
    )
    ours = network_marginals(network)
    assert ours.treewidth > 6
    assert json.loads(done.stdout) == pytest.approx(dict(ours.marginals), abs=1e-8)


@pytest.mark.parametrize(
    ("graph", "message"),
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
        ([], "not a fact graph"),
    ],
)
def test_invalid_graph_reports_error(graph: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_graph(path)
    if "NaN" not in path.read_text(encoding="utf-8"):
        assert message in str(caught.value)


@pytest.mark.parametrize("content", [None, '{"nodes": ['])
def test_missing_or_damaged_file_is_file_error(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError):
        load_graph(path)


def test_nodes_without_relations_keep_their_priors(tmp_path: Path) -> None:
    """A claim starts at 0.5 and a context at 0.99, the paper's priors."""
    empty = marginals(load_graph({"nodes": [], "edges": []}))
    assert empty.as_json() == {"marginals": {}, "method": "exact", "treewidth": 0, "error": 0.0}
    content = {"nodes": [node("a"), node("c", "context"), node("d", "context", probability=0.7)], "edges": []}
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert load_graph(path) == load_graph(str(path)) == load_graph(content)
    assert marginals(load_graph(path)).marginals == pytest.approx({"a": 0.5, "c": 0.99, "d": 0.7}, abs=1e-15)


def solved(*edges: Fields, prior: float = 0.99) -> Marginals:
    return marginals(
        load_graph({"nodes": [node("a"), node("c", "context", probability=prior)], "edges": edges})
    )


def test_repeated_edges_count_once() -> None:
    assert solved(edge("c", "a")) == solved(edge("c", "a"), edge("c", "a"))
    both = solved(edge("c", "a"), edge("c", "a", "contradiction")).marginals
    assert both["a"] == pytest.approx(0.5, abs=1e-12)
    assert both["c"] < 0.99


def test_impossible_graph_is_error() -> None:
    edges = edge("c", "a", "entailment", 1.0), edge("c", "a", "contradiction", 1.0)
    assert solved(*edges).marginals["c"] == 0.0
    with pytest.raises(ArenaError, match="certain"):
        solved(*edges, prior=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("around", [False, True])
def test_ten_thousand_nodes_of_small_width_are_exact(*, around: bool) -> None:
    names = [f"n{number}" for number in range(10_000)]
    pairs = zip(names, names[1:] + names[:1], strict=True) if around else pairwise(names)
    kinds = itertools.cycle(["entailment", "contradiction"])
    edges = [edge(*pair, kind) for pair, kind in zip(pairs, kinds, strict=False)]
    nodes = [node(name, "context", probability=0.6) for name in names]
    result = marginals(load_graph({"nodes": nodes, "edges": edges}))
    assert (result.method, len(result.marginals)) == (Method.EXACT, 10_000)
    assert all(0 < value < 1 for value in result.marginals.values())
