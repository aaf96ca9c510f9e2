"""A journal of batches that forgets everything with the process."""

from __future__ import annotations

from collections.abc import Sequence

from judges.llm.transports.batch import BatchRecord


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
