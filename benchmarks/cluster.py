"""Ray against one process, and two hosts against one: only ratios carry over to other machines.

    python benchmarks/cluster.py [--only ray|hosts] [--battles 2000] [--concurrency 32] [--latency 0.2]
        [--answers 4000] [--url postgresql+psycopg://…] [--json]

- `ray / local`: a round at equal total concurrency against a scripted endpoint in a process of its own: the
  whole command, cluster connected, and battles a second between the first and the last verdict. With --url,
  an empty PostgreSQL database is used, else SQLite. Target: 0.95 while judging.
- `hosts`: network namespaces of this machine with a Ray head, two nodes of one processor each, PostgreSQL and
  an endpoint (tests/hosts.py; root, iproute2, PostgreSQL's programs). Scoring by an embedded metric takes
  processors: two nodes over one, held against two plain processes over one in the same run (target 0.9).
  Judging waits: two nodes over one at the same calls in flight a node (target 1.9).
"""

# ruff: noqa: E402 - the checkout goes before what is installed

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from judging import endpoint
from rounds import SYSTEMS, fill
from sqlalchemy import text

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.workers.ray_rounds import judge_on_ray
from data.progress import Progress
from tests.hosts import ENDPOINT, PORT, SERVER, Lan, RayHosts, lan, postgres_on, why_not

TARGETS = {"ray / local, while judging": 0.95, "scoring: nodes / processes": 0.9, "judging: 2 nodes / 1": 1.9}
METRIC = "comprehensiveness-nli"
HOSTS = ("head", "left", "right", SERVER, ENDPOINT)
POLL_EVERY = 0.1
WAVES = 40
"""Battles for each call in flight of one node, so that first and last count little."""


