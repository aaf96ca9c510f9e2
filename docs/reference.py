"""Hook of the documentation site that generates commands, settings, errors and endpoints from the code.

They exist only in the built site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, NamedTuple

import typer
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from arena.api.app import ROUTERS, operations, router
from arena.api.errors import OWN_TITLES, STATUSES, TITLES
from arena.cli.commands import command as arena_command
from arena.settings import Settings
from data import errors as tree
from data.errors import ArenaError
from data.files.tables.columns import NAMES
from judges.llm.transports.registry import described_transports
from tests.providers.server import table

EXTRA = re.compile(r"(.*?)(?:  \[(.*)\])?", re.DOTALL)
EXAMPLE = re.compile(r"^\$ (arena .+)\n*", re.MULTILINE)
RANGE = re.compile(r"(?:([\d.]+)<=)?x([<>]=)([\d.]+)")
PAGE = re.compile(r"\bdocs/([a-z-]+)\.md")
COMMANDS = 3
"""Level of the headings of commands; in nested groups one lower."""

COMMANDS_PAGE = """\
# Commands

`arena NOUN VERB`; `arena NOUN VERB --help` says the same as this page. In a checkout the command is
`.venv/bin/arena`, made by `make demo` or `make test`.

- Results go to stdout, progress and warnings to stderr. `--json` prints a result as one JSON document.
- A command that takes more than two seconds shows its progress, its speed and the time left: as a bar on
  a terminal, else as a line every five seconds. Of more than five problems of one kind three are printed,
  with the number of the others; `arena submissions check --json` lists all.
- Exit codes: 0 success; 1 an [error](errors.md) that you can correct, printed as one line on stderr after
  the problems of the file, if it is about one, or a round that was stopped before its end; 2 an unknown
  command or option.
- A judge is a bundled name, a name in the judges folder, or the path of a `.toml` file
  ([judges](judges.md)).
- A list may be given with commas (`A,B`). An option that is *repeatable* may be given several times.
- Commands use the database of `ARENA_DATABASE_URL` and the files of `ARENA_HOME`
  ([settings](settings.md)).
"""
SETTINGS_PAGE = """\
# Settings

Settings are variables of the environment; only `arena/settings.py` reads them. The user data folder is
`~/.local/share/answer-arena` on Linux, `~/Library/Application Support/answer-arena` on macOS and
`AppData\\Local\\answer-arena\\answer-arena` on Windows. A variable that is set and empty counts as unset.
The key is sent to every endpoint that a judge uses, and never stored or shown.
"""
ERRORS_PAGE = """\
# Errors

Every error that the program raises on purpose is an `ArenaError`. Its message
says what happened and where, its `advice` how to fix it.

- A command prints it as one line on stderr and exits with 1.
- The [API](api.md) answers with `application/problem+json` and the HTTP status below. An error with
  status 500 is logged under an id, and the answer contains only that id; one with 503 is logged, and the
  answer asks to try again.
- In Python, catch the class, or one above it, from `answer_arena.data.errors`.

## The tree

Each class with the status and title of its problem, below the class that it belongs to.
"""
ROUTES_PAGE = """\
# Routes of the API

All routes under `/api/v1`, from the OpenAPI document; [the API](api.md) explains their use.
✓: takes a token, which is required unless the object is public.

| route | token | what | query |
|---|---|---|---|
"""
MODES_PAGE = """\
# Endpoints, mode by mode

