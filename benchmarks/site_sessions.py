"""Sessions on a site without a browser: Streamlit's own protocol over websockets.

`acting` times one action: an open session switches to another address, drawn with a fixed seed; the time runs
from the request to the message that the run has finished. The client parses only the smallest messages, so
that one session hardly delays the timestamps of others. Unlike browsers, it never claims to have cached a
message, so tables are sent in full.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 120.0
LONGEST_END = 100
"""Maximum bytes of the message that ends a run: it has 44, a table 50,000."""
STREAMLIT = websockets.Subprotocol("streamlit")


class Session:
    """A reader with an open page."""

    def __init__(self, site: str) -> None:
        place = urlsplit(site)
        self._address = f"ws://{place.netloc}/_stcore/stream"
        self._socket: websockets.ClientConnection | None = None

    async def open(self) -> None:
        """Connect without opening a page."""
        self._socket = await websockets.connect(self._address, subprotocols=[STREAMLIT], max_size=None)

    async def visit(self, query: str, page: str = "") -> float:
        """Run a page to its end, and return the seconds."""
        assert self._socket is not None
        start = time.perf_counter()
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        await self._socket.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            while True:
                content = await self._socket.recv(decode=False)
                arrived = time.perf_counter()
                if len(content) < LONGEST_END and _is_end(content):
                    return arrived - start

    async def close(self) -> None:
        """Close the session."""
        if self._socket is not None:
            await self._socket.close()


async def acting(
    site: str, addresses: Sequence[str], acts: int, *, count: int = 1, of: int = 1
) -> list[float]:
    """Return the seconds per action of many open sessions, with pauses between actions.

    Each session first opens the site; an action is a change to another of the addresses. Pauses are drawn
    evenly from `THINKING`, separately for each session, from a fixed seed; a session that represents several
    (`of`) acts as often as they do together.
    """
    thinking = (THINKING[0] / of, THINKING[1] / of)
    sessions = [Session(site) for _ in range(count)]
    for session in sessions:
        await session.open()
        await session.visit(addresses[0])

    async def read(number: int, session: Session) -> list[float]:
        rng, address = random.Random(number), addresses[0]
        times = []
        await asyncio.sleep(rng.uniform(0, thinking[1]))
        for _ in range(acts):
            address = rng.choice([other for other in addresses if other != address])
            times.append(await session.visit(address))
            await asyncio.sleep(rng.uniform(*thinking))
        return times

    parts = await asyncio.gather(*(read(number, session) for number, session in enumerate(sessions)))
    await asyncio.gather(*(session.close() for session in sessions))
    return [seconds for part in parts for seconds in part]


THINKING = (5.0, 10.0)
"""Minimum and maximum seconds between two actions of a session."""


def _is_end(content: bytes) -> bool:
    message = ForwardMsg()
    message.ParseFromString(content)
    return message.WhichOneof("type") == "script_finished"


def processor_time(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
