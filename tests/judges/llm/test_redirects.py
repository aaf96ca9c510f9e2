from __future__ import annotations

import asyncio
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from data.errors import EndpointError
from data.models import Reply
from judges.llm.client import open_client
from judges.llm.requests import CallFailure, Message, Request
from judges.llm.settings import AccessSettings


@pytest.mark.long
@pytest.mark.parametrize("transport", ["openai", "direct", "litellm"])
@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_of_an_endpoint_is_not_followed(
    scripted_llm: Callable[..., Any], transport: str, status: int
) -> None:
    other = scripted_llm(first=["taken"])

    class Leads(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Location", f"{other.url.replace('127.0.0.1', 'localhost')}/chat/completions")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    async def asked(url: str) -> Reply | CallFailure:
        settings = AccessSettings(transport=transport, api_key="key", attempts=1)
        async with open_client(settings) as client:
            message = Message("user", "a private reference")
            return await client.ask(Request(endpoint=url, model="openai/x", messages=(message,)))

    with ThreadingHTTPServer(("127.0.0.1", 0), Leads) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(EndpointError, match="leads to another address, which is not asked"):
            asyncio.run(asked(f"http://127.0.0.1:{server.server_port}/v1"))
        server.shutdown()
    assert not other.log.bodies
