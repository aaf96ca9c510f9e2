"""Compare the speed of judging with that of a bare client on the same requests.

    python benchmarks/judging.py [--judgments 3000] [--latency-calls 15000] [--connections 256] [--json]

All use scripted endpoints on this machine in one run; only ratios are comparable across machines. On busy
machines, use the ratios of processor time.

- `bare`: an `AsyncOpenAI` + aiohttp loop over ready-made messages, replies discarded.
- `access`: the same messages through `open_client` with an in-memory cache.
- `direct`: the same over the `direct` transport, without OpenAI's client.
- `ideal`: with 300 ms latency and 256 connections, 256 / 0.3 replies per second. The ramp-up from 64
  concurrent calls is measured too, so runs of few calls are slower. On a machine on which even `bare` is
  slower than that without latency, use fewer connections.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx
from made import ROOT, show
from openai import AsyncOpenAI, DefaultAioHttpClient

from judges.llm.client import open_client
from judges.llm.requests import Message, Request, Sampling
from judges.llm.settings import AccessSettings
from tests.memory import MemoryReplyCache

MODEL = "gpt-4o"
CONNECTIONS = 64
MANY_CONNECTIONS = 256
LATENCY = 0.3
RUBRIC = "Weigh truthfulness, then helpfulness, then completeness. " * 90
ANSWER = "Bread rises because yeast turns sugar into gas that the gluten holds, word {n}. "

Pipeline = Callable[[str, Sequence[tuple[Message, ...]], int], Coroutine[Any, Any, None]]


@contextmanager
def endpoint(**options: object) -> Iterator[str]:
    """Run a scripted endpoint in a separate process."""
    flags = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "tests.scripted_llm", *flags]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("The scripted endpoint has no output.")
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def battles(count: int) -> list[tuple[Message, ...]]:
    """Return messages as long as RAG-QA Arena's: about 1,500 rubric tokens and 200 answer tokens."""
    return [
        (
            Message("system", RUBRIC),
            Message(
                "user",
                f"<answer 1>\n{ANSWER.format(n=n) * 6}\n</answer 1>\n"
                f"<answer 2>\n{ANSWER.format(n=n) * 5}\n</answer 2>",
            ),
        )
        for n in range(count)
    ]


async def bare(url: str, work: Sequence[tuple[Message, ...]], connections: int) -> None:
    """Run the client with one loop per connection, over ready-made messages."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    bodies = iter([[{"role": item.role, "content": item.content} for item in messages] for messages in work])
    client = AsyncOpenAI(
        base_url=url, api_key="none", max_retries=0, http_client=DefaultAioHttpClient(limits=limits)
    )

    async def loop() -> None:
        for messages in bodies:
            body: Any = messages
            await client.chat.completions.create(
                model=MODEL, messages=body, temperature=0, top_p=1, max_tokens=256
            )

    async with client:
        await asyncio.gather(*(loop() for _ in range(connections)))


async def access(
    url: str, work: Sequence[tuple[Message, ...]], connections: int, transport: str = "openai"
) -> None:
    """Send requests through the scheduler, with a reply cache in memory."""
    pending = iter(work)
    settings = AccessSettings(concurrency=connections, transport=transport)
    async with open_client(settings, MemoryReplyCache(), None) as client:

        async def loop() -> None:
            for messages in pending:
                request = Request(endpoint=url, model=MODEL, messages=messages, sampling=Sampling())
                await client.ask(request)

        await asyncio.gather(*(loop() for _ in range(connections)))


PIPELINES: dict[str, Pipeline] = {"access": access, "direct": partial(access, transport="direct")}


def rates(
    pipeline: Pipeline, work: Sequence[tuple[Message, ...]], connections: int, **options: object
) -> tuple[float, float]:
    """Measure a pipeline's replies at its endpoint per second and per second of our processor time."""
    with endpoint(**options) as url:
        asyncio.run(pipeline(url, work[: 2 * connections], connections))
        started, used = time.perf_counter(), time.process_time()
        asyncio.run(pipeline(url, work[2 * connections :], connections))
        count = len(work) - 2 * connections
        return count / (time.perf_counter() - started), count / (time.process_time() - used)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--judgments", type=int, default=3_000)
    parser.add_argument("--latency-calls", type=int, default=15_000)
    parser.add_argument("--connections", type=int, default=MANY_CONNECTIONS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    work = battles(options.judgments)
    bare_rate, bare_busy = rates(bare, work, CONNECTIONS)
    figures: dict[str, float] = {"bare": bare_rate, "bare, by processor time": bare_busy}
    for name, pipeline in PIPELINES.items():
        figures[name], figures[f"{name}, by processor time"] = rates(pipeline, work, CONNECTIONS)
        figures[f"{name} / bare"] = figures[name] / bare_rate
        figures[f"{name} / bare, by processor time"] = figures[f"{name}, by processor time"] / bare_busy
    connections = options.connections
    ideal = connections / LATENCY
    waiting = battles(options.latency_calls)
    for name, pipeline in {"bare": bare, **PIPELINES}.items():
        rate, _ = rates(pipeline, waiting, connections, latency=LATENCY)
        figures[f"{name}, 300 ms and {connections} connections / ideal"] = rate / ideal
    figures["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
