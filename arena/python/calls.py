"""Functions of `import answer_arena`: rank, estimate, judge, rate."""

from __future__ import annotations

import asyncio
import contextvars
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

from arena.cli.progress import showing_progress
from arena.container import Arena, open_ranking
from arena.python.frames import Data, references_of, tables_of, with_index
from arena.python.options import EstimateOptions, JudgeFunction, RankOptions, RateOptions
from arena.python.ranking import Cost, Ranking
from arena.services.ranking.requests import Columns, RankRequest, scratch_of
from data.errors import ArenaError, InputError
from data.models import MissingRule
from data.models.words import member
from data.plugins import register_function
from data.progress import Report, reporting

if TYPE_CHECKING:
    import pandas as pd

    from arena.services.ranking.results import Duel
    from data.models import RoundCounts, Verdict
    from leaderboard.ratings import RatingTable

Value = TypeVar("Value")
CONCURRENCY = 16


def rank(
    data: Data,
    *,
    judge: str | JudgeFunction = "",
    endpoint: str = "",
    references: Data | None = None,
    system: str | None = None,
    question: str | None = None,
    answer: str | None = None,
    reference: str | None = None,
    domain: str | None = None,
    vs: str = "",
    missing: str = MissingRule.LOSE,
    sample: str | int | None = None,
    max_usd: float | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    with_reference: bool = False,
    retry: Literal["all", "none"] = "all",
    go_on: bool = False,
    keep_errors: bool = False,
    repeats: Literal["first", "all"] = "first",
    concurrency: int = CONCURRENCY,
    progress: bool = True,
) -> Ranking:
    """Rank systems by their answers.

    Args:
        data: A data frame of pandas or Polars, a list of dicts, paths, or a dict of these by system.
        judge: A judge by name or file, a model, or a function `(question, a, b, reference)`, also async, that
            returns "a", "b" or "tie"; by default the previous judge, or the embedded judge.
        endpoint: URL of the model's API; by default `OPENAI_BASE_URL`, else OpenAI's.
        references: The questions' references or passages, as data.
        system: Column of systems; by default, this and the next four have any of their usual names.
        question: Column of questions.
        answer: Column of answers.
        reference: Column of references.
        domain: Column of domains.
        vs: System that all others are compared with, or `reference`.
        missing: `lose`: a missing or empty answer loses to any other; `skip`: only questions
            that both systems answered are compared.
        sample: Number or share (`10%`) of questions to judge.
        max_usd: Spending cap.
        out: Folder of the ranking; an existing ranking is continued. By default a temporary folder, which is
            deleted with the result.
        seed: Seed of the sample and of the intervals.
        with_reference: Whether to rank the references as an additional system.
        retry: Which comparisons without a verdict to repeat: all or none.
        go_on: Whether to judge to the end although many replies are unusable.
        keep_errors: Whether to judge NA, None and texts like a harness's errors as answers.
        repeats: Which of a system's answers to one question to judge: the first or all.
        concurrency: Maximum number of concurrent requests.
        progress: Whether to show a progress bar.

    Raises:
        InputError: The data cannot be read or joined, there are fewer than two systems, or no judge fits.
        JudgeError: Judging cannot continue; with `out`, the same call continues later.
    """
    names, request = _request_of(
        {
            "judge": judge,
            "endpoint": endpoint,
            "vs": vs,
            "missing": missing,
            "sample": sample,
            "max_usd": max_usd,
            "seed": seed,
            "system": system,
            "question": question,
            "answer": answer,
            "reference": reference,
            "domain": domain,
            "with_reference": with_reference,
            "retry": retry,
            "go_on": go_on,
            "keep_errors": keep_errors,
            "repeats": repeats,
        }
    )
    folder, halt = Path(out or tempfile.mkdtemp(prefix="answer-arena-")), Event()

    def work() -> Ranking:
        arena = open_ranking(folder)
        try:
            return _ranked(arena, data, references, names, request, concurrency, halt)
        finally:
            arena.close()

    try:
        with _in_python(), showing_progress() if progress else nullcontext():
            ranking = _outside_loops(work, halt)
    except BaseException as error:
        # The error's advice may name a file there.
        if out is None and str(folder) not in str(error):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if out is None:
        weakref.finalize(ranking, shutil.rmtree, folder, ignore_errors=True)
    return ranking


