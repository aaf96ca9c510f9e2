"""What the pre-filter of claim pairs loses and saves, and how fast fact graphs are analysed.

    python benchmarks/comprehensiveness.py [WIKICONTRADICT]

The file holds real answers with conflicting passages (by default the development set beside the
checkout). A pair that the filter skips would not be asked about; an implication among the skipped is
lost. What implies what is told by the embedded version, so the loss is a lower bound for an LLM, which
sees through other wordings. Seconds are of this machine, in one run, in CPU time.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from data.records import MetricItem  # noqa: E402 - the checkout goes first
from judges.metrics.comprehensiveness.claims import Missing  # noqa: E402 - as above
from judges.metrics.comprehensiveness.graph import (  # noqa: E402 - as above
    Edge,
    FactGraph,
    Node,
    NodeKind,
    Relation,
    analyse,
)
from judges.metrics.comprehensiveness.meta_files import read_wikicontradict  # noqa: E402 - as above
from judges.metrics.comprehensiveness.nli import (  # noqa: E402 - as above
    LexicalSteps,
    NliReader,
    hopeful,
)
from judges.metrics.comprehensiveness.settings import ComprehensivenessSettings  # noqa: E402 - as above

SAMPLE = ROOT / "../shared/data/wikicontradict/dev.jsonl"
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def measure_prefilter(path: Path) -> None:
    """Print, by threshold, the share of pairs skipped, of implications lost, and the scores that change."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    items = [each.item for each in read_wikicontradict(lines, where=str(path))]
    exact = [asyncio.run(_graph(item, 0.0)) for item in items]
    print("similarity  skipped  implications lost  scores changed")
    for threshold in THRESHOLDS:
        skipped = pairs = lost = total = changed = 0
        for item, graph in zip(items, exact, strict=True):
            filtered = asyncio.run(_graph(item, threshold))
            changed += analyse(filtered).score != analyse(graph).score
            wanted = [
                (a.text, b.text)
                for a, b in itertools.permutations(graph.nodes, 2)
                if NodeKind.PASSAGE in {a.kind, b.kind} and a.text != b.text
            ]
            pairs += len(wanted)
            skipped += sum(not hopeful(a, b, threshold) for a, b in wanted)
            total += sum(edge.relation is Relation.ENTAILMENT for edge in graph.edges)
            lost += sum(
                edge.relation is Relation.ENTAILMENT and edge not in filtered.edges for edge in graph.edges
            )
        rates = (skipped / pairs, lost / total, changed / len(items))
        print(f"{threshold:10.1f}  {rates[0]:7.1%}  {rates[1]:17.1%}  {rates[2]:14.1%}")


async def _graph(item: MetricItem, similarity: float) -> FactGraph:
    settings = ComprehensivenessSettings(similarity=similarity)
    found = await NliReader(LexicalSteps, engine="lexical", settings=settings).graph(item)
    if isinstance(found, Missing):
        raise SystemExit(found.reason)
    return found


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
