"""Metrics opened for use: embedded, or with the LLM that a judge's spec names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from arena.access import StoredBook, StoredReplies, access_settings
from arena.settings import Settings
from data.errors import InputError, SpecError
from data.records import Json, JudgeKind
from data.store import Store
from judges.llm.budget import MemoryLedger
from judges.llm.metering import Tally
from judges.llm.opening import open_asker
from judges.llm.tasks import TaskRunner
from judges.metrics import Metric, build_metric
from judges.spec import JudgeSpec

EMBEDDED = ""
CONCURRENCY = 16
NO_OPTIONS: Mapping[str, Json] = MappingProxyType({})
LoadSpec = Callable[[str], JudgeSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRequest:
    """Which metric is to run, and how.

    Attributes:
        metric: Its name.
        judge: Name or path of a judge's spec, whose model and endpoint are asked; empty, or a lexical
            judge: the embedded version.
        options: The metric's constants where they differ from the paper's.
        budget_usd: Most that one run may spend; None: no cap.
        concurrency: Answers, and calls, in flight at most.
    """

    metric: str
    judge: str = EMBEDDED
    options: Mapping[str, Json] = field(default_factory=lambda: NO_OPTIONS)
    budget_usd: float | None = None
    concurrency: int = CONCURRENCY

    def __post_init__(self) -> None:
        if self.budget_usd is not None and not 0 <= self.budget_usd < float("inf"):
            raise InputError(f"The budget {self.budget_usd} is no amount of money.", advice="Use 0 or more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedMetric:
    """A metric that is ready to score.

    Attributes:
        metric: The metric.
        judge: Under what name its scores are kept: `JUDGE@MODEL` of an LLM, empty for the embedded
            version; where options differ from the defaults, they follow.
        model: The LLM's name; empty for the embedded version.
        tally: What LLM access did so far.
        concurrency: Answers in flight at most.
    """

    metric: Metric
    judge: str
    model: str
    tally: Tally
    concurrency: int


class MetricAccess:
    """Opens metrics.

    Args:
        store: Keeps LLM replies.
        settings: How LLMs are reached.
        load_spec: Finds a judge's spec by name or path.
    """

    def __init__(self, store: Store, settings: Settings, load_spec: LoadSpec) -> None:
        self._store = store
        self._settings = settings
        self._load_spec = load_spec

    @asynccontextmanager
    async def open(self, request: MetricRequest, stop: asyncio.Event) -> AsyncIterator[OpenedMetric]:
        """Open a metric for the event loop that runs this; once `stop` is set, it asks nothing new.

        Raises:
            NotFoundError: There is no such metric or judge.
            SpecError: The judge is no single LLM, an option is wrong, or there is no embedded version.
        """
        spec = self._llm(request.judge)
        if spec is None:
            yield OpenedMetric(
                metric=build_metric(request.metric, options=request.options),
                judge=_kept_as(EMBEDDED, request.options),
                model="",
                tally=Tally(),
                concurrency=1,
            )
            return
        replies = StoredReplies(self._store)
        ledger = None if request.budget_usd is None else MemoryLedger(request.budget_usd)
        access = access_settings(self._settings, concurrency=request.concurrency)
        try:
            async with open_asker(access, replies, ledger, book=StoredBook(self._store)) as asker:
                runner = TaskRunner(asker, endpoint=spec.endpoint, model=spec.model)
                watcher = asyncio.create_task(_stop_with(stop, asker.stop))
                try:
                    yield OpenedMetric(
                        metric=build_metric(request.metric, runner=runner, options=request.options),
                        judge=_kept_as(f"{spec.name}@{spec.model}", request.options),
                        model=spec.model,
                        tally=asker.tally,
                        concurrency=request.concurrency,
                    )
                finally:
                    watcher.cancel()
        finally:
            await replies.close()

    def _llm(self, judge: str) -> JudgeSpec | None:
        """The spec of the LLM to ask; None for the embedded version."""
        if not judge:
            return None
        spec = self._load_spec(judge)
        if spec.kind is JudgeKind.LEXICAL:
            return None
        if spec.kind is not JudgeKind.LLM:
            message = f"A metric asks one LLM, and the judge {spec.name} is a {spec.kind}."
            raise SpecError(message, advice="Name one of its members; `arena judges list` shows them.")
        return spec


async def _stop_with(stop: asyncio.Event, then: Callable[[], None]) -> None:
    await stop.wait()
    then()


def _kept_as(judge: str, options: Mapping[str, Json]) -> str:
    """The name under which scores are kept: what was scored otherwise is not mixed up with the rest."""
    changed = (f"{name}={json.dumps(options[name], sort_keys=True)}" for name in sorted(options))
    return " ".join((judge, *changed)).strip()