def estimate(
    data: Data, *, references: Data | None = None, **options: Unpack[EstimateOptions]
) -> Mapping[str, Any]:
    """Estimate a ranking: planned battles, requests, tokens, expected and maximum cost.

    Options are those of `rank`; no model is called.
    """
    from arena.services.accounts.auth import OPERATOR

    names, request = _request_of(options)
    out = options.get("out")
    with _in_python(), tempfile.TemporaryDirectory() as nothing, scratch_of(Path(out or nothing)) as copy:
        arena = open_ranking(copy)
        try:
            right = None if references is None else references_of(references, names)
            prepared = arena.ranking.prepare(request, tables_of(data, names), right, caller=OPERATOR)
            return arena.ranking.estimate(prepared, caller=OPERATOR)
        finally:
            arena.close()


def judge(
    question: str,
    a: str,
    b: str,
    reference: str | None = None,
    *,
    judge: str | JudgeFunction = "",
    endpoint: str = "",
) -> Verdict:
    """Compare two answers to a question with a judge; nothing is stored.

    Raises:
        InputError: No judge is named, and the embedded judge has no reference.
    """
    from arena.services.ranking.requests import ADVICE, EMBEDDED
    from data.models import Question

    def work() -> Verdict:
        if not judge and reference is None:
            raise InputError("Neither a judge nor a reference is given.", advice=ADVICE)
        with tempfile.TemporaryDirectory() as folder:
            arena = open_ranking(Path(folder))
            try:
                name = arena.ranking.judges.named(_named(judge) or EMBEDDED, endpoint)
                item = Question(id="question", domain="all", question=question, reference=reference)
                return arena.judges.try_on(arena.judges.spec(name), item, a, b)
            finally:
                arena.close()

    with _in_python():
        return _outside_loops(work, Event())


def rate(battles: pd.DataFrame, **settings: Unpack[RateOptions]) -> RatingTable:
    """Rate the systems of battles: columns `model_a`, `model_b`, `winner`, and optionally `question_id`.

    The question column may have any of its other names, or be the frame's index. Settings are those of
    `leaderboard.ratings.rate`, as text or members.

    Raises:
        InputError: A column is missing, or a setting has an unknown value.
    """
    from leaderboard.battles import SPELLINGS, BattleTable, winner_word
    from leaderboard.formats.sources import field_of, question_column
    from leaderboard.ratings import rate as rated

    known = ("question_id", "domain", "model_a", "model_b", "winner", "score", "weight")
    battles = with_index(battles)
    spelt = {name: field_of(str(name)) for name in battles}
    battles = battles.rename(columns={name: ours for name, ours in spelt.items() if ours not in battles})
    for name in ("model_a", "model_b", "winner"):
        if name not in battles:
            message = f"The battles have no column {name}; they have {', '.join(map(str, battles))}."
            raise InputError(message, advice="Rename the columns to model_a, model_b and winner.")
    columns: dict[str, Any] = {name: battles[name] for name in known if name in battles}
    if not set(columns["winner"]) <= SPELLINGS.keys():
        columns["winner"] = list(
            map(winner_word, *(columns[name] for name in ("winner", "model_a", "model_b")))
        )
    identifier = question_column([*map(str, battles)], lambda name: bool(battles[name].notna().all()))
    if "question_id" not in columns and identifier is not None:
        columns["question_id"] = battles[identifier]
    # Without questions, every battle counts as a separate question.
    columns.setdefault("question_id", [f"battle {number}" for number in range(len(battles))])
    columns.setdefault("domain", ["all"] * len(battles))
    return rated(BattleTable.from_columns(**columns), **settings)


def _ranked(
    arena: Arena,
    data: Data,
    references: Data | None,
    names: Columns,
    request: RankRequest,
    concurrency: int,
    halt: Event,
) -> Ranking:
    from arena.services.accounts.auth import OPERATOR

    right = None if references is None else references_of(references, names)
    prepared = arena.ranking.prepare(request, tables_of(data, names), right, caller=OPERATOR)
    round_ = arena.ranking.round_of(prepared, caller=OPERATOR)

    def run(name: str, report_progress: Report) -> RoundCounts:
        return arena.rounds.run(name, concurrency=concurrency, report=report_progress, halt=halt)

    with reporting("comparing answers") as report:
        counts = arena.ranking.judge(round_, run, report)
    if counts.pending:
        raise KeyboardInterrupt(
            f"{counts.pending:,} of {counts.planned:,} comparisons are left. "
            "With out=FOLDER the same call continues where it stopped."
        )
    board = arena.ranking.publish(round_.name)
    results, folder = arena.ranking_results, arena.settings.home
    import pandas as pd

    from arena.services.ranking.results import without_verdict

    left_out = (f"left out: {number:,} {what}" for what, number in prepared.planned.plan.left_out.items())
    lacking = (*left_out, *without_verdict(round_, counts, folder))
    comparisons = pd.DataFrame([asdict(comparison) for comparison in results.comparisons(round_.name)])

    def duel(first: str, second: str) -> Duel:
        opened = open_ranking(folder)
        try:
            return opened.ranking_results.duel(round_.name, first, second)
        finally:
            opened.close()

    return Ranking(
        systems=results.systems(board),
        sentence=results.sentence(board),
        comparisons=comparisons,
        cost=Cost(
            requests=arena.ranking.requests(round_.name),
            usd=counts.cost_usd,
            input_tokens=counts.input_tokens,
            output_tokens=counts.output_tokens,
        ),
        notes=(*prepared.notes, prepared.sentence, *lacking),
        warnings=(*prepared.pool.notes, *([prepared.sentence] if prepared.pool.lacking else []), *lacking),
        folder=folder,
        _more=partial(rank, out=folder),
        _duel=duel,
    )


