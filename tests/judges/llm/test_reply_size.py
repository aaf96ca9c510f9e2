from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from data.errors import StoppedError
from judges.llm.client import open_client
from judges.llm.costs import MemoryLedger
from judges.llm.errors import CallError
from judges.llm.replies import payload_of, reply_of
from judges.llm.reply_size import lines_of, reply_limit
from judges.llm.requests import CallFailure, Message, Request, Sampling
from judges.llm.settings import AccessSettings
from tests.narrow import instance

HALF = b'{"choices": [{"message": {"content": "'
BODIES = {
    "large": (HALF + b"x" * 2**21, "", 'larger than 1 MiB: {"choices"'),
    "bomb": (gzip.compress(HALF + bytes(2**27)), "gzip", 'larger than 1 MiB: {"choices"'),
    "unasked": (HALF, "br", "has the encoding 'br'"),
}


async def chat(stop: Callable[[], None], request: web.Request) -> web.StreamResponse:
    """Send the body that a model is named after, or an endless body, and then stop the client."""
    name = (await request.json())["model"].removeprefix("openai/")
    if name in BODIES:
        return web.Response(body=BODIES[name][0], headers={"Content-Encoding": BODIES[name][1]})
    response = web.StreamResponse()
    await response.prepare(request)
    asyncio.get_running_loop().call_later(1.0, stop)
    while True:
        with suppress(ConnectionError):
            await response.write(b" ")
        await asyncio.sleep(0.05)


async def ask(transport: str, name: str, ledger: MemoryLedger) -> Any:  # noqa: ANN401
    app = web.Application()
    model = f"openai/{name}" if transport == "litellm" else name
    settings = AccessSettings(transport=transport, attempts=1, timeout=20)
    async with open_client(settings, None, ledger) as client:
        app.router.add_post("/v1/chat/completions", partial(chat, client.stop))
        async with TestServer(app) as server:
            url = str(server.make_url("/v1"))
            return await client.ask(Request(endpoint=url, model=model, messages=(Message("user", "?"),)))


TRANSPORTS = ["openai", "direct", pytest.param("litellm", marks=pytest.mark.slow)]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", BODIES)
def test_oversized_body_is_error(transport: str, name: str) -> None:
    failure = instance(CallFailure, asyncio.run(ask(transport, name, MemoryLedger(1.0))))
    assert BODIES[name][2] in failure.detail


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_stop_cuts_off_endless_body(transport: str) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(StoppedError):
        asyncio.run(ask(transport, "gpt-4o", ledger))
    assert ledger.lost > 0


def test_limit_depends_on_sampling() -> None:
    sampling = [Sampling(), Sampling(max_tokens=100_000), Sampling(max_tokens=None)]
    assert [reply_limit(settings) for settings in sampling] == [2**20, 3_200_000, 2**24]
    assert reply_limit(Sampling(max_tokens=2_000, logprobs=True, top_logprobs=20)) == 2_000 * (32 + 21 * 160)
    request = Request(endpoint="e", model="m", messages=(Message("user", "?"),))
    with pytest.raises(CallError, match="larger than 1 MiB: xxx"):
        reply_of(request, {"choices": [{"message": {"content": "x" * 2**21}}]}, 0.1)
    with pytest.raises(
        CallError, match="not a chat completion"
    ):  # objects take 20 times the memory of their text
        payload_of(b"[" + b"{}," * 2**19 + b"0]")


def test_batch_lines_are_read_one_by_one() -> None:
    async def come() -> AsyncIterator[bytes]:
        for piece in (b"a\nb", b"c\n", b"", *[b"x" * 2**20] * 40, b"\ny"):
            yield piece

    async def read() -> list[bytes]:
        return [line async for line in lines_of(come())]

    *short, large, after = asyncio.run(read())
    assert (*short, after) == (b"a", b"bc", b"y")
    assert 2**24 < len(large) <= 2**24 + 2**20
