from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import pytest

from data.models import Reply
from data.text import visible
from judges.llm.client import open_client
from judges.llm.redaction import Redaction
from judges.llm.requests import Message, Request
from judges.llm.settings import AccessSettings
from tests.narrow import instance

KEY = "sk-Ab12Cd34Ef56Gh78"
REPEATED = [KEY, KEY.upper(), KEY[:-1], KEY[1:], f"Bearer {KEY}", f"{KEY}9"] + [
    base64.b64encode(f"{before}{KEY}".encode()).decode() for before in ("", "u", "us", "user:", "Bearer ")
]


@pytest.mark.parametrize("repeated", REPEATED)
def test_keys_are_hidden_however_they_are_spelled(repeated: str) -> None:
    hidden = Redaction(["none", KEY]).text(f"None of it: {repeated}, see {repeated}.")
    assert hidden.startswith("None of it: ")
    assert hidden.count("***") == 2
    assert not any(part.lower() in hidden.lower() for part in (KEY[4:12], repeated[8:16]))


@pytest.mark.parametrize("transport", ["openai", "direct", pytest.param("litellm", marks=pytest.mark.slow)])
def test_replies_have_no_key_and_no_control_characters(
    scripted_llm: Callable[..., Any], transport: str
) -> None:
    server = scripted_llm(first=[f"{KEY} \x1b]0;x\x07 \x9b31m \u202e\ttab\r\nline"])
    request = Request(endpoint=server.url, model="openai/gpt-4o", messages=(Message("user", "x"),))

    async def ask() -> object:
        async with open_client(AccessSettings(transport=transport, api_key=KEY)) as client:
            return await client.ask(request)

    assert (
        instance(Reply, asyncio.run(ask())).text == "*** \\u001b]0;x\\u0007 \\u009b31m \\u202e\ttab\r\nline"
    )
    assert visible("a\rb é 日\u3000本 👩\u200d🔬 \u200f\n") == "a\\u000db é 日\u3000本 👩\u200d🔬 \u200f\n"
