from __future__ import annotations

import asyncio
import base64
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from data.errors import BudgetError, EndpointError, ReplayMissError, SpecError, StoppedError
from data.models import Outcome, Reply
from data.text import visible
from judges.llm.client import Scheduler, open_client
from judges.llm.costs import Ledger, MemoryLedger
from judges.llm.errors import CallError, CallErrorKind
from judges.llm.redaction import Redaction
from judges.llm.replies import reply_of
from judges.llm.requests import CallFailure, Message, ReplyCache, Request, Sampling
from judges.llm.settings import AccessSettings, CacheMode
from tests.memory import MemoryReplyCache
from tests.narrow import instance, instances

Serve = Callable[..., Any]
FAST: dict[str, Any] = {"backoff": 0.01, "longest_backoff": 0.05}
PLAIN = Sampling()


def request(url: str, text: str = "hello", *, sampling: Sampling = PLAIN, sample: int = 0) -> Request:
    return Request(
        endpoint=url, model="gpt-4o", messages=(Message("user", text),), sampling=sampling, sample=sample
    )


def ask(
    requests: Sequence[Request],
    *,
    cache: ReplyCache | None = None,
    ledger: Ledger | None = None,
    **settings: Any,  # noqa: ANN401 - any field of the settings
) -> tuple[list[Reply | CallFailure], Scheduler]:
    """Ask all questions at once, and return the answers with their scheduler."""

    async def run() -> tuple[list[Reply | CallFailure], Scheduler]:
        async with open_client(AccessSettings(**{**FAST, **settings}), cache, ledger) as client:
            answers = await asyncio.gather(*(client.ask(item) for item in requests))
        return answers, client

    return asyncio.run(run())


def test_rate_limits_shrink_concurrency_and_other_faults_do_not(scripted_llm: Serve) -> None:
    calm, limited = scripted_llm(first=["server_error"] * 4), scripted_llm(first=["rate_limit"] * 4)
    for server, shrunk in ((calm, False), (limited, True)):
        _, client = ask([request(server.url, f"{n}") for n in range(4)], first_concurrency=16)
        [limit] = client.concurrency.values()
        assert (limit < 16) == shrunk


def test_concurrency_grows_to_capacity_of_endpoint(scripted_llm: Serve) -> None:
    server = scripted_llm(latency=0.02)
    _, client = ask([request(server.url, f"{n}") for n in range(200)], first_concurrency=2, concurrency=20)
    assert list(client.concurrency.values()) == [20]
    assert 2 < server.log.peak <= 20


def test_retry_after_header_delays_all_requests(scripted_llm: Serve) -> None:
    server = scripted_llm(first=["rate_limit_after"], retry_after=0.3)
    ask([request(server.url, f"{n}") for n in range(4)], concurrency=1)
    first, second, *_ = server.log.times
    assert second - first >= 0.3


def test_identical_requests_in_flight_are_sent_once(scripted_llm: Serve) -> None:
    server = scripted_llm(latency=0.05)
    replies, client = ask([request(server.url)] * 1_000)
    assert server.log.calls == 1
    assert sum(not reply.cached for reply in instances(Reply, replies)) == 1
    assert client.usage.shared == 999


def test_cache_avoids_calls(scripted_llm: Serve) -> None:
    server, cache = scripted_llm(), MemoryReplyCache()
    requests = [request(server.url, f"{n}") for n in range(50)]
    first, _ = ask(requests, cache=cache)
    second, client = ask(requests, cache=cache)
    assert server.log.calls == 50
    assert client.usage.cost_usd == 0
    cached = instances(Reply, second)
    assert [reply.text for reply in instances(Reply, first)] == [reply.text for reply in cached]
    assert all(reply.cached and reply.cost_usd for reply in cached)


@pytest.mark.parametrize(
    "changed", [{"sample": 1}, {"sampling": Sampling(temperature=1.0)}, {"sampling": Sampling(max_tokens=16)}]
)
def test_request_key_changes_with_every_setting_of_reply(changed: dict[str, Any]) -> None:
    assert request("http://e/v1").key != request("http://e/v1", **changed).key


def test_replay_sends_no_requests(scripted_llm: Serve) -> None:
    server, cache = scripted_llm(), MemoryReplyCache()
    ask([request(server.url)], cache=cache)
    [reply], _ = ask([request(server.url)], cache=cache, cache_mode=CacheMode.REPLAY)
    assert instance(Reply, reply).cached
    with pytest.raises(ReplayMissError, match="cache has no reply"):
        ask([request(server.url, "other")], cache=cache, cache_mode=CacheMode.REPLAY)
    assert server.log.calls == 1


