"""In-memory cache of replies and journal of batches."""

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
        """Return the stored replies by key."""
        return {key: self.replies[key] for key in keys if key in self.replies}

    async def put(self, request: Request, reply: Reply) -> None:
        """Store a reply."""
        self.replies[request.key] = reply


class MemoryJournal:
    """Keeps records of batches by name."""

    def __init__(self) -> None:
        self.records: dict[str, BatchRecord] = {}

    async def write(self, record: BatchRecord) -> None:
        """Store a batch."""
        self.records[record.name] = record

    async def unread(self) -> Sequence[BatchRecord]:
        """Return every batch that was not deleted."""
        return tuple(self.records.values())

    async def delete(self, name: str) -> None:
        """Delete a batch."""
        self.records.pop(name, None)