class Clock:
    """Seconds and battles between the first progress report and the last."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, int]] = []

    def __call__(self, progress: Progress) -> None:
        """A report."""
        if progress.done and (not self.seen or progress.done > self.seen[-1][1]):
            self.seen.append((time.perf_counter(), progress.done))

    @property
    def rate(self) -> float:
        """Battles a second."""
        (begun, first), (ended, last) = self.seen[0], self.seen[-1]
        return (last - first) / (ended - begun)


def run(arena: Arena, name: str, concurrency: int, *, on_ray: bool) -> tuple[float, float]:
    """Judge a round; seconds of the whole command, and battles a second while it judged."""
    request = RoundRequest(set_name="bench", judge="reference-free", name=name, canaries=0, controls=0)
    arena.rounds.create(request)
    arena.store.replies.forget()
    clock, started = Clock(), time.perf_counter()
    if on_ray:
        counts = judge_on_ray(arena, name, concurrency=concurrency, report=clock)
    else:
        counts = arena.rounds.run(name, concurrency=concurrency, report=clock)
    seconds = time.perf_counter() - started
    assert counts.judged == counts.planned, counts
    return seconds, clock.rate


def measure(battles: int, concurrency: int, latency: float, url: str | None) -> dict[str, float]:
    """Both engines, one after the other."""
    import ray

    with tempfile.TemporaryDirectory() as folder, endpoint(latency=latency) as served:
        home = Path(folder)
        arena = fill(home, battles, served, database_url=url)
        settings = arena.settings
        variables = {
            "ARENA_HOME": str(settings.home),
            "ARENA_DATABASE_URL": settings.database_url,
            "OPENAI_BASE_URL": served,
            "OPENAI_API_KEY": "none",
            "PYTHONPATH": str(ROOT),
        }
        os.environ.update(variables)  # noqa: TID251 - for the nodes
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        ray.get([ray.remote(warm).remote() for _ in range(2)])
        local, local_rate = run(arena, "local", concurrency, on_ray=False)
        spread, spread_rate = run(arena, "ray", concurrency, on_ray=True)
        ray.shutdown()
        arena.close()
    return {
        "ideal, battles/s": concurrency / latency if latency else float("nan"),
        "local, s": local,
        "local, battles/s": local_rate,
        "ray, s": spread,
        "ray, battles/s": spread_rate,
        "ray / local, whole command": local / spread,
        "ray / local, while judging": spread_rate / local_rate,
    }


def warm() -> None:
    """Load on a node what a task loads."""
    import arena.workers.ray_rounds  # noqa: F401
    import judges.llm.transports.openai  # noqa: F401


def rate(total: int, left: Callable[[], int], start: Callable[[], subprocess.Popen[bytes]]) -> float:
    """Units of work a second, between the first that is seen done and the last."""
    process = start()
    begun, first = 0.0, 0
    while (waiting := left()) and process.poll() is None:
        if waiting < total and not first:
            begun, first = time.perf_counter(), total - waiting
        time.sleep(POLL_EVERY)
    ended = time.perf_counter()
    if process.wait():
        message = "A command of the benchmark failed; its log is above."
        raise RuntimeError(message)
    return (total - first) / (ended - begun)


class Hosts:
    """One or two nodes, and what they do."""

    def __init__(self, made: Lan, arena: Arena) -> None:
        self.lan, self.arena = made, arena
        self.ray = RayHosts(made)
        self.submissions = [one.id for one in arena.store.submissions.find(set_name="bench")]

    def unscored(self) -> int:
        """Answers that have no score yet."""
        return self.arena.store.scores.pending(self.submissions, metric=METRIC, judge="")

    def forget(self) -> None:
        """Let every answer be without a score, and no reply be known."""
        with self.arena.store.database.begin() as connection:
            connection.execute(text("DELETE FROM score"))
        self.arena.store.replies.forget()

    def scored(self, processes: int) -> float:
        """Answers a second by plain processes of one machine."""
        self.forget()
        words = ("metrics", "run", "--set", "bench", "--metric", METRIC)
        return rate(
            self.unscored(),
            self.unscored,
            lambda: self.lan.arena("left", *words, ARENA_PROCESSES=str(processes)),
        )

    def scored_by_nodes(self) -> float:
        """Answers a second by the nodes that are there."""
        self.forget()
        words = ("metrics", "run", "--set", "bench", "--metric", METRIC, "--engine", "ray")
        return rate(self.unscored(), self.unscored, lambda: self.ray.arena(*words))

    def judged_by_nodes(self, name: str, nodes: int, concurrency: int) -> float:
        """Battles a second by so many nodes, each with so many calls in flight."""
        self.forget()
        request = RoundRequest(
            set_name="bench",
            judge="reference-free",
            name=name,
            canaries=0,
            controls=0,
            sample=str(WAVES * concurrency // SYSTEMS),
        )
        self.arena.rounds.create(request)

        def left() -> int:
            return self.arena.store.rounds.counts(name).pending

        shared = ("--workers", str(nodes), "--concurrency", str(nodes * concurrency))
        words = ("rounds", "resume", name, "--engine", "ray", *shared)
        return rate(left(), left, lambda: self.ray.arena(*words))

    def until_nodes(self, count: int) -> None:
        """Wait until the cluster has so many processors."""
        code = f"import ray; ray.init(address='auto'); assert ray.cluster_resources().get('CPU') == {count}"
        head = self.ray.running["head"]
        while self.lan.join("head", head, sys.executable, "-c", code, **self.ray.variables).wait():
            time.sleep(1)


def measure_hosts(answers: int, concurrency: int, latency: float) -> dict[str, float]:
    """One node and two, and plain processes, in turn."""
    with tempfile.TemporaryDirectory() as folder, lan(HOSTS) as made, postgres_on(made) as server:
        url = f"http://{made.address(ENDPOINT)}:{PORT}/v1"
        made.variables = {
            "ARENA_DATABASE_URL": server.url,
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "none",
        }
        address = ("--host", made.address(ENDPOINT), "--port", str(PORT), "--latency", str(latency))
        made.start(ENDPOINT, sys.executable, "-m", "tests.scripted_llm", *address)
        arena = fill(Path(folder), answers, url, database_url=server.own_url)
        hosts = Hosts(made, arena)
        try:
            hosts.ray.start("head")
            hosts.ray.start("left")
            hosts.until_nodes(1)
            hosts.scored_by_nodes()
            plain = [hosts.scored(1), hosts.scored(2)]
            nodes = [hosts.scored_by_nodes()]
            judged = [hosts.judged_by_nodes("one", 1, concurrency)]
            hosts.ray.start("right")
            hosts.until_nodes(2)
            hosts.scored_by_nodes()
            nodes.append(hosts.scored_by_nodes())
            judged.append(hosts.judged_by_nodes("two", 2, concurrency))
        except RuntimeError:
            for host in HOSTS[:3]:
                print(made.log(host)[-2_000:], file=sys.stderr)
            raise
        finally:
            hosts.ray.end()
            arena.close()
    of_processes, of_nodes = plain[1] / plain[0], nodes[1] / nodes[0]
    return {
        "scoring, 1 process, answers/s": plain[0],
        "scoring, 2 processes, answers/s": plain[1],
        "scoring, 1 node, answers/s": nodes[0],
        "scoring, 2 nodes, answers/s": nodes[1],
        "scoring: 2 processes / 1": of_processes,
        "scoring: 2 nodes / 1": of_nodes,
        "scoring: nodes / processes": of_nodes / of_processes,
        "judging, 1 node, battles/s": judged[0],
        "judging, 2 nodes, battles/s": judged[1],
        "judging: 2 nodes / 1": judged[1] / judged[0],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=("ray", "hosts"))
    parser.add_argument("--battles", type=int, default=2_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--answers", type=int, default=4_000)
    parser.add_argument("--url", help="an empty PostgreSQL database")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    if options.only != "hosts":
        figures |= measure(options.battles, options.concurrency, options.latency, options.url)
    if options.only != "ray" and (reason := why_not()):
        print(f"NO NETWORK NAMESPACES ({reason}): hosts are not measured", file=sys.stderr)
    elif options.only != "ray":
        figures |= measure_hosts(options.answers, options.concurrency // 2, max(1.0, options.latency))
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, figure in figures.items():
        print(f"{name:34} {figure:12.2f}")
    for name, target in TARGETS.items():
        if name in figures:
            print(f"{name}: at least {target}: {'yes' if figures[name] >= target else 'NO'}")


if __name__ == "__main__":
    main()