Behaviour of each mode of a scripted server, and the required outcome of a battle ([endpoints](providers.md)).
"""


class Variable(NamedTuple):
    """Environment variable in the documentation.

    `field` is the field of `Settings`, empty if the variable names a file. `default` describes the default if
    the field's own default does not.
    """

    name: str
    field: str
    meaning: str
    default: str = ""


VARIABLES = (
    Variable("ARENA_HOME", "home", "folder of the database, your judges and prices", "the user data folder"),
    Variable(
        "ARENA_DATABASE_URL",
        "database_url",
        "`sqlite:///…` or `postgresql+psycopg://…` (`postgres://…` is the same)",
        "`arena.sqlite` in `ARENA_HOME`",
    ),
    Variable("ARENA_DATABASE_URL_FILE", "", "file that contains `ARENA_DATABASE_URL`, read if that is unset"),
    Variable(
        "ARENA_MAX_ANSWER_CHARS", "max_answer_chars", "longest answer, in characters; a set may allow less"
    ),
    Variable("ARENA_MAX_UPLOAD_MB", "max_upload_mb", "largest answer file, decompressed, in MiB"),
    Variable(
        "OPENAI_BASE_URL",
        "endpoint",
        "endpoint of LLM judges whose spec has none",
        "the public OpenAI endpoint",
    ),
    Variable("OPENAI_API_KEY", "api_key", "key of that endpoint"),
    Variable("OPENAI_API_KEY_FILE", "", "file that contains `OPENAI_API_KEY`, read if that is unset"),
    Variable("OPENAI_ORG_ID", "", "organisation, sent only by the transport `openai`: then the default"),
    Variable("OPENAI_PROJECT_ID", "", "project, likewise"),
    Variable("OPENAI_CUSTOM_HEADERS", "", "further headers, likewise"),
    Variable("ARENA_TRANSPORT", "transport", f"how requests are sent to LLMs: {described_transports()}"),
    Variable("ARENA_CACHE_MODE", "cache_mode", "use of the reply cache: `live`, `replay` or `record`"),
    Variable("ARENA_RPM", "rpm", "maximum requests per minute, endpoint and model", "no limit"),
    Variable("ARENA_TPM", "tpm", "maximum tokens per minute, endpoint and model", "no limit"),
    Variable("ARENA_TIMEOUT", "timeout", "maximum wait for a reply, in seconds"),
    Variable("ARENA_BATCH_POLL", "batch_poll", "seconds between two queries of a batch's state"),
    Variable(
        "ARENA_SEARCH_URL",
        "search_url",
        "URL of a web search with `{query}` in it (and optionally `{count}`), which returns JSON as "
        "[SearXNG](https://docs.searxng.org/dev/search_api.html) does: "
        "`http://localhost:8080/search?q={query}&format=json`",
    ),
    Variable(
        "ARENA_NOTIFY",
        "notify",
        "[apprise address](https://github.com/caronc/apprise/wiki) that gets a message when a round is "
        "finished, a cap is reached or a submission is accepted",
    ),
    Variable("ARENA_NOTIFY_FILE", "", "file that contains `ARENA_NOTIFY`, read if that is unset"),
    Variable(
        "ARENA_ENGINE",
        "engine",
        "where long tasks run: `local`, in processes of this machine, or `ray`, on a cluster",
    ),
    Variable("ARENA_PROCESSES", "processes", "processes for long tasks on this machine", "one per processor"),
    Variable("ARENA_API_RATE", "api_rate", "maximum API requests per minute, for each token or address"),
    Variable(
        "ARENA_API_INTAKE_RATE",
        "intake_rate",
        "maximum uploads, checks and submissions per hour in total, for each token or address",
    ),
    Variable("ARENA_BODY_TIMEOUT", "body_timeout", "seconds after which a stalled upload is aborted"),
    Variable("ARENA_OPERATOR", "operator", "name of the arena's operator, for the page *About*"),
    Variable(
        "ARENA_PROXIES",
        "proxies",
        "addresses and networks of reverse proxies, such as `10.0.0.0/8`, whose `X-Forwarded-For` and "
        "`X-Forwarded-Proto` are trusted besides this machine's ([behind a proxy](#behind-a-proxy))",
    ),
    Variable(
        "ARENA_CONTACT",
        "contact",
        "the operator's contact: an e-mail address, an `https://` address, or a text",
    ),
    Variable(
        "ARENA_PRIVACY",
        "privacy",
        "privacy notice on the page *About*: a text, or the `https://` address of a privacy notice",
    ),
    Variable("ARENA_DOCS_URL", "docs_url", "address where this documentation is published for readers"),
    Variable(
        "ARENA_WORK_SECONDS",
        "work_seconds",
        "maximum CPU seconds for one answer, reply, system card, or 5 MiB of a file; the wall-clock "
        "limit is six times as long",
    ),
    Variable("ARENA_LEASE", "lease", "seconds without a heartbeat after which a worker counts as dead"),
    Variable(
        "ARENA_LOG_FORMAT", "log_format", "format of the logs of `serve` and `worker`: `console` or `json`"
    ),
    Variable(
        "ARENA_LOG_LEVEL",
        "log_level",
        "`DEBUG`, `INFO`, `WARNING` or `ERROR`; if it is set, other commands log too",
        "INFO for `serve` and `worker`",
    ),
    Variable("ARENA_METRICS_TOKEN", "metrics_token", "bearer token that `/metrics` requires"),
    Variable(
        "ARENA_METRICS_TOKEN_FILE", "", "file that contains `ARENA_METRICS_TOKEN`, read if that is unset"
    ),
    Variable(
        "ARENA_METRICS",
        "metrics_access",
        "`token`: `/metrics` requires that token; without one, it cannot be read; `open`: anyone can read it",
    ),
    Variable(
        "ARENA_PUBLIC_URL",
        "public_url",
        "address under which readers reach the site, as `https://arena.example.org`; its host is served, and "
        "shared links begin with it",
        "that of each request",
    ),
    Variable(
        "ARENA_HOSTS",
        "hosts",
        "further host names under which the site is served, without ports, separated by commas",
    ),
    Variable(
        "ARENA_PLUGINS",
        "plugins",
        "Python files that [extend the arena](extending.md), separated as in `PATH`",
    ),
    Variable(
        "ARENA_FRAMERS",
        "framers",
        "origins of other sites that may show its pages in a frame, separated by commas: "
        "`https://lab.example.org`",
    ),
)
"""All variables in the order of the documentation."""

Command = Any
"""A Typer command or option; Typer's classes for them have no public names."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site with the generated pages."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def pages() -> Mapping[str, str]:
    """Return the text of each generated page, by name."""
    parts: Mapping[str, tuple[str, Iterator[str]]] = {
        "cli.md": (COMMANDS_PAGE, commands()),
        "settings.md": (SETTINGS_PAGE, settings()),
        "errors.md": (ERRORS_PAGE, errors(ArenaError)),
        "api-routes.md": (ROUTES_PAGE.rstrip(), routes()),
        "provider-modes.md": (MODES_PAGE, iter([table()])),
    }
    return {name: "\n".join([begin, *lines, ""]) for name, (begin, lines) in parts.items()}


