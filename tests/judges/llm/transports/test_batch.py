from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from data.errors import EndpointError, SpecError, StoppedError
from data.models import Outcome, Reply
from judges.llm.client import open_client
from judges.llm.costs import MemoryLedger
from judges.llm.requests import CallFailure, Message, Request
from judges.llm.settings import AccessSettings
from judges.llm.transports.batch import BatchRecord
from tests.memory import MemoryJournal, MemoryReplyCache
from tests.narrow import instances, known

Serve = Callable[..., Any]
SETTINGS = AccessSettings(transport="batch", batch_poll=0.02, batch_gather=0.02, backoff=0.01)


class WatchedJournal(MemoryJournal):
    """Journal that signals when it gets a batch's id."""

    def __init__(self) -> None:
        super().__init__()
        self.known = asyncio.Event()

    async def write(self, record: BatchRecord) -> None:
        await super().write(record)
        if record.batch_id:
            self.known.set()


def requests(url: str, count: int = 5) -> list[Request]:
    return [Request(endpoint=url, model="gpt-4o", messages=(Message("user", f"{n}"),)) for n in range(count)]


def ask(
    items: Sequence[Request],
    journal: MemoryJournal | None,
    cache: MemoryReplyCache | None = None,
    ledger: MemoryLedger | None = None,
    settings: AccessSettings = SETTINGS,
) -> list[Reply | CallFailure]:
    async def run() -> list[Reply | CallFailure]:
        async with open_client(settings, cache, ledger, journal=journal) as client:
            return await asyncio.gather(*(client.ask(item) for item in items))

    return asyncio.run(run())


@pytest.mark.slow
def test_concurrent_requests_share_batch(scripted_llm: Serve) -> None:
    server, journal, ledger = scripted_llm(), MemoryJournal(), MemoryLedger(1.0)
    replies = ask(requests(server.url), journal, ledger=ledger)
    replied = instances(Reply, replies)
    assert len({reply.text for reply in replied}) == 5
    [reply, *_] = replied
    assert reply.cost_usd == pytest.approx((reply.input_tokens * 2.5 + reply.output_tokens * 10) / 2e6)
    assert ledger.spent == pytest.approx(sum(known(reply.cost_usd) for reply in replied))
    assert server.batches == 1
    assert not journal.records


def test_batches_are_split_by_size(scripted_llm: Serve) -> None:
    server, journal = scripted_llm(), MemoryJournal()
    items = requests(server.url, 7)
    items[0] = replace(items[0], model="gpt-4o-mini")
    ask(items, journal, settings=replace(SETTINGS, batch_size=4))
    assert server.batches == 3


def interrupted(url: str) -> tuple[WatchedJournal, list[Any]]:
    """Ask, stop while the batch is running, and return the journal and the results of the askers."""

    async def run() -> tuple[WatchedJournal, list[Any]]:
        journal = WatchedJournal()
        async with open_client(SETTINGS, journal=journal) as client:
            waiting = asyncio.gather(*(client.ask(item) for item in requests(url)), return_exceptions=True)
            await journal.known.wait()
            client.stop()
            return journal, await waiting

    return asyncio.run(run())


@pytest.mark.parametrize("noted", [True, False])
def test_crash_loses_no_batch(noted: bool, scripted_llm: Serve) -> None:
    server, cache = scripted_llm(batch_polls=1_000_000), MemoryReplyCache()
    journal, _ = interrupted(server.url)
    if not noted:
        journal.records = {name: replace(record, batch_id="") for name, record in journal.records.items()}
    server.script.batch_polls = 0
    replies = ask(requests(server.url), journal, cache)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert len(cache.replies) == 5
    assert server.batches == 1
    assert not journal.records


def test_uncreated_batch_is_sent_again(scripted_llm: Serve) -> None:
    server, journal = scripted_llm(), MemoryJournal()
    items = requests(server.url)
    keys = tuple(item.key for item in items)
    asyncio.run(journal.write(BatchRecord(name="arena-lost", endpoint=server.url, keys=keys)))
    assert all(isinstance(reply, Reply) for reply in ask(items, journal))
    assert not journal.records


def test_stopping_does_not_wait_for_batch(scripted_llm: Serve) -> None:
    server = scripted_llm(batch_polls=1_000_000)
    journal, answers = interrupted(server.url)
    assert all(isinstance(answer, StoppedError) for answer in answers)
    assert [record.batch_id for record in journal.records.values()] == ["batch_1"]


def test_batch_retries_failed_requests_in_another(scripted_llm: Serve) -> None:
    server, journal = scripted_llm(first=["server_error", "refusal"]), MemoryJournal()
    answers = ask(requests(server.url, 3), journal)
    assert sum(isinstance(answer, Reply) for answer in answers) == 2
    assert [answer.outcome for answer in answers if isinstance(answer, CallFailure)] == [Outcome.REFUSED]
    assert server.batches == 2


def test_completed_batch_without_output_fails_its_requests(scripted_llm: Serve) -> None:
    server, journal = scripted_llm(batch_output=False), MemoryJournal()
    answers = ask(requests(server.url, 2), journal, settings=replace(SETTINGS, attempts=2))
    failures = instances(CallFailure, answers)
    assert {failure.outcome for failure in failures} == {Outcome.FAILED}
    assert "ended as completed without an answer" in failures[0].detail
    assert server.batches == 2


def test_rejected_batch_stops_run(scripted_llm: Serve) -> None:
    server, journal = scripted_llm(batch_end="failed", batch_output=False), MemoryJournal()
    with pytest.raises(EndpointError, match="ended as failed"):
        ask(requests(server.url, 2), journal)


def test_batches_require_journal() -> None:
    with pytest.raises(SpecError, match="needs a journal"):
        ask([], None)