def test_record_sends_all_requests_again(scripted_llm: Serve) -> None:
    server, cache = scripted_llm(first=["old", "new"]), MemoryReplyCache()
    for _ in range(2):
        ask([request(server.url)], cache=cache, cache_mode=CacheMode.RECORD)
    assert [reply.text for reply in cache.replies.values()] == ["new"]


def test_possible_charges_count_in_full(scripted_llm: Serve) -> None:
    """A dropped reply uses up its reservation without being charged; a 500 costs nothing."""
    for fault, lost in (("drop", True), ("server_error", False)):
        server, ledger = scripted_llm(first=[fault] * 2), MemoryLedger(1.0)
        ask([request(server.url)], ledger=ledger, attempts=2)
        assert ledger.spent == 0.0
        assert ledger.drawn == pytest.approx(0.0, abs=1e-12)
        assert (ledger.lost > 0) == lost
        left = 1.0 - ledger.lost - 1e-9
        assert asyncio.run(ledger.draw(left, 10.0)) == pytest.approx(left)


class Reporting:
    """Transport whose replies report scripted usage."""

    unlimited = False

    def __init__(self, *usage: dict[str, object]) -> None:
        self.usage, self.calls = usage, 0

    async def send(self, request: Request) -> Reply:
        self.calls += 1
        choice = {"message": {"content": "<rating>1</rating>"}, "finish_reason": "stop"}
        usage = self.usage[(self.calls - 1) % len(self.usage)]
        return reply_of(request, {"choices": [choice], "usage": usage}, 0.1)

    def stop(self) -> None: ...

    async def close(self) -> None: ...


def spend(model: str, ledger: MemoryLedger, *usage: dict[str, object]) -> Reporting:
    """Ask one after another under a cap, up to 60 calls or until the endpoint is given up."""
    transport = Reporting(*usage)

    async def run() -> None:
        async with open_client(AccessSettings(), None, ledger, transport=transport) as client:
            for n in range(60):
                base = request("http://10.0.0.9/v1", str(n), sampling=Sampling(max_tokens=2_048))
                await client.ask(replace(base, model=model))

    asyncio.run(run())
    return transport


@pytest.mark.parametrize(
    ("model", "usage", "a_call"),
    [
        (
            "gemini-2.5-flash",
            {"prompt_tokens": 1_000, "completion_tokens": 50, "total_tokens": 2_850},
            (1_000 * 0.3 + 1_850 * 2.5) / 1e6,
        ),
        (
            "grok-4",
            {
                "prompt_tokens": 1_000,
                "completion_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 900},
            },
            (1_000 * 3 + 920 * 15) / 1e6,
        ),
        # Thinking inside the completion exceeds the request's limit.
        (
            "gpt-5-mini",
            {
                "prompt_tokens": 1_000,
                "completion_tokens": 3_100,
                "completion_tokens_details": {"reasoning_tokens": 3_000},
            },
            (1_000 * 0.25 + 3_100 * 2) / 1e6,
        ),
        # A private gateway whose replies state their cost, without a known price.
        ("house-judge", {"prompt_tokens": 1_000, "completion_tokens": 50, "cost": 0.003}, 0.003),
    ],
)
def test_cap_is_never_exceeded(model: str, usage: dict[str, object], a_call: float) -> None:
    ledger = MemoryLedger(0.1)
    transport = spend(model, ledger, usage)
    assert ledger.spent == pytest.approx(transport.calls * a_call)
    assert 0.03 < ledger.spent <= 0.1
    assert ledger.drawn == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 90_000_000, "completion_tokens": 20},
        {"prompt_tokens": 10, "completion_tokens": 90_000_000},
        {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 90_000_000},
        {"prompt_tokens": 10, "completion_tokens": 5_000},
    ],
)
def test_implausible_usage_is_lost_and_stops_endpoint(usage: dict[str, object]) -> None:
    ledger = MemoryLedger(1.0)
    with pytest.raises(EndpointError, match="reported more tokens than a call can use"):
        spend("gpt-4o", ledger, usage)
    assert ledger.spent == 0.0
    assert 0.1 < ledger.lost < 0.11  # five calls of 2,048 tokens at 10 USD per million


def test_occasional_implausible_usage_is_tolerated() -> None:
    honest: dict[str, object] = {"prompt_tokens": 10, "completion_tokens": 20}
    wrong: dict[str, object] = {"prompt_tokens": 10, "completion_tokens": 90_000_000}
    assert spend("gpt-4o", MemoryLedger(9.0), wrong, wrong, wrong, wrong, {}, {}, honest).calls == 60


