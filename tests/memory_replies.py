"""A cache of replies that forgets everything with the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.models import Reply
from judges.llm.requests import Request


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
