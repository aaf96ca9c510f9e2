"""A cache of replies and a journal of batches that forget everything with the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.models import Reply
from judges.llm.requests import Request
from judges.llm.transports.batch import BatchRecord


class MemoryReplyCache:
    """Keeps replies in memory."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}

    async def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The replies that are there, by key."""
        return {key: self.replies[key] for key in keys if key in self.replies}

    async def put(self, request: Request, reply: Reply) -> None:
        """Keep a reply."""
        self.replies[request.key] = reply


class MemoryJournal:
    """Keeps the records of batches by name."""

    def __init__(self) -> None:
        self.records: dict[str, BatchRecord] = {}

    async def write(self, record: BatchRecord) -> None:
        """Write a batch down."""
        self.records[record.name] = record

    async def unread(self) -> Sequence[BatchRecord]:
        """Every batch whose record was not deleted."""
        return tuple(self.records.values())

    async def delete(self, name: str) -> None:
        """Delete a batch's record."""
        self.records.pop(name, None)
