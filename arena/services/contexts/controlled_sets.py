"""Controlled sets: questions whose oracle is known, built from summaries and their documents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.services.jobs.cancellation import stopping_on_interrupt
from arena.services.metrics.factory import MetricAccess
from arena.services.question_sets.service import RATINGS
from data.errors import FileFormatError, JudgeError, SpecError
from data.files.question_sets.rows import write_set
from data.files.text_files import ReadLimits
from data.models import QuestionSet
from judges.llm.costs import MemoryLedger, Usage
from judges.metrics.comprehensiveness.graph import Missing
from judges.metrics.context.controlled import Controlled, ControlledSetBuilder, build_all, read_sources
from judges.metrics.context.measures import ContextSettings
from judges.metrics.context.ratings import Order
from judges.metrics.registry import read_options


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """Sources and a folder for the set; `options` are constants of CRUX, such as `sub_questions`."""

    file: Path
    folder: Path
    judge: str
    name: str = ""
    options: Mapping[str, Any]
    budget_usd: float | None = None


class ControlledSetService:
    """Builds controlled sets."""

    def __init__(self, access: MetricAccess) -> None:
        self._access = access

    def build(self, request: BuildRequest) -> dict[str, Any]:
        """Write a set as a folder that `arena sets import` reads, with `ratings.jsonl`, and return counts.

        Cut off, the same call goes on: replies are cached.
        """
        sources = read_sources(request.file, ReadLimits())
        built, failed, used = asyncio.run(self._build(request, sources))
        if not built:
            reason = next(iter(failed.values())).reason
            message = f"None of the {len(sources)} sources became a question: {reason}"
            raise JudgeError(message, advice="Correct it and run the same command again.")
        domains = {controlled.question.domain: controlled.question.domain for controlled in built}
        questions = QuestionSet(
            name=request.name or request.folder.resolve().name,
            title=request.name or request.folder.resolve().name,
            source="Built from summaries and their documents.",
            reference_name="summary",
            domains=domains,
            questions=tuple(controlled.question for controlled in built),
        )
        try:
            write_set(questions, request.folder)
            lines = "".join(json.dumps(_rated(controlled), ensure_ascii=False) + "\n" for controlled in built)
            (request.folder / RATINGS).write_text(lines, encoding="utf-8")
        except OSError as error:
            message = f"{request.folder} cannot be written: {error.strerror}."
            raise FileFormatError(message, advice="Name a folder that you can write.") from error
        return {
            "folder": str(request.folder),
            "set": questions.name,
            "sources": len(sources),
            "questions": len(built),
            "passages": sum(len(controlled.question.passages) for controlled in built),
            "sub_questions": sum(len(controlled.question.sub_questions) for controlled in built),
            "dropped_sub_questions": sum(len(controlled.dropped) for controlled in built),
            "failed": {
                name: {"outcome": why.outcome.value, "reason": why.reason} for name, why in failed.items()
            },
            "calls": used.calls,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cost_usd": used.total_usd,
        }

    async def _build(
        self, request: BuildRequest, sources: Sequence[Any]
    ) -> tuple[tuple[Controlled, ...], Mapping[str, Missing], Usage]:
        spec = self._access.llm(request.judge)
        if spec is None:
            message = f"The judge {request.judge} asks no LLM, and only an LLM writes passages and requests."
            raise SpecError(message, advice="Name an LLM judge; `arena judges list` shows them.")
        settings = read_options(ContextSettings, "a controlled set", request.options)
        ledger = None if request.budget_usd is None else MemoryLedger(request.budget_usd)
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            async with self._access.asking(spec, ledger, stop) as (runner, usage):
                builder = ControlledSetBuilder(runner, settings)
                built, failed = await build_all(builder, sources)
        return built, failed, usage


def _rated(controlled: Controlled) -> dict[str, Any]:
    return {
        "question_id": controlled.question.id,
        "passages": [passage.id for passage in controlled.question.passages],
        "ratings": controlled.ratings.values.tolist(),
        "threshold": controlled.ratings.threshold,
        "required": {order.value: controlled.required(order) for order in Order},
        "dropped": controlled.dropped,
    }
