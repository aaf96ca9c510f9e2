"""What the pre-filter of claim pairs loses and saves, and how fast fact graphs are analysed.

    python benchmarks/comprehensiveness.py [GRAPHS]

GRAPHS holds fact graphs of real answers with an LLM's relations (by default the sample beside the
checkout). A pair that the filter skips would not be asked about; an implication among the skipped is
lost. Seconds are of this machine, in one run, in CPU time.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from judges.comprehensiveness import (  # noqa: E402 - the checkout goes first
    Edge,
    FactGraph,
    Node,
    NodeKind,
    Relation,
    analyse,
    read_graphs,
)
from judges.comprehensiveness.prefilter import hopeful  # noqa: E402 - as above

SAMPLE = ROOT / "../shared/data/graphs/comp_graphs_sample.json"
THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def measure_prefilter(path: Path) -> None:
    """Print, by threshold, the share of pairs skipped and of implications lost."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    pairs: list[tuple[str, str, bool]] = []
    for graph in read_graphs(raw, where=str(path)):
        implied = {frozenset((edge.start, edge.end)) for edge in graph.edges}
        for a, b in itertools.combinations(graph.nodes, 2):
            if NodeKind.PASSAGE in {a.kind, b.kind} and a.text != b.text:
                pairs.append((a.text, b.text, frozenset((a.id, b.id)) in implied))
    total = sum(implied for *_, implied in pairs)
    print(f"{len(pairs)} pairs of different wordings, {total} of them implications")
    print("similarity  skipped  implications lost")
    for threshold in THRESHOLDS:
        kept = [implied for a, b, implied in pairs if hopeful(a, b, threshold)]
        print(f"{threshold:10.1f}  {1 - len(kept) / len(pairs):7.1%}  {1 - sum(kept) / max(1, total):17.1%}")


def measure_analysis(nodes: int = 10_000, edges: int = 100_000) -> None:
    """Print the CPU seconds that a large random graph takes."""
    source = random.Random(7)
    ids = [f"n{at}" for at in range(nodes)]
    claims = tuple(
        Node(name, NodeKind.ANSWER if at % 20 == 0 else NodeKind.PASSAGE) for at, name in enumerate(ids)
    )
    for name, choices in (("implications", [Relation.ENTAILMENT]), ("with equivalences", list(Relation))):
        lines = tuple(
            Edge(source.choice(ids), source.choice(ids), source.choice(choices)) for _ in range(edges)
        )
        start = time.process_time()
        analyse(FactGraph(claims, lines))
        print(f"{nodes} nodes, {edges} edges, {name}: {time.process_time() - start:.2f} s")


if __name__ == "__main__":
    measure_prefilter(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE)
    measure_analysis()