@patch("judges.llm.prices.is_private", lambda _: False)
def test_cap_requires_price(scripted_llm: Serve) -> None:
    server = scripted_llm()
    unpriced = Request(endpoint=server.url, model="nameless", messages=(Message("user", "x"),))
    with pytest.raises(BudgetError, match=r"nameless at .* needs a price"):
        ask([unpriced], ledger=MemoryLedger(1.0))
    [reply], _ = ask([unpriced])
    assert reply.cost_usd is None
    assert server.log.calls == 1


@pytest.mark.parametrize("fault", ["unauthorised", "not_found", "quota"])
def test_fatal_errors_stop_endpoint_at_once(fault: str, scripted_llm: Serve) -> None:
    server = scripted_llm(faults={fault: 1.0})
    with pytest.raises(EndpointError) as caught:
        ask([request(server.url, f"{n}") for n in range(50)], concurrency=20)
    assert server.url in str(caught.value)
    assert "\n" not in str(caught.value)
    assert server.log.calls == 1


def test_unreachable_endpoint_opens_breaker() -> None:
    with pytest.raises(EndpointError, match=r"Gave up .*connection failed"):
        ask(
            [request("http://127.0.0.1:9/v1", f"{n}") for n in range(30)],
            breaker_start_seconds=0.1,
            attempts=50,
        )


def test_endpoint_that_rejects_all_requests_is_stopped(scripted_llm: Serve) -> None:
    server = scripted_llm(faults={"bad_request": 1.0})
    with pytest.raises(EndpointError, match="HTTP 400"):
        ask([request(server.url, f"{n}") for n in range(50)], concurrency=1)
    assert server.log.calls == 10


def test_stop_lets_calls_in_flight_finish(scripted_llm: Serve) -> None:
    server, cache = scripted_llm(latency=0.1), MemoryReplyCache()
    requests = [request(server.url, f"{n}") for n in range(30)]

    async def interrupted() -> list[Any]:
        async with open_client(AccessSettings(concurrency=5), cache) as client:
            # The first call is a probe; the others start after it.
            first = await client.ask(requests[0])
            waiting = asyncio.gather(*(client.ask(item) for item in requests[1:]), return_exceptions=True)
            await asyncio.sleep(0.05)
            client.stop()
            return [first, *await waiting]

    answers = asyncio.run(interrupted())
    assert sum(isinstance(answer, Reply) for answer in answers) == 6 == len(cache.replies)
    assert sum(isinstance(answer, StoppedError) for answer in answers) == 24
    ask(requests, cache=cache)
    assert server.log.asked_twice == {}
    assert server.log.calls == 30


class Held(Reporting):
    """Transport whose first call never ends; other calls end at once."""

    def __init__(self) -> None:
        super().__init__({})
        self.arrived = asyncio.Event()

    async def send(self, request: Request) -> Reply:
        if not self.calls:
            self.calls += 1
            self.arrived.set()
            await asyncio.Event().wait()
        return await super().send(request)


def test_cancelled_caller_does_not_cancel_others() -> None:
    async def run() -> Reply | CallFailure:
        transport = Held()
        async with open_client(AccessSettings(), transport=transport) as client:
            first = asyncio.create_task(client.ask(request("http://held/v1")))
            await transport.arrived.wait()
            second = asyncio.create_task(client.ask(request("http://held/v1")))
            await asyncio.sleep(0)  # The second call waits for the first now.
            first.cancel()
            answer = await second
        assert first.cancelled()
        assert transport.calls == 2
        return answer

    assert isinstance(asyncio.run(run()), Reply)


@pytest.mark.slow
def test_accounting_is_exact_under_all_faults(scripted_llm: Serve) -> None:
    faults = {
        "rate_limit": 0.05, "rate_limit_after": 0.02, "server_error": 0.1, "drop": 0.05, "malformed": 0.05,
        "hang": 0.005, "refusal": 0.05, "filtered": 0.05, "truncated": 0.05, "wrong_format": 0.05,
    }  # fmt: skip
    server, cache = scripted_llm(faults=faults, retry_after=0.01), MemoryReplyCache()
    requests = [request(server.url, f"{n}") for n in range(300)]
    answers, client = ask(requests, cache=cache, timeout=3, attempts=8)
    replies = [answer for answer in answers if isinstance(answer, Reply)]
    refused = [answer for answer in answers if isinstance(answer, CallFailure)]
    assert len(replies) + len(refused) == 300
    assert {answer.outcome for answer in refused} == {Outcome.REFUSED}
    assert len(cache.replies) == len(replies)
    assert server.log.asked_twice == {}
    assert client.usage.calls == server.log.calls


