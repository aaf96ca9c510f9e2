"""Two hosts against one, and Ray against one process: only ratios carry over to other machines.

    python benchmarks/cluster.py [--answers 5000] [--concurrency 16] [--latency 0.5] [--repeats 2] [--json]

Hosts are network namespaces of this machine (tests/hosts.py; root, iproute2, PostgreSQL's programs): a Ray
cluster of one node, one of two, of one processor each, a host of plain processes, PostgreSQL, and an endpoint
that takes a fixed time for a reply. Each repeat measures everything once, in alternating order, so that a
ratio is one of runs beside each other; what is printed is the median of the repeats. Rates are those of the
last three quarters of the results, since processes and nodes start one after another.

- `scoring` by an embedded metric takes processors: two nodes over one, held against two plain processes over
  one (target 0.9), by the clock and by the processor seconds of the hosts. The clock says nothing on a
  machine that has not two processors to spare; seconds of the processor say only what is computed in excess.
- `judging` waits: two nodes over one at the same calls in flight a node (target 1.9), and two nodes over one
  process at the same calls in flight together (`ray / local`, target 0.95).
"""

# ruff: noqa: E402 - the checkout goes before what is installed

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from rounds import SYSTEMS, fill
from sqlalchemy import Table, delete, select

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.models.submissions import scores
from data.models.tables import judgments
from tests.hosts import ENDPOINT, PORT, SERVER, Lan, RayHosts, lan, postgres_on, why_not

TARGETS = {
    "scoring: nodes / processes": 0.9,
    "judging: 2 nodes / 1": 1.9,
    "judging: ray / local": 0.95,
}
METRIC = "comprehensiveness-nli"
PLAIN = "plain"
ONE = ("head-1", "only")
TWO = ("head-2", "left", "right")
HOSTS = (PLAIN, *ONE, *TWO, SERVER, ENDPOINT)
LOOK_EVERY = 0.5
STARTING = 4
"""The part of the results, as one in so many, during which nodes and processes may still start."""
WAVES = 30
"""Battles for each call in flight, so that first and last count little."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Units of work by the second, and by the second of the processors of the hosts that worked."""

    by_clock: float
    by_processor: float


