"""Bodies that no reply may have, over every transport: too large, compressed, or without an end."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from data.errors import StoppedError
from judges.llm.client import open_client
from judges.llm.costs import MemoryLedger
from judges.llm.errors import CallError
from judges.llm.replies import payload_of
from judges.llm.reply_size import lines_of, reply_limit
from judges.llm.requests import CallFailure, Message, Request, Sampling
from judges.llm.settings import AccessSettings
from tests.narrow import instance

HALF = b'{"choices": [{"message": {"content": "'
BODIES: dict[str, tuple[bytes, dict[str, str]]] = {
    "large": (HALF + b"x" * 2**21, {}),
    "bomb": (gzip.compress(HALF + bytes(2**27)), {"Content-Encoding": "gzip"}),
    "unasked": (HALF, {"Content-Encoding": "br"}),
}


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Serve the body that a model is named after; other models send one without an end."""

    async def chat(request: web.Request) -> web.StreamResponse:
        name = (await request.json())["model"].removeprefix("openai/")
        if name in BODIES:
            body, headers = BODIES[name]
            return web.Response(body=body, headers=headers, content_type="application/json")
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            with suppress(ConnectionError):
                await response.write(b" ")
            await asyncio.sleep(0.05)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(app, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def ask(transport: str, name: str, ledger: MemoryLedger, *, stop: float = 0) -> Any:  # noqa: ANN401
    model = f"openai/{name}" if transport == "litellm" else name
    settings = AccessSettings(transport=transport, attempts=1, timeout=20)
    async with serving() as url, open_client(settings, None, ledger) as client:
        if stop:
            asyncio.get_running_loop().call_later(stop, client.stop)
        return await client.ask(Request(endpoint=url, model=model, messages=(Message("user", "?"),)))


TRANSPORTS = ["openai", "direct", pytest.param("litellm", marks=pytest.mark.slow)]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("large", 'larger than 1 MiB: {"choices"'),
        ("bomb", 'larger than 1 MiB: {"choices"'),
        ("unasked", "encoded as 'br'"),
    ],
)
def test_a_body_beyond_its_limit_is_a_fault(transport: str, name: str, reason: str) -> None:
    failure = instance(CallFailure, asyncio.run(ask(transport, name, MemoryLedger(1.0))))
    assert reason in failure.detail


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_stop_cuts_off_a_body_without_an_end(transport: str) -> None:
    began, ledger = time.monotonic(), MemoryLedger(1.0)
    with pytest.raises(StoppedError):
        asyncio.run(ask(transport, "gpt-4o", ledger, stop=1.0))
    assert time.monotonic() - began < 8
    assert ledger.lost > 0


def test_the_limit_follows_what_may_be_written() -> None:
    sampling = [Sampling(), Sampling(max_tokens=100_000), Sampling(max_tokens=None)]
    assert [reply_limit(each) for each in sampling] == [2**20, 3_200_000, 2**24]
    with pytest.raises(CallError, match="no chat completion"):  # objects take 20 times their text
        payload_of(b"[" + b"{}," * 2**19 + b"0]")
    assert reply_limit(Sampling(max_tokens=2_000, logprobs=True, top_logprobs=20)) == 2_000 * (32 + 21 * 160)


def test_lines_of_a_batch_are_read_one_by_one() -> None:
    async def read(*pieces: bytes) -> list[bytes]:
        async def come() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        return [line async for line in lines_of(come())]

    assert asyncio.run(read(b"a\nb", b"c\n", b"", b"d\n\ne")) == [b"a", b"bc", b"d", b"", b"e"]
    large, after = asyncio.run(read(*[b"x" * 2**20] * 40, b"\ny"))
    assert 2**24 < len(large) <= 2**24 + 2**20
    assert after == b"y"
