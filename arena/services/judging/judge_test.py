"""Trying a judge, or a bare model, on three battles of the demo."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from typing import Any

import data
from arena.services.jobs.cancellation import StopEvent
from arena.services.judging.judges import JudgeService
from data.errors import InputError, NotFoundError
from data.files.question_sets.registry import load_set
from data.models import JudgeKind, OrderPolicy, Outcome, Verdict
from judges.base import JudgeInput
from judges.spec import JudgeSpec, leaves

USUAL = "reference-free"
"""Whose prompt and settings a bare model is tried with."""
BATTLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTest:
    """How a judge did on three battles in both orders.

    Attributes:
        judge: Its name.
        models: The models that were asked; empty of an embedded judge.
        battles: What was shown and what came back, by battle, as JSON.
        judged: Battles with a verdict.
        agreeing: Those on which both orders agree.
        calls: Requests that were sent.
        cost_usd: What they cost; None where no price is known.
        latency: The mean time of a reply in seconds; None where nothing was asked.
    """

    judge: str
    models: tuple[str, ...]
    battles: tuple[dict[str, Any], ...]
    judged: int
    agreeing: int
    calls: int
    cost_usd: float | None
    latency: float | None

    @property
    def passed(self) -> bool:
        """Whether every battle has a verdict."""
        return self.judged == len(self.battles)

    def as_json(self) -> dict[str, Any]:
        """The test as commands, jobs and pages have it."""
        return {**asdict(self), "passed": self.passed, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """How it went, in a sentence."""
        several = f"{self.judged} of {len(self.battles)} battles have a verdict"
        return f"{several}; the orders agree on {self.agreeing} of {self.judged}."


class JudgeTester:
    """Tries judges; nothing is stored but replies in the cache."""

    def __init__(self, judges: JudgeService) -> None:
        self._judges = judges

    def test(self, name: str, *, stop_event: StopEvent | None = None) -> JudgeTest:
        """Try a judge by name or path, or a model with the usual prompt, on three battles in both orders.

        The first battle is asked before the others, so that a wrong key or model costs one request.

        Raises:
            SpecError: The spec cannot be used.
            StoppedError: `stop_event` was set.
            EndpointError: The endpoint does not answer, or refuses key or model.
        """
        spec = self._spec(name)
        inputs = _demo_battles()
        verdicts = asyncio.run(self._judges.decide_all(spec, inputs, concurrency=1, stop_event=stop_event))
        return _report(spec, inputs, verdicts)

    def _spec(self, name: str) -> JudgeSpec:
        try:
            spec = self._judges.spec(name)
        except NotFoundError as unknown:
            if name.endswith(".toml"):
                raise
            usual = self._judges.spec(USUAL)
            try:
                spec = usual.model_copy(update={"model": name, "name": "test"})
            except ValueError as error:
                raise InputError(f"{name!r} is no judge and no model.", advice=unknown.advice) from error
        return spec if spec.kind is JudgeKind.LEXICAL else spec.using(order=OrderPolicy.BOTH)


def _demo_battles() -> list[JudgeInput]:
    """The first questions of the bundled set that two of its answer files and the reference answer."""
    with as_file(files(data) / "sets" / "demo") as folder:
        questions = load_set(folder).questions.questions
        answers = [
            {
                row["question_id"]: row["answer"]
                for row in map(json.loads, path.read_text("utf-8").splitlines())
            }
            for path in sorted((folder / "answers").glob("*.jsonl"))[:2]
        ]
    shown = [question for question in questions if all(question.id in texts for texts in answers)]
    return [
        JudgeInput(
            battle_id=f"test-{question.id}",
            question=question,
            answer_a=answers[0][question.id],
            answer_b=answers[1][question.id],
        )
        for question in shown[:BATTLES]
    ]


def _report(spec: JudgeSpec, inputs: list[JudgeInput], verdicts: list[Verdict]) -> JudgeTest:
    judgments = [judgment for verdict in verdicts for judgment in verdict.judgments]
    replies = [judgment.reply for judgment in judgments if judgment.reply is not None]
    costs = [judgment.cost_usd for judgment in judgments if judgment.calls]
    known = [cost for cost in costs if cost is not None]
    judged = [verdict for verdict in verdicts if verdict.outcome is Outcome.JUDGED]
    return JudgeTest(
        judge=spec.name,
        models=tuple(leaf.model for leaf in leaves(spec) if leaf.kind is JudgeKind.LLM),
        battles=tuple(
            _battle(judge_input, verdict) for judge_input, verdict in zip(inputs, verdicts, strict=True)
        ),
        judged=len(judged),
        agreeing=sum(verdict.flipped is not True for verdict in judged),
        calls=sum(judgment.calls for judgment in judgments),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        latency=sum(reply.latency for reply in replies) / len(replies) if replies else None,
    )


def _battle(judge_input: JudgeInput, verdict: Verdict) -> dict[str, Any]:
    return {
        "question": judge_input.question.question,
        "answer_a": judge_input.answer_a,
        "answer_b": judge_input.answer_b,
        "outcome": verdict.outcome.value,
        "preference": None if verdict.preference is None else verdict.preference.value,
        "flipped": verdict.flipped,
        "detail": verdict.detail,
        "judgments": [
            {
                "judge": judgment.judge,
                "model": judgment.model,
                "presentation": judgment.presentation.value,
                "outcome": judgment.outcome.value,
                "preference": None if judgment.preference is None else judgment.preference.value,
                "detail": judgment.detail,
                "settings": judgment.settings,
                "calls": judgment.calls,
                "cached": judgment.reply is not None and judgment.reply.cached,
                "latency": None if judgment.reply is None else judgment.reply.latency,
                "replies": [
                    {"text": reply.text, "finish_reason": reply.finish_reason}
                    for reply in (*judgment.earlier, judgment.reply)
                    if reply is not None
                ],
            }
            for judgment in verdict.judgments
        ],
    }
