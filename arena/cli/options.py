"""Options that several commands share, as annotated types, and how their values are read."""

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

MAX_ROW = 2**31 - 1
"""The largest id of a row, on both engines."""
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AlwaysJson = Annotated[
    bool, typer.Option("--json", help="Accepted for uniformity: the result is always JSON.")
]
SetArgument = Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")]
RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")]
SetName = Annotated[str, typer.Option("--set", metavar="SET", help="Name of the question set.")]
JudgeName = Annotated[str, typer.Option(metavar="JUDGE", help="Name of a judge, or the path of its spec.")]
Seed = Annotated[int, typer.Option(metavar="S", min=0, help="Seed of all random choices.")]
AS_SET = "as the settings say"
Pairs = Annotated[
    str,
    typer.Option(
        metavar="PAIRS",
        show_default="reference, or all where the set has no references",
        help="`reference`, `reference,complete:K`, `versus:SYSTEM`, or `all`.",
    ),
]
Systems = Annotated[str | None, typer.Option(metavar="A,B", help="Only these systems.")]
Domains = Annotated[
    str | None, typer.Option(metavar="A,B", help="Only questions of these domains, given by id.")
]
Sample = Annotated[str | None, typer.Option(metavar="K|P%", help="Questions to draw: `100`, or `10%`.")]
Budget = Annotated[
    float | None, typer.Option(metavar="X", min=0.0, help="The most that the command may spend.")
]
RoundBudget = Annotated[
    float | None, typer.Option(metavar="X", min=0.0, help="The most that the round may spend.")
]
NewBudget = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        min=0.0,
        help="A new budget for the round, not below what it has spent; battles that the old one skipped can "
        "then be retried.",
    ),
]
GoOn = Annotated[
    bool,
    typer.Option(
        "--go-on", help="Judge to the end although replies are unreadable or the place of an answer decides."
    ),
]
Missing = Annotated[
    MissingRule,
    typer.Option(
        help="An answer that is empty or missing loses to any other (`lose`), or only questions that both "
        "systems answered are compared (`skip`)."
    ),
]
Order = Annotated[
    OrderPolicy | None,
    typer.Option(show_default="as the judge's spec says", help="Which answer is shown first."),
]
NewRound = Annotated[
    str | None, typer.Option(metavar="NAME", show_default="set, judge and date", help="Name of the round.")
]
Constants = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="A constant of the metric; repeatable.")
]


def whole_if_named(path: Path | None) -> Path | None:
    """Return the file to read, where one is named, as `whole_file` has it."""
    return None if path is None else whole_file(path)


def whole_file(path: Path) -> Path:
    """Return the file to read: for a pipe or `-` (standard input) a copy, until the process ends."""
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
    """Read the number of a job, a submission or a token."""
    if not text.isdecimal() or int(text) > MAX_ROW:
        raise typer.BadParameter(f"{text!r} is not a whole number from 0 to {MAX_ROW:,}.")
    return int(text)


def constant(text: str) -> tuple[str, Any]:
    """NAME=VALUE; the value is JSON where it can be read as such, else text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--option")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


def known(look_up: Callable[[str], object]) -> Callable[[str | None], str | None]:
    """Return a callback that takes an option's value for a name, and refuses one that nothing bears."""

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
        show_default=AS_SET,
        help="Use of the reply cache: `live` asks for what is missing, `replay` sends no request, "
        "`record` asks for everything again.",
    ),
]
Transport = Annotated[
    str | None,
    typer.Option(
        metavar="TRANSPORT",
        show_default=AS_SET,
        help=f"How requests are sent to the LLM: {described_transports()}.",
        callback=known(transport_info),
    ),
]
Rpm = Annotated[
    int | None, typer.Option(metavar="N", min=1, show_default=AS_SET, help="Most requests a minute.")
]
Tpm = Annotated[
    int | None, typer.Option(metavar="N", min=1, show_default=AS_SET, help="Most tokens a minute.")
]
Timeout = Annotated[
    int | None,
    typer.Option(metavar="SECONDS", min=1, show_default=AS_SET, help="Longest wait for a reply, in seconds."),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        metavar="C",
        min=1,
        max=20_000,
        show_default="16, or 10,000 with batches",
        help="Most calls in flight, for each endpoint and model.",
    ),
]

Engine = Annotated[
    EngineKind | None,
    typer.Option(
        show_default=AS_SET,
        help="Do what takes long on all processors of this machine (`local`), or on a Ray cluster (`ray`, "
        "docs/operations.md); the result is the same.",
    ),
]
Queue = Annotated[
    bool,
    typer.Option("--queue", help="Leave it to the workers of the queue (`arena worker`) and return at once."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        show_default="any number, or one for each processor with Ray",
        help="Most workers that may share the round, with `--queue` or Ray.",
    ),
]
Corpus = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        show_default="each item's passages",
        help="Corpus in which evidence is found; its name and content hash are stored with the scores.",
    ),
]
Retriever = Annotated[
    str,
    typer.Option(
        "--retriever",
        metavar="RETRIEVER",
        help=f"How evidence is found: {retrievers_of_evidence()}.",
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
        metavar="C", min=1, max=20_000, show_default="16", help="Most answers in flight, with an LLM."
    ),
]
StoredJudge = Annotated[
    str,
    typer.Option(
        metavar="JUDGE",
        show_default="the embedded version, else the only one",
        help="Whose scores: a judge's name, or the whole name they are stored under; `embedded`.",
    ),
]
SetRatings = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        show_default="every passage is rated",
        help="Ratings of the set's passages (`ratings.jsonl` of `arena sets build`, or of CRUX), for "
        "`context-crux` and `answer-crux`: only other passages are rated.",
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

USUAL = 16
WITH_BATCHES = 10_000


def open_with(overrides: LlmOverrides, engine: EngineKind | None = None) -> Arena:
    """Open the arena with options in place of the environment's settings."""
    settings = overrides.over(read_settings())
    return open_arena(settings if engine is None else replace(settings, engine=engine))


def open_reaching(cache_mode: CacheMode | None) -> Arena:
    """Open the arena, where a command gives only the use of the reply cache."""
    return open_with(LlmOverrides(cache_mode=cache_mode))


@contextmanager
def open_parallel(engine: EngineKind | None) -> Iterator[Arena]:
    """Open the arena, and let its engine do what takes long until the end of the block."""
    arena = open_with(LlmOverrides(), engine)
    with arena.engine.parallel():
        yield arena


def in_flight(arena: Arena, asked: int | None) -> int:
    """Return the number of concurrent battles: the option, else the default of the transport."""
    if asked is not None:
        return asked
    return WITH_BATCHES if transport_info(arena.settings.transport).batches else USUAL


Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone, unless `--yes` is given."""
    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("This cannot be undone. Add it to go on.", param_hint="--yes")
    if not yes:
        typer.confirm(f"{question} This cannot be undone.", abort=True, err=True)


def only_with(option: str, given: Mapping[str, object]) -> None:
    """Refuse options that belong to another one, which is absent."""
    for name, value in given.items():
        if value is not None and value is not False and value != "":
            raise typer.BadParameter(f"It goes with {option}.", param_hint=name)
