"""Where long work is done: in processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from arena.settings import EngineKind
from data.parallel import Spread, Task
from data.progress import Report
from data.records import RoundCounts

Value = TypeVar("Value")


class Engine(Protocol):
    """Does long work. Which one it was is seen in no result: at one seed they give the same bytes."""

    @property
    def kind(self) -> EngineKind:
        """Which one it is."""
        ...

    def parallel(self) -> AbstractContextManager[Spread]:
        """A context in which the parts of long work (`data.parallel.parallel_map`) are done by this engine.

        Raises:
            JudgeError: The cluster cannot be reached.
        """
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

        Args:
            name: The round.
            concurrency: Calls in flight of all who judge together.
            report: Told how far it is.
            workers: How many judge at most; None for as many as there are processors.
            reaching: What goes before the settings of those who judge, as `LlmOverrides.to_json` has it.

        Raises:
            ConflictError: The round has ended, or somebody else judges it.
            JudgeError: Judging cannot go on.
        """
        ...

    def over_database(
        self,
        function: Callable[..., Value],
        tasks: Callable[[int], Iterable[Task]],
        *,
        poll: Callable[[], None] = lambda: None,
    ) -> Iterator[Value]:
        """Yield `function(arena, *task)` for each task, in order; whoever does one opens the database for it.

        Args:
            function: One of a module, which is given the application. It may be called again for a task whose
                process was lost.
            tasks: Is told how many are done at once, and makes them.
            poll: Called at intervals; what it raises ends the work.

        Raises:
            JudgeError: The cluster cannot be reached, or tasks were lost again and again.
        """
        ...