def routes() -> Iterator[str]:
    """Yield the routes of the API as lines of a table."""
    app = FastAPI()
    for each in (router, *ROUTERS):
        app.include_router(each)
    document = get_openapi(title="", version="1", routes=app.routes)
    for method, path, operation in operations(document):
        query = ", ".join(
            f"`{parameter['name']}`"
            for parameter in operation.get("parameters", ())
            if parameter["in"] == "query"
        )
        what = " ".join(operation["description"].split())
        yield f"| `{method} {path}` | {'✓' if operation.get('security') else ''} | {what} | {query} |"


def columns() -> Iterator[str]:
    """Yield the names of each column of a table."""
    yield from ["| column | is also called |", "|---|---|"]
    for column, names in NAMES.items():
        yield f"| `{column}` | {', '.join(f'`{name}`' for name in names if name != column)} |"


def commands() -> Iterator[str]:
    """Yield the commands as in `--help`, those without a group first."""
    root: Command = arena_command()
    context = typer.Context(root, info_name="arena")
    yield from ["## `arena`", "", linked(root.help), "", *options(root, context), ""]
    yield from _below(root, context, level=2)


def _below(group: Command, context: typer.Context, *, level: int) -> Iterator[str]:
    """Yield the commands of a group, then its groups."""
    below = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    for name, command in sorted(below, key=lambda item: hasattr(item[1], "commands")):
        inner = typer.Context(command, info_name=name, parent=context)
        is_group = hasattr(command, "commands")
        title = context.command_path + " " + " ".join([name, *([] if is_group else required(command, inner))])
        depth = level if is_group else max(level, COMMANDS)
        yield from [f"{'#' * depth} `{title}`", "", *_described(command.help), ""]
        if is_group:
            yield from _below(command, inner, level=level + 1)
        else:
            yield from [*options(command, inner), ""]


