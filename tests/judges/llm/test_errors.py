from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.llm.client import open_client
from judges.llm.errors import Backoff, CallErrorKind, Wait, fault_of_status, requested_wait
from judges.llm.requests import Message, Request
from judges.llm.settings import AccessSettings
from tests.cases import cases

SPENT = "You exceeded your current quota."


@given(st.integers(1, 200), st.none() | st.floats(0, 1e9))
def test_wait_respects_requested_and_exponential_minimum(calls: int, requested: float | None) -> None:
    seconds = Backoff(1.0, 30.0).seconds(calls, requested)
    own = min(30.0, 2.0 ** (calls - 1)) if calls < 10 else 30.0
    assert seconds >= max(requested or 0.0, own / 2)
    assert seconds <= max(own, (requested or 0.0) + own)


@pytest.mark.parametrize(
    ("headers", "body", "seconds"), cases(__file__, "waits_are_read_wherever_they_stand")
)
def test_requested_waits_are_parsed(headers: dict[str, str], body: object, seconds: float | None) -> None:
    assert requested_wait(headers, body) == seconds


def test_client_reports_wait_until_it_ends(scripted_llm: Callable[..., Any]) -> None:
    server = scripted_llm(first=["rate_limit_after", "fine"], retry_after=1)
    request = Request(endpoint=server.url, model="m", messages=(Message("user", "x"),))

    async def run() -> tuple[str, object]:
        async with open_client(AccessSettings(backoff=0.01)) as client:
            task = asyncio.create_task(client.ask(request))
            for _ in range(1_000):
                await asyncio.sleep(0.01)
                if client.waiting:
                    break
            text = str(client.waiting)
            await task
            return text, client.waiting

    text, left = asyncio.run(run())
    cause = "HTTP 429: Scripted rate_limit_after, next try in"
    assert text in {f"{cause} 1 s", f"{cause} 2 s"}
    assert left is None
    assert Wait("HTTP 503", time.monotonic() - 5).seconds == 0.0


@pytest.mark.parametrize(
    ("status", "body", "kind", "wait"),
    [
        # The quota of a provider behind litellm's proxy, which drops the code.
        (429, {"message": f"litellm.RateLimitError: {SPENT}", "code": "429"}, "fatal", None),
        # Google also sends it for limits per minute, and then adds the waiting time.
        (429, {"message": SPENT, "details": [{"retryDelay": "7s"}]}, "rate_limited", 7.0),
        (429, {"message": f'litellm: {SPENT} "details": [{{"retryDelay": "7s"}}]'}, "rate_limited", 7.0),
        (429, {"message": f"{SPENT} Please retry in 34.5s."}, "rate_limited", 34.5),
        (429, {"message": SPENT, "details": [{"quotaId": "X-PerDay-Y"}, {"retryDelay": "7s"}]}, "fatal", 7.0),
        (429, {"message": "Limit reached. Please try again in 6m0s."}, "rate_limited", 360.0),
        (429, {"message": "Please retry after 20 seconds."}, "rate_limited", 20.0),
        (429, {"message": "Slow down, try again in a moment."}, "rate_limited", None),
        (429, {"message": "x", "type": "exceeded_current_quota_error"}, "fatal", None),
        (400, {"message": "Your credit balance is too low to access the Anthropic API."}, "fatal", None),
        (500, {"message": "Insufficient Balance"}, "fatal", None),
        (
            429,
            {"message": "Your team used all available credits or reached its spending limit."},
            "fatal",
            None,
        ),
        (429, {"message": "Your prepayment credits are depleted."}, "fatal", None),
        (429, {"message": "You have used up your daily free allocation of 10,000."}, "fatal", None),
        (429, {"message": "余额不足或无可用资源包,请充值。", "code": "1113"}, "fatal", None),
        (400, {"message": "You have reached your specified API usage limits."}, "fatal", None),
        (422, {"message": "x", "type": "budget_exceeded", "code": "422"}, "fatal", None),
        (400, {"message": "Budget has been exceeded! Current cost: 0.003"}, "fatal", None),
        (412, {"message": "Usage limit exceeded: budget exhausted"}, "fatal", None),
        (400, {"message": "thinking.budget_tokens: the budget must be below max_tokens"}, "rejected", None),
    ],
)
def test_exhausted_quota_differs_from_rate_limit(
    status: int, body: dict[str, object], kind: str, wait: float | None
) -> None:
    fault = fault_of_status(status, {"error": body}, {})
    assert (fault.kind, fault.retry_after) == (CallErrorKind[kind.upper()], wait)


def test_blocked_prompt_is_refusal_for_any_status() -> None:
    body = {"error": {"message": "Portkey: blockReason: PROHIBITED_CONTENT"}}
    assert fault_of_status(502, body, {}).kind is CallErrorKind.REFUSED
