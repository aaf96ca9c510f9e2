"""Requests to a scripted LLM, for every metric."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from data.models import MetricItem, Question, Score
from judges.llm.client import open_client
from judges.llm.settings import AccessSettings
from judges.llm.tasks import TaskRunner
from judges.metrics.registry import build_metric

T = TypeVar("T")


def item_of(question: Question, answer: str = "", **more: Any) -> MetricItem:  # noqa: ANN401 - any field
    """Make the item of an answer to a question."""
    names = ("id", "question", "passages", "reference", "aspects", "sub_questions")
    return MetricItem(answer=answer, **{name: getattr(question, name) for name in names}, **more)


def with_runner(url: str, use: Callable[[TaskRunner], Awaitable[T]]) -> T:
    """Run a function with a `TaskRunner` at an endpoint."""

    async def once() -> T:
        async with open_client(AccessSettings(backoff=0.01, attempts=2)) as client:
            return await use(TaskRunner(client, endpoint=url, model="m"))

    return asyncio.run(once())


def scored(name: str, url: str, item: MetricItem, **options: Any) -> Score:  # noqa: ANN401 - JSON
    """Score one item with a metric at an endpoint."""
    return with_runner(url, lambda runner: build_metric(name, runner=runner, options=options).score(item))


def embedded(name: str, item: MetricItem, **options: Any) -> Score:  # noqa: ANN401 - JSON
    """Score one item without an LLM."""
    return asyncio.run(build_metric(name, options=options).score(item))
