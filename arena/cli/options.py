"""Options that several commands share, as annotated types, and their parsers."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.container import Arena, open_arena
from arena.settings import EngineKind, LlmOverrides, read_settings
from data.errors import ArenaError
from data.models import MissingRule, OrderPolicy
from judges.llm.settings import CacheMode
from judges.llm.transports.registry import described_transports, transport_info
from judges.retrieval import retriever_info, retrievers_of_evidence

MAX_ROW_ID = 2**31 - 1
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AlwaysJson = Annotated[
    bool, typer.Option("--json", help="Accepted for uniformity: the result is always JSON.")
]
SetArgument = Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")]
RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")]
SetName = Annotated[str, typer.Option("--set", metavar="SET", help="Name of the question set.")]
JudgeName = Annotated[str, typer.Option(metavar="JUDGE", help="Name of a judge, or the path of its spec.")]
Seed = Annotated[int, typer.Option(metavar="S", min=0, help="Random seed.")]
FROM_SETTINGS = "from the settings"
Pairs = Annotated[
    str,
    typer.Option(
        metavar="PAIRS",
        show_default="reference, or all if the set has no references",
        help="`reference`, `reference,complete:K`, `versus:SYSTEM`, or `all`.",
    ),
]
Systems = Annotated[str | None, typer.Option(metavar="A,B", help="Only these systems.")]
Domains = Annotated[str | None, typer.Option(metavar="A,B", help="Only questions of these domains (ids).")]
Sample = Annotated[str | None, typer.Option(metavar="K|P%", help="Sample the questions: `100`, or `10%`.")]
Budget = Annotated[
    float | None, typer.Option(metavar="X", min=0.0, help="Spending limit of the command in USD.")
]
RoundBudget = Annotated[
    float | None, typer.Option(metavar="X", min=0.0, help="Spending limit of the round in USD.")
]
NewBudget = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        min=0.0,
        help="New budget of the round in USD, at least what it has spent; then retry the battles that the "
        "old one skipped.",
    ),
]
GoOn = Annotated[bool, typer.Option("--go-on", help="Continue despite unreadable replies or position bias.")]
Missing = Annotated[
    MissingRule,
    typer.Option(
        help="Empty and missing answers lose to any other (`lose`), or only questions that both systems "
        "answered are compared (`skip`)."
    ),
]
Order = Annotated[
    OrderPolicy | None,
    typer.Option(show_default="from the judge's spec", help="Order of the answers in requests."),
]
NewRound = Annotated[
    str | None, typer.Option(metavar="NAME", show_default="set, judge and date", help="Name of the round.")
]
Constants = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="A constant of the metric; repeatable.")
]


def whole_if_named(path: Path | None) -> Path | None:
    """Apply `whole_file` to an optional path."""
    return None if path is None else whole_file(path)


def whole_file(path: Path) -> Path:
    """Return the file to read: for a pipe or `-` (standard input) a temporary copy."""
    import atexit
    import shutil
    import stat
    import tempfile

    is_input = str(path) == "-"
    if not is_input and (
        not path.exists() or not (stat.S_ISFIFO(mode := path.stat().st_mode) or stat.S_ISCHR(mode))
    ):
        return path
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = Path(folder) / ("stdin" if is_input else path.name)
    with copy.open("wb") as file:
        if is_input:
            shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            with path.open("rb") as pipe:
                shutil.copyfileobj(pipe, file)
    return copy


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to read; - is standard input.", callback=whole_file)
]
SystemName = Annotated[str, typer.Option(metavar="SYSTEM", help="Name of the system.")]
TeamName = Annotated[str, typer.Option(metavar="TEAM", help="Name of the team.")]
CardFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The system card, YAML.", callback=whole_if_named)
]


def names_of(text: str | None) -> tuple[str, ...]:
    """Split a list with commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def row_id(text: str) -> int:
    """Parse the number of a job, a submission or a token."""
    if not text.isdecimal() or int(text) > MAX_ROW_ID:
        raise typer.BadParameter(f"{text!r} is not a whole number from 0 to {MAX_ROW_ID:,}.")
    return int(text)


