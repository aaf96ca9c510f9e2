"""Options that several commands share."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from arena.container import Arena, open_arena
from arena.settings import EngineKind, LlmOverrides, read_settings
from data.errors import ArenaError
from judges.llm.settings import CacheMode
from judges.llm.transports.registry import transport_info
from judges.retrieval import retriever_info

LARGEST_NUMBER = 2**31 - 1
"""Of a row, on both engines."""
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SetName = Annotated[str, typer.Option("--set", metavar="SET", help="Name of the question set.")]
SetArgument = Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")]
JudgeName = Annotated[
    str, typer.Option("--judge", metavar="JUDGE", help="Name of a judge, or the path of its spec.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Seed of all random choices.")]
AS_SET = "as the settings say"
Pairs = Annotated[
    str,
    typer.Option(
        "--pairs",
        metavar="PAIRS",
        show_default="reference, or all where the set has no references",
        help="`reference`, `reference,complete:K`, `versus:SYSTEM`, or `all`.",
    ),
]
Systems = Annotated[
    str | None,
    typer.Option(
        "--systems",
        metavar="A,B",
        help="Only these systems; in a round, a battle that lacks one of their answers counts as missing.",
    ),
]
Domains = Annotated[
    str | None,
    typer.Option("--domains", metavar="A,B", help="Only questions of these domains, given by id."),
]
Sample = Annotated[
    str | None, typer.Option("--sample", metavar="K|P%", help="Questions to draw: `100`, or `10%`.")
]
Budget = Annotated[
    float | None,
    typer.Option("--budget-usd", metavar="X", min=0.0, help="The most that the command may spend."),
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="A constant of the metric; repeatable."),
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
    Path,
    typer.Argument(metavar="FILE", help="The file to read; - is standard input.", callback=whole_file),
]
SystemName = Annotated[str, typer.Option("--system", metavar="SYSTEM", help="Name of the system.")]
TeamName = Annotated[str, typer.Option("--team", metavar="TEAM", help="Name of the team.")]
CardFile = Annotated[
    Path | None,
    typer.Option("--card", metavar="FILE", help="The system card, YAML.", callback=whole_if_named),
]


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
        "--cache-mode",
        show_default=AS_SET,
        help="Use of the reply cache: `live` asks for what is missing, `replay` sends no request, "
        "`record` asks for everything again.",
    ),
]
Transport = Annotated[
    str | None,
    typer.Option(
        "--transport",
        metavar="TRANSPORT",
        show_default=AS_SET,
        help="How requests are sent to the LLM: {judges.llm.transports.registry:described_transports}.",
        callback=known(transport_info),
    ),
]
Rpm = Annotated[
    int | None,
    typer.Option("--rpm", metavar="N", min=1, show_default=AS_SET, help="Most requests a minute."),
]
Tpm = Annotated[
    int | None, typer.Option("--tpm", metavar="N", min=1, show_default=AS_SET, help="Most tokens a minute.")
]
Timeout = Annotated[
    int | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=1,
        show_default=AS_SET,
        help="Longest wait for a reply, in seconds.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
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
        "--engine",
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
        "--workers",
        metavar="N",
        min=1,
        show_default="any number, or one for each processor with Ray",
        help="Most workers that may share the round, with `--queue` or Ray.",
    ),
]
Corpus = Annotated[
    str,
    typer.Option(
        "--corpus",
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
        help="How evidence is found: {judges.retrieval:retrievers_of_evidence}.",
        callback=known(partial(retriever_info, evidence=True)),
    ),
]
Judgments = Annotated[
    Path | None,
    typer.Option(
        "--judgments",
        metavar="FILE",
        help="Judgments of passages by aspect, for `coverage-icat-m`: TREC's diversity qrels (question, "
        "aspect number from 1 or 0 for none, passage, relevance), or JSONL with `question_id`, "
        "`passage_id`, `aspect` (text or number) and `relevance`.",
        callback=whole_if_named,
    ),
]

USUAL = 16
WITH_BATCHES = 10_000


def open_reaching(
    cache_mode: CacheMode | None = None,
    transport: str | None = None,
    rpm: int | None = None,
    tpm: int | None = None,
    timeout: int | None = None,
    engine: EngineKind | None = None,
) -> Arena:
    """Open the arena with the options that were given in place of the environment's settings."""
    overrides = LlmOverrides(cache_mode=cache_mode, transport=transport, rpm=rpm, tpm=tpm, timeout=timeout)
    settings = overrides.over(read_settings())
    return open_arena(settings if engine is None else replace(settings, engine=engine))


@contextmanager
def open_parallel(engine: EngineKind | None, cache_mode: CacheMode | None = None) -> Iterator[Arena]:
    """Open the arena, and let its engine do what takes long until the end of the block."""
    arena = open_reaching(cache_mode, engine=engine)
    with arena.engine.parallel():
        yield arena


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command that needs no arena take `--engine`, and that engine do what takes long in it."""
    signature = inspect.signature(command, eval_str=True)
    extra = inspect.Parameter("engine", inspect.Parameter.KEYWORD_ONLY, annotation=Engine, default=None)

    @wraps(command)
    def taking(*, engine: EngineKind | None, **values: object) -> None:
        with open_parallel(engine):
            command(**values)

    parameters = [*signature.parameters.values(), extra]
    taking.__dict__["__signature__"] = signature.replace(parameters=parameters)
    taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return taking


def in_flight(arena: Arena, asked: int | None) -> int:
    """Return the number of concurrent battles: the option, else the default of the transport."""
    if asked is not None:
        return asked
    return WITH_BATCHES if transport_info(arena.settings.transport).batches else USUAL


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses of options: Typer sees their fields, the command gets the values."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    plain: list[inspect.Parameter] = []
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            options.extend(_options_of(groups[name]))
        else:
            (plain if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else options).append(
                parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY)
            )

    @wraps(command)
    def taking(**values: object) -> None:
        instances = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**values, **instances)

    taking.__dict__["__signature__"] = inspect.Signature([*plain, *options])
    taking.__annotations__ = {parameter.name: parameter.annotation for parameter in (*plain, *options)}
    return taking


def always_json(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command whose result is JSON in any case take `--json` like all others."""
    signature = inspect.signature(command, eval_str=True)
    extra = inspect.Parameter(
        "as_json",
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[
            bool, typer.Option("--json", help="Accepted for uniformity: the result is always JSON.")
        ],
        default=False,
    )

    @wraps(command)
    def taking(**values: object) -> None:
        values.pop(extra.name)
        command(**values)

    parameters = [*signature.parameters.values(), extra]
    taking.__dict__["__signature__"] = signature.replace(parameters=parameters)
    taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return taking


def _options_of(kind: type) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(kind)
    ]


Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone, unless `--yes` is given.

    Raises:
        BadParameter: There is no terminal to ask on.
        Abort: The answer was no.
    """
    if not yes and not sys.stdin.isatty():
        raise typer.BadParameter("This cannot be undone. Add it to go on.", param_hint="--yes")
    if not yes:
        typer.confirm(f"{question} This cannot be undone.", abort=True, err=True)


def only_with(option: str, given: Mapping[str, object]) -> None:
    """Refuse options that belong to another one, which is absent.

    Raises:
        BadParameter: One of them was given.
    """
    for name, value in given.items():
        if value is not None and value is not False and value != "":
            raise typer.BadParameter(f"It goes with {option}.", param_hint=name)