def _described(text: str) -> Iterator[str]:
    """Yield the help of a command: its examples as a code block, then the rest."""
    if examples := EXAMPLE.findall(text):
        yield from ["```bash", *examples, "```", ""]
    yield linked(EXAMPLE.sub("", text))


def required(command: Command, context: typer.Context) -> list[str]:
    """Return the required options and arguments of a command, for its heading."""
    names = []
    for parameter in command.params:
        name = plain(parameter.get_help_record(context)[0])
        if parameter.param_type_name == "argument":
            names.append(name if parameter.required else f"[{name}]")
        elif parameter.required and not parameter.secondary_opts:
            names.append(f"{parameter.opts[0]} {parameter.name.upper()}" if "|" in name else name)
    return names


def options(command: Command, context: typer.Context) -> Iterator[str]:
    """Yield the arguments and options of a command as list items."""
    for parameter in command.params:
        names, text = parameter.get_help_record(context)
        help_, extra = EXTRA.fullmatch(text).groups()  # type: ignore[union-attr]  # takes every text
        alternatives = ", ".join(f"`{plain(name)}`" for name in names.split(" / "))
        notes = (_note(part) for part in (extra or "").split("; ") if part)
        yield f"- {alternatives}: {' '.join([linked(help_), *notes])}"


def plain(name: str) -> str:
    """Return an option and its values (`--order both|random`), or an argument's name."""
    bare = name if name.startswith("-") else name.partition(" ")[0]
    return bare.replace("<", "").replace(">", "")


def _note(extra: str) -> str:
    """Return the bracketed notes of an option's help as a sentence."""
    name, _, value = extra.partition(": ")
    if name == "default":
        return f"Default: {value.removeprefix('(').removesuffix(')')}."
    if matched := RANGE.fullmatch(extra):
        lower, sign, bound = matched.groups()
        bound = f"{int(float(bound)):,}"
        return f"From {lower} to {bound}." if lower else f"At {'least' if sign == '>=' else 'most'} {bound}."
    return f"{extra.capitalize()}."


def linked(text: str) -> str:
    """Return a help text with links to the pages that it names."""
    return PAGE.sub(r"[\1](\1.md)", text)


def settings() -> Iterator[str]:
    """Yield the table of settings."""
    yield from ["| variable | meaning | default |", "|---|---|---|"]
    for variable in VARIABLES:
        yield f"| `{variable.name}` | {linked(variable.meaning)} | {default_of(variable)} |"


def default_of(variable: Variable) -> str:
    """Return the default of a setting, from the variable or from its field."""
    if variable.default:
        return variable.default
    value = next((field.default for field in fields(Settings) if field.name == variable.field), None)
    return f"`{value.value}`" if isinstance(value, Enum) else str(value or "none")


def errors(kind: type[ArenaError], depth: int = 0) -> Iterator[str]:
    """Yield the tree of errors below a class as list items."""
    status = next((code for above, code in STATUSES if issubclass(kind, above)), 500)
    title = next((title for above, title in OWN_TITLES if issubclass(kind, above)), TITLES[status])
    sentence = (kind.__doc__ or "").partition("\n")[0]
    yield f"{'    ' * depth}- `{kind.__name__}` ({status}, *{title}*): {sentence}"
    for below in kind.__subclasses__():
        if below.__module__ == tree.__name__:
            yield from errors(below, depth + 1)