def _named(judge: str | JudgeFunction) -> str:
    return judge if isinstance(judge, str) else register_function(judge)


def _word(name: str, value: str, *allowed: str) -> str:
    if value not in allowed:
        raise InputError(f"{name} is {value!r}.", advice=f"Use {' or '.join(map(repr, allowed))}.")
    return value


def _request_of(options: RankOptions | EstimateOptions) -> tuple[Columns, RankRequest]:
    if unknown := sorted(options.keys() - EstimateOptions.__annotations__.keys()):
        message = f"There is no option {', '.join(unknown)}."
        raise TypeError(message)
    sample, answer = options.get("sample"), options.get("answer")
    request = RankRequest(
        judge=_named(options.get("judge", "")),
        endpoint=options.get("endpoint", ""),
        versus=options.get("vs", ""),
        missing=member(MissingRule, options.get("missing", MissingRule.LOSE), "missing"),
        sample=None if sample is None else str(sample),
        budget_usd=options.get("max_usd"),
        seed=options.get("seed", 0),
        with_reference=options.get("with_reference", False),
        retry=_word("retry", options.get("retry", "all"), "all", "none") == "all",
        go_on=options.get("go_on", False),
        keep_errors=options.get("keep_errors", False),
        repeats=_word("repeats", options.get("repeats", "first"), "first", "all") == "all",
    )
    columns = Columns(
        system=options.get("system") or "",
        question=options.get("question") or "",
        answers=(answer,) if answer else (),
        reference=options.get("reference") or "",
        domain=options.get("domain") or "",
        repeats=request.repeats,
        keep_na=request.keep_errors,
    )
    return columns, request


def _outside_loops(work: Callable[[], Value], halt: Event) -> Value:
    """Run `work` in its own event loop, even inside a running loop, as in notebooks.

    Signals reach only the main thread, which sets `halt` for the other thread.
    """
    running = False
    with suppress(RuntimeError):
        running = asyncio.get_running_loop() is not None
    if not running:
        return work()
    with ThreadPoolExecutor(1, thread_name_prefix="answer-arena") as thread:
        try:
            return thread.submit(contextvars.copy_context().run, work).result()
        except KeyboardInterrupt:
            halt.set()
            raise


COMMAND = re.compile(r"arena rank (?P<folder>'[^']*'|\S+?)(?P<on> --go-on)?(?=[;.]?(\s|$))")
OPTION = re.compile(r"--(?P<name>[a-z][a-z-]+)(?: (?P<value>[\w./:-]*\w))?")
FLAGS = {"with-reference", "go-on"}


@contextmanager
def _in_python() -> Iterator[None]:
    try:
        yield
    except ArenaError as error:
        error.advice = in_python(error.advice)
        raise


def in_python(text: str) -> str:
    """Replace commands in advice with Python calls, and options with arguments."""

    def call(match: re.Match[str]) -> str:
        on = ", go_on=True" if match["on"] else ""
        return f'aa.rank(…, out="{match["folder"].strip(chr(39))}"{on})'

    def argument(match: re.Match[str]) -> str:
        name, value = match["name"].replace("-", "_"), match["value"]
        if match["name"] in FLAGS:
            return f"{name}=True" + (f" {value}" if value else "")
        return f"{name}=" + ("…" if not value else value if value.isupper() else f'"{value}"')

    calls = re.sub(r"NAME=(?:'([^']*)'|(\S*\w))", r'{"NAME": "\1\2"}', COMMAND.sub(call, text))
    return OPTION.sub(argument, calls).replace('" judge=', '", judge=')