def test_settings_are_checked() -> None:
    with pytest.raises(SpecError, match="concurrency is 0"):
        AccessSettings(concurrency=0)
    with pytest.raises(SpecError, match="timeout is 0"):
        AccessSettings(timeout=0)
    assert "secret" not in repr(AccessSettings(api_key="secret", api_keys={"http://e/v1": "secret"}))


def test_keys_are_sent_to_their_endpoints(scripted_llm: Serve) -> None:
    first, second = scripted_llm(), scripted_llm()
    keys = {first.url: "own"}
    ask([request(first.url), request(second.url)], api_key="common", api_keys=keys)
    assert first.log.headers[-1]["Authorization"] == "Bearer own"
    assert second.log.headers[-1]["Authorization"] == "Bearer common"


def test_user_prices_override_bundled_prices(scripted_llm: Serve, tmp_path: Path) -> None:
    server = scripted_llm()
    mine = tmp_path / "prices.toml"
    mine.write_text(f'[endpoints."{server.url}"]\ninput = 1.0\noutput = 0.0\n', encoding="utf-8")
    [reply], _ = ask([request(server.url)], prices=mine)
    assert reply.cost_usd == pytest.approx(reply.input_tokens / 1e6)
    mine.write_text('[models."gpt-4o"]\ninput = -1\noutput = 0\n', encoding="utf-8")
    with pytest.raises(SpecError, match=r"models\.gpt-4o\.input"):
        ask([request(server.url)], prices=mine)


def test_single_denial_fails_only_its_request(scripted_llm: Serve) -> None:
    server = scripted_llm(first=["fine", "unauthorised", "fine", "not_found", "not_found", "fine"])

    async def one_after_another() -> list[Any]:
        async with open_client(AccessSettings(**FAST)) as client:
            return [await client.ask(request(server.url, f"{n}")) for n in range(4)]

    answers = asyncio.run(one_after_another())
    assert [isinstance(answer, Reply) for answer in answers] == [True, True, False, True]
    failure = instance(CallFailure, answers[2])
    assert failure.outcome is Outcome.FAILED
    assert "HTTP 404" in failure.detail


def test_consecutive_denials_stop_endpoint(scripted_llm: Serve) -> None:
    server = scripted_llm(first=["fine", *["unauthorised"] * 40])
    with pytest.raises(EndpointError, match="HTTP 401"):
        ask([request(server.url, f"{n}") for n in range(20)], concurrency=1, backoff=0.01)
    assert server.log.calls == 4


KEY = "sk-Ab12Cd34Ef56Gh78"
REPEATED = [KEY, KEY.upper(), KEY[:-1], KEY[1:], f"Bearer {KEY}", f"{KEY}9"] + [
    base64.b64encode(f"{before}{KEY}".encode()).decode() for before in ("", "u", "us", "user:", "Bearer ")
]


@pytest.mark.parametrize("repeated", REPEATED)
def test_keys_are_redacted_in_all_spellings(repeated: str) -> None:
    hidden = Redaction(["none", KEY]).text(f"None of it: {repeated}, see {repeated}.")
    assert hidden.startswith("None of it: ")
    assert hidden.count("***") == 2
    assert not any(part.lower() in hidden.lower() for part in (KEY[4:12], repeated[8:16]))


def test_replies_contain_no_keys_or_control_characters(scripted_llm: Callable[..., Any]) -> None:
    server = scripted_llm(first=[f"{KEY} \x1b]0;x\x07 \x9b31m \u202e\ttab\r\nline"])
    [reply], _ = ask([request(server.url)], api_key=KEY)
    assert instance(Reply, reply).text == "*** \\u001b]0;x\\u0007 \\u009b31m \\u202e\ttab\r\nline"
    assert visible("a\rb é 日\u3000本 👩\u200d🔬 \u200f\n") == "a\\u000db é 日\u3000本 👩\u200d🔬 \u200f\n"


class Unusable(Reporting):
    """Transport with invalid replies."""

    def __init__(self) -> None:
        super().__init__({})
        self.bodies: list[weakref.ref[Unusable]] = []

    async def send(self, request: Request) -> Reply:
        body = Unusable()
        assert [body for body in self.bodies if body() is not None] == []
        self.bodies.append(weakref.ref(body))
        raise CallError(CallErrorKind.TRANSIENT, f"{request.model}: too large")


def test_unusable_reply_is_freed_during_backoff() -> None:
    async def run() -> int:
        transport, settings = Unusable(), AccessSettings(backoff=0.2, attempts=2)
        async with open_client(settings, transport=transport) as client:
            asks = (client.ask(request("http://held/v1", text)) for text in "ab")
            assert [instance(CallFailure, reply).calls for reply in await asyncio.gather(*asks)] == [2, 2]
        return len(transport.bodies)

    assert asyncio.run(run()) == 4