@dataclass(frozen=True, slots=True)
class Bench:
    """The hosts and the database that they share."""

    lan: Lan
    arena: Arena
    one: RayHosts
    two: RayHosts

    def scored(self, processes: int) -> Rate:
        """Answers by plain processes of one machine."""
        self._forget()
        words = ("metrics", "run", "--set", "bench", "--metric", METRIC)
        return self._rate(scores, [PLAIN], self.lan.arena(PLAIN, *words, ARENA_PROCESSES=str(processes)))

    def scored_by(self, cluster: RayHosts) -> Rate:
        """Answers by the nodes of a cluster."""
        self._forget()
        words = ("metrics", "run", "--set", "bench", "--metric", METRIC, "--engine", "ray")
        return self._rate(scores, tuple(cluster.running), cluster.arena(*words))

    def judged(self, concurrency: int) -> Rate:
        """Battles by one process."""
        words = ("rounds", "resume", self._round(concurrency), "--concurrency", str(concurrency))
        return self._rate(judgments, [PLAIN], self.lan.arena(PLAIN, *words))

    def judged_by(self, cluster: RayHosts, concurrency: int) -> Rate:
        """Battles by the nodes of a cluster, which have so many calls in flight together."""
        words = ("rounds", "resume", self._round(concurrency), "--concurrency", str(concurrency))
        return self._rate(judgments, tuple(cluster.running), cluster.arena(*words, "--engine", "ray"))

    def _round(self, concurrency: int) -> str:
        self._forget()
        name = f"r{len(self.arena.store.rounds.all())}"
        sample = str(WAVES * concurrency // SYSTEMS)
        request = RoundRequest(set_name="bench", judge="reference-free", name=name, sample=sample)
        self.arena.rounds.create(request)
        return name

    def _forget(self) -> None:
        """Let no answer have a score, no battle a judgment, and no reply be known."""
        with self.arena.store.database.begin() as connection:
            connection.execute(delete(scores))
            connection.execute(delete(judgments))
        self.arena.store.replies.forget()

    def _rate(self, results: Table, hosts: Sequence[str], command: subprocess.Popen[bytes]) -> Rate:
        """What a command stores in a table, once it stores as fast as it can."""
        used: dict[str, int] = {}
        looks: list[tuple[datetime, int]] = []
        while command.poll() is None:
            used |= self._ticks(hosts)
            looks.append((datetime.now(UTC), sum(used.values())))
            time.sleep(LOOK_EVERY)
        if command.wait():
            raise RuntimeError("\n".join(self.lan.log(host)[-2_000:] for host in hosts))
        with self.arena.store.database.begin() as connection:
            moments = sorted(connection.execute(select(results.c.created_at)).scalars())
        skipped = len(moments) // STARTING
        first, last = moments[skipped], moments[-1]
        ticks = [ticks for moment, ticks in looks if first <= moment <= last]
        seconds = (ticks[-1] - ticks[0]) / os.sysconf("SC_CLK_TCK")
        count = len(moments) - skipped
        return Rate(count / (last - first).total_seconds(), count / seconds)

    def _ticks(self, hosts: Sequence[str]) -> dict[str, int]:
        """How long each process on hosts has had a processor."""
        found = {}
        for host in hosts:
            words = ["ip", "netns", "pids", self.lan.space(host)]
            for number in subprocess.run(words, check=True, capture_output=True, text=True).stdout.split():
                with suppress(OSError):
                    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
                    found[number] = int(fields[11]) + int(fields[12])
        return found


@contextmanager
def cluster(made: Lan, names: Sequence[str]) -> Iterator[RayHosts]:
    """A cluster of a head and nodes until the end of the block."""
    hosts = RayHosts(made, names[0])
    try:
        for name in names:
            hosts.start(name)
        yield hosts
    finally:
        hosts.end()


def until_ready(hosts: RayHosts) -> None:
    """Wait until all nodes of a cluster are there."""
    count = len(hosts.running) - 1
    code = (
        "import ray, time\nray.init(address='auto', log_to_driver=False)\n"
        f"while ray.cluster_resources().get('CPU') != {count}: time.sleep(0.2)"
    )
    head = hosts.running[hosts.head]
    while hosts.lan.join(hosts.head, head, sys.executable, "-c", code, **hosts.variables).wait():
        time.sleep(1)


@contextmanager
def bench(answers: int, latency: float) -> Iterator[Bench]:
    """Both clusters, a database with so many answers, and the endpoint."""
    with tempfile.TemporaryDirectory() as folder, lan(HOSTS) as made, postgres_on(made) as server:
        url = f"http://{made.address(ENDPOINT)}:{PORT}/v1"
        made.variables = {
            "ARENA_DATABASE_URL": server.url,
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "none",
        }
        with cluster(made, ONE) as one, cluster(made, TWO) as two:
            address = ("--host", made.address(ENDPOINT), "--port", str(PORT), "--latency", str(latency))
            made.start(ENDPOINT, sys.executable, "-m", "tests.scripted_llm", *address)
            arena = fill(Path(folder), answers, url, database_url=server.own_url)
            until_ready(one)
            until_ready(two)
            try:
                yield Bench(made, arena, one, two)
            finally:
                arena.close()


def ratios(found: dict[str, Rate]) -> dict[str, float]:
    """The ratios of one repeat."""
    figures = {}
    for unit, rate in (("", _by_clock), (", by processor time", _by_processor)):
        processes = rate(found["scoring, 2 processes"]) / rate(found["scoring, 1 process"])
        nodes = rate(found["scoring, 2 nodes"]) / rate(found["scoring, 1 node"])
        figures[f"scoring: 2 processes / 1{unit}"] = processes
        figures[f"scoring: 2 nodes / 1{unit}"] = nodes
        figures[f"scoring: nodes / processes{unit}"] = nodes / processes
        judged = rate(found["judging, 2 nodes"])
        figures[f"judging: 2 nodes / 1{unit}"] = judged / rate(found["judging, 1 node"])
        figures[f"judging: ray / local{unit}"] = judged / rate(found["judging, 1 process"])
    return figures


def _by_clock(rate: Rate) -> float:
    return rate.by_clock


def _by_processor(rate: Rate) -> float:
    return rate.by_processor


def measure(answers: int, concurrency: int, latency: float, repeats: int) -> dict[str, float]:
    """Medians of the repeats."""
    every: list[dict[str, float]] = []
    with bench(answers, latency) as made:
        runs: dict[str, Callable[[], Rate]] = {
            "scoring, 1 process": lambda: made.scored(1),
            "scoring, 1 node": lambda: made.scored_by(made.one),
            "scoring, 2 nodes": lambda: made.scored_by(made.two),
            "scoring, 2 processes": lambda: made.scored(2),
            "judging, 1 node": lambda: made.judged_by(made.one, concurrency),
            "judging, 2 nodes": lambda: made.judged_by(made.two, 2 * concurrency),
            "judging, 1 process": lambda: made.judged(2 * concurrency),
        }
        for number in range(repeats):
            order = list(runs) if number % 2 == 0 else list(reversed(runs))
            found = {name: runs[name]() for name in order}
            rates = {f"{name}, a second": found[name].by_clock for name in runs}
            every.append({**rates, **ratios(found)})
            print(f"{number + 1} of {repeats} at load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return {name: statistics.median(one[name] for one in every) for name in every[0]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--answers", type=int, default=5_000)
    parser.add_argument("--concurrency", type=int, default=16, help="calls in flight a node")
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if reason := why_not():
        sys.exit(f"NO NETWORK NAMESPACES ({reason}): nothing is measured")
    figures = measure(options.answers, options.concurrency, options.latency, options.repeats)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, figure in figures.items():
        print(f"{name:46} {figure:12.2f}")
    for name, target in TARGETS.items():
        print(f"{name}: at least {target}: {'yes' if figures[name] >= target else 'NO'}")


if __name__ == "__main__":
    main()
