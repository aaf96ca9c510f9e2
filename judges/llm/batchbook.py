"""Where batches are written down, so that a crash loses none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch as it stands in the book.

    Attributes:
        name: Ours, unique; stored with the batch at the provider.
        endpoint: Base URL.
        keys: The keys of its requests.
        batch_id: The provider's; empty until it is known.
    """

    name: str
    endpoint: str
    keys: tuple[str, ...]
    batch_id: str = ""


class BatchBook(Protocol):
    """Batches that were sent and whose replies are not all kept; each method returns once committed."""

    async def write(self, record: BatchRecord) -> None:
        """Write a batch down, or what is known of it now (by name)."""
        ...

    async def unread(self) -> Sequence[BatchRecord]:
        """Every batch that was not struck out."""
        ...

    async def strike(self, name: str) -> None:
        """Strike a batch out: its replies are kept, or it never came to be."""
        ...


class MemoryBatchBook:
    """A book for tests; it forgets everything with the process."""

    def __init__(self) -> None:
        self.records: dict[str, BatchRecord] = {}

    async def write(self, record: BatchRecord) -> None:
        """Write a batch down."""
        self.records[record.name] = record

    async def unread(self) -> Sequence[BatchRecord]:
        """Every batch that was not struck out."""
        return tuple(self.records.values())

    async def strike(self, name: str) -> None:
        """Strike a batch out."""
        self.records.pop(name, None)
