"""Protocol of engines: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from arena.settings import EngineKind
from data.models import RoundCounts
from data.parallel import Spread
from data.progress import Report


class Engine(Protocol):
    """Does long work; at one seed every engine gives the same bytes."""

    @property
    def kind(self) -> EngineKind:
        """The engine."""
        ...

    def parallel(self) -> AbstractContextManager[Spread]:
        """Do the parts of long work (`data.parallel.parallel_map`) by this engine within the block."""
        ...

    def judge(
        self,
        name: str,
        *,
        concurrency: int,
        report: Report,
        workers: int | None = None,
        reaching: Mapping[str, Any] | None = None,
    ) -> RoundCounts:
        """Judge what is pending in a round.

        `concurrency` is of all who judge together, at most `workers`; `reaching` are their settings, as
        `LlmOverrides.to_json` has them.

        Raises:
            ConflictError: The round has ended, or another process judges it.
            JudgeError: Judging cannot go on.
        """
        ...
