"""Estimate the time, money and storage of a hundred million judgments.

python benchmarks/hundred_million.py [--judgments 100000000] [--workers 32] [--concurrency 64] [--json]
It measures the bytes of a judgment and its reply in SQLite, and the processor seconds per battle. The rest
follows from the options, which include prices in USD per million tokens, since they change.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from judging import endpoint
from made import show
from rounds import fill

from arena.services.rounds.models import RoundRequest

DAY = 86_400.0
CALIBRATION = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Assumptions of the simulation."""

    judgments: int
    workers: int
    concurrency: int
    latency: float
    input_tokens: int
    output_tokens: int
    input_price: float
    output_price: float
    rationale_bytes: int


def calibrate() -> dict[str, float]:
    """Judge a small round end to end, and measure the size of a judgment."""
    with tempfile.TemporaryDirectory() as folder, endpoint() as url:
        arena = fill(Path(folder), CALIBRATION, url)
        arena.rounds.create(RoundRequest(set_name="bench", judge="reference-free", name="r"))
        before, used = arena.store.database.size(), time.process_time()
        arena.rounds.run("r", concurrency=64, report=lambda _progress: None)
        used = time.process_time() - used
        with arena.store.database.begin() as connection:
            connection.exec_driver_sql("SELECT 1")
        arena.close()
        # Closing the last connection merged the log into the file.
        size = (Path(folder) / "arena.sqlite").stat().st_size
    return {"processor s": used / CALIBRATION, "bytes": (size - before) / CALIBRATION}


def lay_out(scene: Scene, measured: dict[str, float]) -> dict[str, float]:
    """Return the estimates for the assumptions."""
    in_flight = scene.workers * scene.concurrency
    calls = in_flight / scene.latency
    handled = scene.workers / measured["processor s"]
    rate = min(calls, handled)
    stored = measured["bytes"] + scene.rationale_bytes
    priced = scene.input_tokens * scene.input_price + scene.output_tokens * scene.output_price
    return {
        "processor ms a battle (measured)": 1_000 * measured["processor s"],
        "bytes a judgment with its reply (measured, replies of the scripted endpoint)": measured["bytes"],
        "calls in flight": in_flight,
        "calls a second that latency allows": calls,
        "battles a second that the workers' processors allow": handled,
        "days": scene.judgments / rate / DAY,
        "worker processors that keep up with the calls": calls * measured["processor s"],
        "tokens a minute at that rate, millions": rate
        * 60
        * (scene.input_tokens + scene.output_tokens)
        / 1e6,
        "USD": scene.judgments * priced / 1e6,
        "USD with batches at half the price": scene.judgments * priced / 2e6,
        "GPU hours at 2,500 tokens/s prefilled and 1,000 generated a GPU": scene.judgments
        * (scene.input_tokens / 2_500 + scene.output_tokens / 1_000)
        / 3_600,
        "TB in the database": scene.judgments * stored / 1e12,
        "commits a second (each worker four times)": 4.0 * scene.workers,
        "rows written a second (verdict, judgment, reply, hold)": 4 * rate,
        "calls repeated by one kill of a worker": scene.concurrency,
    }


def main() -> None:
    """Measure, estimate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--judgments", type=int, default=100_000_000)
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds a call takes")
    parser.add_argument("--input-tokens", type=int, default=1_900)
    parser.add_argument("--output-tokens", type=int, default=180)
    parser.add_argument("--input-price", type=float, default=0.15)
    parser.add_argument("--output-price", type=float, default=0.60)
    parser.add_argument("--rationale-bytes", type=int, default=1_400, help="beyond the scripted replies'")
    parser.add_argument("--json", action="store_true")
    options = vars(parser.parse_args())
    as_json = options.pop("json")
    show(lay_out(Scene(**options), calibrate()), as_json=as_json)


if __name__ == "__main__":
    main()
