"""A round on Ray against the same round in one process, at equal total concurrency.

    python benchmarks/cluster.py [--battles 2000] [--concurrency 32] [--latency 0.2] [--url postgresql+psycopg://…] [--json]

The endpoint is scripted and runs in a process of its own. Ray has its two tasks running before the clock starts
on either side would matter, so two figures are given: the whole command, cluster connected, and battles a second
between the first and the last verdict. With --url, an empty PostgreSQL database is used, else SQLite.
"""  # noqa: E501 - the command is one line

# ruff: noqa: E402 - the checkout goes before what is installed

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from judging import endpoint
from rounds import fill

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.workers.ray import judge_on_ray
from data.progress import Progress

TARGET = 0.85


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
    import arena.workers.ray  # noqa: F401
    import judges.llm.transports.openai  # noqa: F401


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--battles", type=int, default=2_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--url", help="an empty PostgreSQL database")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.battles, options.concurrency, options.latency, options.url)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, figure in figures.items():
        print(f"{name:32} {figure:12.2f}")
    print(f"at least {TARGET}: {'yes' if figures['ray / local, while judging'] >= TARGET else 'NO'}")


if __name__ == "__main__":
    main()
