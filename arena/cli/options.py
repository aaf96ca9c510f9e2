"""Options that several commands share."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from arena.container import Arena, open_arena
from arena.services.judging.llm_overrides import LlmOverrides
from arena.settings import EngineKind, read_settings
from judges.llm.settings import CacheMode, TransportKind
from judges.metrics.registry import RetrieverKind

LARGEST_NUMBER = 2**31 - 1
"""Of a row, on both engines."""
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SetName = Annotated[str, typer.Option("--set", metavar="SET", help="Name of the question set.")]
JudgeName = Annotated[
    str, typer.Option("--judge", metavar="JUDGE", help="Name of a judge, or the path of its spec.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Seed of all random choices.")]
AS_SET = "as the settings say"
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        show_default=AS_SET,
        help="Address of another machine's arena, reached by its API (docs/api.md).",
    ),
]
TokenText = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        show_default=AS_SET,
        help="Access token for that arena; better set in `ARENA_TOKEN`.",
    ),
]
Pairs = Annotated[
    str,
    typer.Option("--pairs", metavar="PAIRS", help="`reference`, `reference,complete:K`, or `all`."),
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
StopWhenText = Annotated[
    str | None,
    typer.Option(
        "--stop-when",
        metavar="separated[:A,B]",
        show_default="judge everything",
        help="Stop once the leader is separated from every other system, or once A and B are; wrong in at "
        "most 5 % of rounds, however often it looks.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option("--budget-usd", metavar="X", min=0.0, help="The most that the command may spend."),
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="A constant of the metric; repeatable."),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
SystemName = Annotated[str, typer.Option("--system", metavar="SYSTEM", help="Name of the system.")]
TeamName = Annotated[str, typer.Option("--team", metavar="TEAM", help="Name of the team.")]
CardFile = Annotated[Path | None, typer.Option("--card", metavar="FILE", help="The system card, YAML.")]


def constant(text: str) -> tuple[str, Any]:
    """NAME=VALUE; the value is JSON where it can be read as such, else text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--option")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value


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
    TransportKind | None,
    typer.Option(
        "--transport",
        show_default=AS_SET,
        help="How requests are sent to the LLM: `direct` has the least overhead, `batch` costs half.",
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
    RetrieverKind,
    typer.Option(
        "--retriever",
        help="How evidence is found: by words, by vectors (after `arena corpora embed`), or by the web "
        "search of `ARENA_SEARCH_URL` in place of a corpus.",
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
    ),
]

USUAL = 16
WITH_BATCHES = 10_000


def open_reaching(
    cache_mode: CacheMode | None = None,
    transport: TransportKind | None = None,
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
def open_spreading(engine: EngineKind | None) -> Iterator[Arena]:
    """Open the arena, and let its engine do what takes long until the end of the block."""
    arena = open_reaching(engine=engine)
    with arena.engine.spreading():
        yield arena


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command that needs no arena take `--engine`, and that engine do what takes long in it."""
    signature = inspect.signature(command, eval_str=True)
    extra = inspect.Parameter("engine", inspect.Parameter.KEYWORD_ONLY, annotation=Engine, default=None)

    @wraps(command)
    def taking(**values: Any) -> None:  # noqa: ANN401 - the options of any command
        with open_spreading(values.pop(extra.name)):
            command(**values)

    parameters = [*signature.parameters.values(), extra]
    taking.__dict__["__signature__"] = signature.replace(parameters=parameters)
    taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return taking


def in_flight(arena: Arena, asked: int | None) -> int:
    """How many battles may be in flight: what was asked for, else what suits the transport."""
    if asked is not None:
        return asked
    return WITH_BATCHES if arena.settings.transport is TransportKind.BATCH else USUAL


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
