from __future__ import annotations

import asyncio

import pytest

from arena.services.judging.llm_access import StoredJournal, StoredReplies
from data.errors import StoreError
from data.models import Reply
from data.store import Store
from judges.llm.requests import Message, Request
from judges.llm.transports.batch import BatchRecord


def test_reply_is_committed_when_put_returns(store: Store) -> None:
    requests = [Request(endpoint="e", model="m", messages=(Message("user", str(n)),)) for n in range(50)]

    async def put() -> None:
        replies = StoredReplies(store)

        async def put_one(request: Request) -> None:
            await replies.put(request, Reply(key=request.key, endpoint="e", model="m", text="t"))
            assert request.key in store.replies.get_many([request.key])

        await asyncio.gather(*(put_one(request) for request in requests))
        with store.database.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE reply RENAME TO gone")
        with pytest.raises(StoreError):
            await put_one(requests[0])

    asyncio.run(put())


def test_journal_persists_batches(store: Store) -> None:

    async def use() -> None:
        book = StoredJournal(store)
        sent = BatchRecord(name="one", endpoint="http://e/v1", keys=("a", "b"))
        await book.write(sent)
        known = BatchRecord(name="one", endpoint="http://e/v1", keys=("a", "b"), batch_id="batch-7")
        await book.write(known)
        assert list(await StoredJournal(store).unread()) == [known]
        await book.delete("one")
        assert list(await book.unread()) == []

    asyncio.run(use())
