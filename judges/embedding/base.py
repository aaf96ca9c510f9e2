"""What turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from data.corpora.dense import Vectors
from judges.llm.requests import Unanswered


class Embedder(Protocol):
    """Turns texts into vectors whose inner product is their similarity."""

    @property
    def model(self) -> str:
        """The endpoint's name of the model, or the path of a local one."""
        ...

    @property
    def endpoint(self) -> str:
        """Base URL; empty for a local model."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of a local model's files; empty for an endpoint's."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors | Unanswered:
        """Embed texts: one row each, of unit length; or why that brought nothing.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...
