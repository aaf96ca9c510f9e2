"""Judges: list, show, open, try on one pair, calibrate against people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.access import open_access
from arena.settings import Settings
from data.errors import SpecError
from data.records import JudgeKind, Question, Round, Verdict
from data.store import Store
from judges.base import Contest, Judge
from judges.catalogue import load_spec, spec_names
from judges.factory import build_judge
from judges.spec import JudgeSpec, leaves

TRIAL = "trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLine:
    """A judge in a list; `problem` says why its spec cannot be used."""

    name: str
    kind: str
    model: str
    description: str
    problem: str = ""


class JudgeService:
    """Use cases around judges."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def spec(self, name: str) -> JudgeSpec:
        """A judge by the name or path of its spec, with the endpoint it will use.

        Raises:
            NotFoundError: No judge has this name.
            SpecError: The spec cannot be used.
        """
        return load_spec(name, folders=self._folders).at(self._settings.endpoint)

    def known(self) -> tuple[JudgeLine, ...]:
        """Every judge by name, those that cannot be used with the reason."""
        return tuple(self._line(name) for name in spec_names(folders=self._folders))

    def try_on(self, spec: JudgeSpec, question: Question, answer_a: str, answer_b: str) -> Verdict:
        """Let a judge decide one pair, without storing the verdict."""

        async def decide() -> Verdict:
            async with self._opened(spec, concurrency=2) as judge:
                contest = Contest(battle_id=TRIAL, question=question, answer_a=answer_a, answer_b=answer_b)
                return await judge.judge(contest)

        return asyncio.run(decide())

    @asynccontextmanager
    async def open(self, spec: JudgeSpec, found: Round, concurrency: int) -> AsyncIterator[Judge]:
        """A judge for a round, held to the round's budget."""
        async with self._opened(
            spec, concurrency=concurrency, round_id=found.id, cap=found.budget_usd
        ) as judge:
            yield judge

    @asynccontextmanager
    async def _opened(
        self, spec: JudgeSpec, *, concurrency: int, round_id: int | None = None, cap: float | None = None
    ) -> AsyncIterator[Judge]:
        if not any(leaf.kind is JudgeKind.LLM for leaf in leaves(spec)):
            yield build_judge(spec)
            return
        async with open_access(
            self._store, self._settings, concurrency=concurrency, round_id=round_id, cap=cap
        ) as asker:
            yield build_judge(spec, asker=asker)

    @property
    def _folders(self) -> tuple[Path, ...]:
        return (self._settings.judges_folder,)

    def _line(self, name: str) -> JudgeLine:
        try:
            spec = load_spec(name, folders=self._folders)
        except SpecError as error:
            return JudgeLine(name=name, kind="", model="", description="", problem=str(error))
        models = ", ".join(spec.models)
        return JudgeLine(name=name, kind=spec.kind.value, model=models, description=spec.description)
