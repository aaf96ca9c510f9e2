from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.settings import read_settings
from data.errors import EndpointError
from data.models import Outcome, Reply
from judges.llm.client import open_client
from judges.llm.requests import CallFailure, Message, Request, Sampling
from judges.llm.settings import AccessSettings

Serve = Callable[..., Any]
BOTH = ("openai", "direct")


def ask(
    url: str, transport: str, texts: Sequence[str] = ("Why? é",), **settings: object
) -> list[Reply | CallFailure]:
    fast: dict[str, Any] = {"backoff": 0.01, "longest_backoff": 0.02, "attempts": 2, **settings}

    async def run() -> list[Reply | CallFailure]:
        async with open_client(AccessSettings(transport=transport, api_key="key", **fast)) as client:
            return [
                await client.ask(Request(endpoint=url, model="gpt-4o", messages=(Message("user", text),)))
                for text in texts
            ]

    return asyncio.run(run())


def test_both_send_the_same_body_with_the_key(scripted_llm: Serve) -> None:
    bodies = []
    for transport in BOTH:
        server = scripted_llm(first=["fine"])
        [reply] = ask(server.url, transport)
        assert isinstance(reply, Reply)
        assert reply.text == "fine"
        bodies.append(server.log.bodies[-1])
    assert bodies[0] == bodies[1]


def test_both_go_through_the_proxy_that_the_environment_names(
    scripted_llm: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, near = scripted_llm(first=["by proxy", "by proxy"]), scripted_llm(first=["near", "near"])
    monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for transport in BOTH:
        for url, text in (("http://models.invalid/v1", "by proxy"), (near.url, "near")):
            [reply] = ask(url, transport)
            assert isinstance(reply, Reply), reply
            assert reply.text == text


def test_a_netrc_does_not_come_in_the_way_of_the_key(
    scripted_llm: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for transport in BOTH:
        server = scripted_llm(first=["fine"])
        [reply] = ask(server.url, transport)
        assert isinstance(reply, Reply)
        assert server.log.headers[-1]["Authorization"] == "Bearer key"


@pytest.mark.parametrize(
    "fault",
    ["server_error", "drop", "malformed", "rate_limit", "rate_limit_after", "refusal", "filtered",
     "truncated", "bad_request"],
)  # fmt: skip
def test_faults_end_alike(fault: str, scripted_llm: Serve) -> None:
    ends = []
    for transport in BOTH:
        server = scripted_llm(first=[fault, "fine"], retry_after=0.02)
        [answer] = ask(server.url, transport)
        text = answer.text if isinstance(answer, Reply) else answer.detail
        ends.append((type(answer), getattr(answer, "outcome", None), text, server.log.calls))
    assert ends[0] == ends[1]


@pytest.mark.parametrize(("fault", "said"), [("unauthorised", "401"), ("not_found", "404"), ("quota", "429")])
def test_hopeless_endpoints_are_given_up(fault: str, said: str, scripted_llm: Serve) -> None:
    server = scripted_llm(first=[fault, "fine"])
    with pytest.raises(EndpointError, match=said):
        ask(server.url, "direct")
    assert server.log.calls == 1


def test_a_hang_ends_with_the_timeout(scripted_llm: Serve) -> None:
    server = scripted_llm(first=["hang", "hang"])
    [answer] = ask(server.url, "direct", timeout=0.1)
    assert isinstance(answer, CallFailure)
    assert answer.outcome is Outcome.FAILED
    assert "No reply within 0.1 s" in answer.detail


def test_an_endpoint_that_is_not_there_is_unreachable() -> None:
    [answer] = ask("http://127.0.0.1:9/v1", "direct")
    assert isinstance(answer, CallFailure)
    assert answer.outcome is Outcome.FAILED
    assert "connection failed" in answer.detail
    assert not answer.cost_usd


def test_what_an_endpoint_does_not_support_is_learnt(scripted_llm: Serve) -> None:
    server = scripted_llm(legacy_max_tokens=False)
    answers = ask(server.url, "direct", ["a", "b"])
    assert all(isinstance(answer, Reply) for answer in answers)
    assert server.log.statuses["400"] == 1
    assert server.log.bodies[-1]["max_completion_tokens"] == Sampling().max_tokens


def test_direct_is_the_default_where_it_sends_the_same() -> None:
    assert read_settings({}).transport == "direct"
    assert read_settings({"OPENAI_ORG_ID": "org"}).transport == "openai"
    assert read_settings({"OPENAI_ORG_ID": "org", "ARENA_TRANSPORT": "litellm"}).transport == "litellm"
