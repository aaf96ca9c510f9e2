"""Judges: specs, prices, runs and trials."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import data
from arena.services.jobs import cancellation
from arena.settings import Settings
from data.errors import InputError, NotFoundError, SpecError
from data.files.text_files import ReadLimits, read_text
from data.models import JudgeKind, OrderPolicy, Outcome, Question, Round, Verdict
from data.progress import working
from data.store import Store
from judges.base import Judge, JudgeInput
from judges.catalogue import build_judge, load_spec, spec_names
from judges.llm.settings import CacheMode
from judges.llm.transports.registry import transport_info
from judges.spec import JudgeSpec, leaves

if TYPE_CHECKING:
    # Lists of judges do not need these slow imports.
    from arena.services.judging.llm_access import Payer
    from arena.services.judging.traffic import OpenedJudge, Traffic
    from judges.llm.costs import Ledger
    from judges.llm.prices import Price, Prices


TRIAL = "trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLine:
    """Judge in a list; `problem` is the error of an invalid spec."""

    name: str
    kind: str
    model: str
    description: str
    problem: str = ""


USUAL = "reference-free"
"""Judge whose prompt and settings a bare model uses."""
BATTLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTest:
    """Test of a judge on three battles in both orders.

    Attributes:
        models: Its LLMs; empty for an embedded judge.
        battles: Input and replies by battle, as JSON.
        cost_usd: Cost; None without a known price.
        latency: Mean seconds per reply; None without replies.
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
        """True if every battle has a verdict."""
        return self.judged == len(self.battles)

    def as_json(self) -> dict[str, Any]:
        """Return the test as JSON for commands, jobs and pages."""
        return {**asdict(self), "passed": self.passed, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """Result in a sentence."""
        verdicts = f"{self.judged} of {len(self.battles)} battles have a verdict"
        return f"{verdicts}; the orders agree on {self.agreeing} of {self.judged}."


class JudgeService:
    """Service for judges."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def spec(self, name: str) -> JudgeSpec:
        """Return a judge by name or path, with its endpoint."""
        return load_spec(name, folders=self._folders).at(self._settings.endpoint)

    @property
    def endpoint(self) -> str:
        """Default endpoint of judges."""
        return self._settings.endpoint

    def prices(self) -> "Prices":
        """Return the prices of LLM calls; the organiser's prices override the bundled ones."""
        from arena.services.judging.llm_access import access_settings
        from judges.llm.prices import Prices

        return Prices.load(access_settings(self._settings, concurrency=1).prices)

    def set_price(self, model: str, price: "Price") -> Path:
        """Add a model's price to the organiser's prices, and return their file."""
        from judges.llm.prices import set_price

        set_price(self._settings.prices_file, model, price)
        return self._settings.prices_file

    def known(self) -> tuple[JudgeLine, ...]:
        """Return all judges by name, invalid ones with their error."""
        return tuple(self._line(name) for name in spec_names(folders=self._folders))

    def host(self, name: str) -> str:
        """Return the hosts of a judge's models, comma-separated."""
        try:
            spec = self.spec(name)
        except SpecError:
            return ""
        hosts = (urlsplit(leaf.endpoint).netloc.rpartition("@")[2] for leaf in leaves(spec) if leaf.model)
        return ", ".join(dict.fromkeys(filter(None, hosts)))

    def try_files(self, judge: str, question: str, answer_a: Path, answer_b: Path) -> Verdict:
        """Judge the texts of two files; `question` is `SET/ID` of a stored question, or its text."""
        limits = ReadLimits()
        texts = (read_text(answer_a, limits), read_text(answer_b, limits))
        return self.try_on(self.spec(judge), self._question(question), *texts)

    def try_on(self, spec: JudgeSpec, question: Question, answer_a: str, answer_b: str) -> Verdict:
        """Judge one pair without storing the verdict."""
        judge_input = JudgeInput(battle_id=TRIAL, question=question, answer_a=answer_a, answer_b=answer_b)
        return asyncio.run(self.decide_all(spec, [judge_input], concurrency=2))[0]

    def decide(self, spec: JudgeSpec, inputs: Sequence[JudgeInput]) -> list[Verdict]:
        """Judge battles one after another without storing verdicts."""
        return asyncio.run(self.decide_all(spec, inputs, concurrency=1))

    async def decide_all(
        self,
        spec: JudgeSpec,
        inputs: Sequence[JudgeInput],
        *,
        concurrency: int,
        ledger: "Ledger | None" = None,
        stop_event: cancellation.StopEvent | None = None,
    ) -> list[Verdict]:
        """Judge battles without storing verdicts, at most `concurrency` at once; results are in input order.

        Battles beyond the ledger's budget are skipped. Once another thread sets `stop_event`, calls in flight
        finish and are cached.
        """
        slots, stop = asyncio.Semaphore(concurrency), asyncio.Event()
        async with (
            cancellation.forward_stop(stop_event, stop),
            self._opened(spec, concurrency=concurrency, ledger=ledger, stop=stop) as ((judge,), traffic),
        ):

            async def decide(judge_input: JudgeInput) -> Verdict:
                async with slots:
                    cancellation.raise_if_stopped(stop_event)
                    verdict = await judge.judge(judge_input)
                work.done += 1
                return verdict

            async def follow() -> None:
                while traffic is not None:
                    work.requests, work.note = traffic.requests, traffic.waiting
                    await asyncio.sleep(cancellation.POLL_EVERY)

            with working(f"judging by {spec.name}", len(inputs)) as work:
                async with cancellation.alongside(follow()):
                    return list(await asyncio.gather(*(decide(judge_input) for judge_input in inputs)))

    @asynccontextmanager
    async def open(
        self, spec: JudgeSpec, round_: Round, concurrency: int, stop: asyncio.Event, lease_id: int
    ) -> "AsyncIterator[OpenedJudge]":
        """Open a judge within a round's budget; it sends no new calls once `stop` is set."""
        cap = round_.budget_usd
        from arena.services.judging.llm_access import Payer
        from arena.services.judging.traffic import OpenedJudge

        account = Payer(ledgers=self._store.ledgers, number=round_.id, lease_id=lease_id, cap=cap)
        pending = self._store.rounds.counts(round_.name).pending
        opened = self._opened(spec, concurrency=concurrency, payer=account, stop=stop, texts=pending)
        async with opened as ((judge,), traffic):
            yield OpenedJudge(judge, traffic, waits=traffic is not None and self._waits)

    @property
    def _waits(self) -> bool:
        """True if battles wait for replies, as they do except with cached or batched replies."""
        replayed = self._settings.cache_mode is CacheMode.REPLAY
        return not replayed and not transport_info(self._settings.transport).batches

    @asynccontextmanager
    async def _opened(
        self,
        *specs: JudgeSpec,
        concurrency: int,
        payer: "Payer | None" = None,
        ledger: "Ledger | None" = None,
        stop: asyncio.Event | None = None,
        texts: int = 0,
    ) -> "AsyncIterator[tuple[tuple[Judge, ...], Traffic | None]]":
        from arena.services.judging.llm_access import open_access
        from arena.services.judging.traffic import Traffic
        from arena.services.text_process import TextWork

        kinds = {leaf.kind for spec in specs for leaf in leaves(spec)}
        # LLM judges wait, embedded judges compute, and functions may do either.
        processes = self._settings.processes_for(texts) if JudgeKind.LLM not in kinds else 1
        if JudgeKind.FUNCTION in kinds:
            processes = max(1, processes)
        async with AsyncExitStack() as opened:
            work = opened.enter_context(TextWork(self._settings.work_seconds, processes))
            await opened.enter_async_context(cancellation.call_when_set(stop, work.stop))
            client = None
            if JudgeKind.LLM in kinds:
                access = open_access(
                    self._store,
                    self._settings,
                    concurrency=concurrency,
                    payer=payer,
                    ledger=ledger,
                    stop=stop,
                )
                client = Traffic(await opened.enter_async_context(access))
            yield tuple(build_judge(spec, client=client, work=work) for spec in specs), client

    def test(self, name: str, *, stop_event: cancellation.StopEvent | None = None) -> JudgeTest:
        """Try a judge, or a model with the default prompt, on three battles in both orders.

        Battles run one by one, so that a wrong key or model costs one request.
        """
        spec = self._spec_to_test(name)
        inputs = _demo_battles()
        verdicts = asyncio.run(self.decide_all(spec, inputs, concurrency=1, stop_event=stop_event))
        return _test_of(spec, inputs, verdicts)

    def _spec_to_test(self, name: str) -> JudgeSpec:
        try:
            spec = self.spec(name)
        except NotFoundError as unknown:
            if name.endswith(".toml"):
                raise
            default = self.spec(USUAL)
            try:
                spec = default.model_copy(update={"model": name, "name": "test"})
            except ValueError as error:
                raise InputError(
                    f"{name!r} is neither a judge nor a model.", advice=unknown.advice
                ) from error
        return spec if spec.kind is JudgeKind.LEXICAL else spec.using(order=OrderPolicy.BOTH)

    def _question(self, text: str) -> Question:
        set_name, _, question_id = text.partition("/")
        if question_id and any(summary.name == set_name for summary in self._store.sets.summaries()):
            return self._store.sets.question(set_name, question_id)
        return Question(id=TRIAL, domain=TRIAL, question=text)

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


def _demo_battles() -> list[JudgeInput]:
    from data.files.question_sets.registry import load_set

    with as_file(files(data) / "sets" / "demo") as folder:
        questions = load_set(folder).questions.questions
        answers = [
            {
                row["question_id"]: row["answer"]
                for row in map(json.loads, path.read_text("utf-8").splitlines())
            }
            for path in sorted((folder / "answers").glob("*.jsonl"))[:2]
        ]
    answered = [question for question in questions if all(question.id in texts for texts in answers)]
    return [
        JudgeInput(
            battle_id=f"test-{question.id}",
            question=question,
            answer_a=answers[0][question.id],
            answer_b=answers[1][question.id],
        )
        for question in answered[:BATTLES]
    ]


def _test_of(spec: JudgeSpec, inputs: list[JudgeInput], verdicts: list[Verdict]) -> JudgeTest:
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