def constant(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE; VALUE is JSON if it parses, else text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--option")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def known(look_up: Callable[[str], object]) -> Callable[[str | None], str | None]:
    """Return an option callback that refuses names unknown to `look_up`."""

    def checked(value: str | None) -> str | None:
        try:
            if value is not None:
                look_up(value)
        except ArenaError as error:
            raise typer.BadParameter(f"{error.message} {error.advice}") from error
        return value

    return checked


Cache = Annotated[
    CacheMode | None,
    typer.Option(
        show_default=FROM_SETTINGS,
        help="Reply cache: `live` requests missing replies, `replay` sends no requests, `record` requests "
        "every reply again.",
    ),
]
Transport = Annotated[
    str | None,
    typer.Option(
        metavar="TRANSPORT",
        show_default=FROM_SETTINGS,
        help=f"How requests are sent to the LLM: {described_transports()}.",
        callback=known(transport_info),
    ),
]
Rpm = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, show_default=FROM_SETTINGS, help="Maximum requests per minute."),
]
Tpm = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, show_default=FROM_SETTINGS, help="Maximum tokens per minute."),
]
Timeout = Annotated[
    int | None,
    typer.Option(metavar="SECONDS", min=1, show_default=FROM_SETTINGS, help="Maximum wait for a reply."),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        metavar="C",
        min=1,
        max=20_000,
        show_default="16, or 10,000 with batches",
        help="Maximum calls in flight per endpoint and model.",
    ),
]

Engine = Annotated[
    EngineKind | None,
    typer.Option(
        show_default=FROM_SETTINGS,
        help="Run long tasks on all processors of this machine (`local`) or on a Ray cluster (`ray`, "
        "docs/operations.md), with the same result.",
    ),
]
Queue = Annotated[bool, typer.Option("--queue", help="Queue the work for `arena worker` and return at once.")]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        show_default="unlimited, or one per processor with Ray",
        help="Maximum workers for the round, with `--queue` or Ray.",
    ),
]
Corpus = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        show_default="the passages of each item",
        help="Corpus to search for evidence; its name and content hash are stored with the scores.",
    ),
]
Retriever = Annotated[
    str,
    typer.Option(
        "--retriever",
        metavar="RETRIEVER",
        help=f"Retriever for the evidence: {retrievers_of_evidence()}.",
        callback=known(partial(retriever_info, evidence=True)),
    ),
]
MetricName = Annotated[str, typer.Option(metavar="METRIC", help="Name of the metric.")]
MetricJudge = Annotated[
    str,
    typer.Option(
        metavar="JUDGE",
        show_default="the embedded version, without an LLM",
        help="Judge whose LLM scores, by name or path.",
    ),
]
MetricConcurrency = Annotated[
    int | None,
    typer.Option(
        metavar="C", min=1, max=20_000, show_default="16", help="Maximum answers in flight, with an LLM."
    ),
]
StoredJudge = Annotated[
    str,
    typer.Option(
        metavar="JUDGE",
        show_default="the embedded version, else the only one",
        help="Judge of the stored scores: its name or full stored name, or `embedded`.",
    ),
]
SetRatings = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        show_default="the judge rates every passage",
        help="Known ratings of the set's passages (`ratings.jsonl` of `arena sets build`, or of CRUX), for "
        "`context-crux` and `answer-crux`; the judge rates only the rest.",
        callback=whole_if_named,
    ),
]
Judgments = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Judgments of passages by aspect, for `coverage-icat-m`: TREC's diversity qrels (question, "
        "aspect number from 1 or 0 for none, passage, relevance), or JSONL with `question_id`, "
        "`passage_id`, `aspect` (text or number) and `relevance`.",
        callback=whole_if_named,
    ),
]

DEFAULT_CONCURRENCY = 16
BATCH_CONCURRENCY = 10_000


def open_with(overrides: LlmOverrides, engine: EngineKind | None = None) -> Arena:
    """Open the arena with options that override the environment's settings."""
    settings = overrides.over(read_settings())
    return open_arena(settings if engine is None else replace(settings, engine=engine))


def open_with_cache(cache_mode: CacheMode | None) -> Arena:
    """Open the arena with this reply cache mode."""
    return open_with(LlmOverrides(cache_mode=cache_mode))


@contextmanager
def open_parallel(engine: EngineKind | None) -> Iterator[Arena]:
    """Open the arena, and run long tasks of the block on its engine."""
    arena = open_with(LlmOverrides(), engine)
    with arena.engine.parallel():
        yield arena


def in_flight(arena: Arena, concurrency: int | None) -> int:
    """Return the number of concurrent battles: the option, or the transport's default."""
    if concurrency is not None:
        return concurrency
    return BATCH_CONCURRENCY if transport_info(arena.settings.transport).batches else DEFAULT_CONCURRENCY


Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation of an irreversible action, unless `--yes` is set."""
    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("This cannot be undone. Add --yes to confirm.", param_hint="--yes")
    if not yes:
        typer.confirm(f"{question} This cannot be undone.", abort=True, err=True)


def only_with(option: str, values: Mapping[str, object]) -> None:
    """Refuse options that need another one, which is absent."""
    for name, value in values.items():
        if value is not None and value is not False and value != "":
            raise typer.BadParameter(f"Use it only with {option}.", param_hint=name)
