"""Measure the speed and accuracy of inference on fact graphs against public libraries.

    python benchmarks/inference.py [--repeats 3] [--real NETWORKS.json]

Exact engines solve the same random FR2 and FR3 networks, grouped by treewidth, and with `--real` networks of
real answers (`{"networks": [{"n", "factors": [[scope, values], …]}]}`). Only inference is timed, with the
search for an elimination order; each library's model is built beforehand. Each computes all posteriors, which
must equal ours. Libraries that are slow at a treewidth are skipped at larger ones, as are libraries that are
not installed (`pip install pyGMs pyagrum`). Times are medians in seconds of processor time on one machine in
one run; only their ratios are meaningful.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judges.metrics.factuality.graph import Inference
from judges.metrics.factuality.inference.marginals import network_marginals
from judges.metrics.factuality.inference.network import Network, network_of_factors
from judges.metrics.factuality.inference.ordering import min_fill

BANDS = ((1, 5), (6, 10), (11, 15), (16, 20))
PER_BAND = 5
AGREE = 1e-6
PATIENCE = 0.3
Floats = NDArray[np.float64]
Solver = Callable[[], Floats]
Engine = Callable[[Network], Solver]
"""Builds a model and returns its solver."""


def random_network(
    rng: np.random.Generator, claims: int, contexts: int, density: float, *, fr3: bool
) -> Network:
    """Draw claims, contexts and relations: priors 0.5 and 0.99, probabilities from 0.5 to 1."""
    size = claims + contexts
    factors: list[tuple[tuple[int, ...], tuple[float, ...]]] = [
        ((index,), (0.5, 0.5) if index < claims else (0.01, 0.99)) for index in range(size)
    ]
    for source in range(claims, size):
        for target in range(source if fr3 else claims):
            if rng.random() < density:
                p = float(rng.uniform(0.5, 1))
                table = (p, p, 1 - p, p) if rng.random() < 0.5 else (p, p, p, 1 - p)
                factors.append(((source, target), table))
    return network_of_factors([f"v{index}" for index in range(size)], factors)


def ours(network: Network) -> Solver:
    """Return this project's engine."""
    return lambda: np.array(list(network_marginals(network, inference=Inference.EXACT).marginals.values()))


def with_pyagrum(library: Any) -> Engine:  # noqa: ANN401 - the library may be absent
    """Return pyAgrum's Shafer-Shenoy inference."""

    def fill(network: Network) -> Solver:
        theirs = library.MarkovRandomField()
        for name in network.names:
            theirs.add(library.LabelizedVariable(name, name, 2))
        for name, table in zip(network.names, network.unary, strict=True):
            theirs.addFactor([name]).fillWith(np.exp(table).tolist())
        for (first, second), table in zip(network.pairs.tolist(), network.tables, strict=True):
            # Its first variable changes fastest.
            values = np.exp(table).ravel(order="F").tolist()
            theirs.addFactor([network.names[first], network.names[second]]).fillWith(values)

        def solve() -> Floats:
            engine = library.ShaferShenoyMRFInference(theirs)
            engine.makeInference()
            return np.array([engine.posterior(name)[1] for name in network.names])

        return solve

    return fill


def with_pygms(library: Any) -> Engine:  # noqa: ANN401 - the library may be absent
    """Return pyGMs' junction tree, in its own min-fill order."""
    trees = importlib.import_module("pygms.wmb")

    def fill(network: Network) -> Solver:
        variables = [library.Var(index, 2) for index in range(network.size)]
        factors = [library.Factor([variables[index]], np.exp(row)) for index, row in enumerate(network.unary)]
        factors += [
            library.Factor([variables[first], variables[second]], np.exp(table))
            for (first, second), table in zip(network.pairs.tolist(), network.tables, strict=True)
        ]
        model = library.GraphModel(factors)

        def solve() -> Floats:
            return _of_tree(library, trees, model, variables)

        return solve

    return fill


def _of_tree(library: Any, trees: Any, model: Any, variables: list[Any]) -> Floats:  # noqa: ANN401 - as above
    tree = trees.JTree(model, elimOrder=library.eliminationOrder(model, "minfill")[0])
    singles = [library.VarSet([variable]) for variable in variables]
    tree.msgForward()
    beliefs = tree.beliefs(singles)
    tables = [np.asarray(beliefs[single].table, dtype=np.float64) for single in singles]
    return np.array([table[1] / table.sum() for table in tables])


LIBRARIES: dict[str, Callable[[Any], Engine]] = {"pyagrum": with_pyagrum, "pygms": with_pygms}


def engines() -> dict[str, Engine]:
    """Return our engine and those of the installed libraries."""
    available: dict[str, Engine] = {"ours": ours}
    for name, adapter in LIBRARIES.items():
        try:
            available[name] = adapter(importlib.import_module(name))
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return available


def collect() -> dict[tuple[int, int], list[Network]]:
    """Draw networks for each range of treewidths."""
    rng = np.random.default_rng(0)
    bands: dict[tuple[int, int], list[Network]] = {band: [] for band in BANDS}
    while any(len(networks) < PER_BAND for networks in bands.values()):
        network = random_network(
            rng,
            int(rng.integers(3, 25)),
            int(rng.integers(5, 60)),
            float(rng.uniform(0.03, 0.2)),
            fr3=bool(rng.random() < 0.4),
        )
        width = min_fill(network).width
        for (low, high), networks in bands.items():
            if low <= width <= high and len(networks) < PER_BAND:
                networks.append(network)
    return bands


def timed(engine: Engine, networks: list[Network], repeats: int, expected: list[Floats]) -> tuple[float, str]:
    """Return the median over networks of the best time, and the largest disagreement."""
    times, worst = [], 0.0
    for network, marginals in zip(networks, expected, strict=True):
        best = np.inf
        for _ in range(repeats):
            try:
                solve = engine(network)
                start = time.process_time()
                result = solve()
            except Exception as error:  # noqa: BLE001 - a library's failure is a result here
                return float("nan"), f"fails: {type(error).__name__}"
            best = min(best, time.process_time() - start)
        times.append(best)
        worst = max(worst, float(np.abs(result - marginals).max()))
    return statistics.median(times), "" if worst < AGREE else f"off by {worst:.2g}"


def real_networks(path: Path) -> list[Network]:
    """Read networks of answers from a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return [
        network_of_factors([f"v{index}" for index in range(network["n"])], network["factors"])
        for network in content["networks"]
    ]


def compare(repeats: int, real: Path | None) -> None:
    """Print medians by treewidth, relative to ours."""
    solvers = engines()
    groups = {f"{low}-{high}": networks for (low, high), networks in collect().items()}
    if real is not None:
        groups = {f"real {real.name[:12]}": real_networks(real)} | groups
    print(f"{'treewidth':>17}  " + "  ".join(f"{name:>26}" for name in solvers))
    for group, networks in groups.items():
        expected = [ours(network)() for network in networks]
        cells, base = [], 0.0
        for name, engine in list(solvers.items()):
            seconds, remark = timed(engine, networks, repeats, expected)
            base = base or seconds
            if seconds > PATIENCE and name != "ours":
                del solvers[name]
            cells.append(f"{seconds:.4f} (×{seconds / base:.1f}) {remark if name != 'ours' else ''}".strip())
        print(f"{group:>17}  " + "  ".join(f"{cell:>26}" for cell in cells), flush=True)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--real", type=Path, help="a file of networks of answers")
    options = parser.parse_args()
    compare(options.repeats, options.real)


if __name__ == "__main__":
    main()
