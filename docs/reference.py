"""Writes what the documentation takes from the code: commands, settings and errors.

    python docs/reference.py

Each part stands in its page between two marker comments; what is outside of them is written by hand.
`tests/test_docs.py` compares the pages with `pages()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import typer

from arena.api.errors import OWN_TITLES, STATUSES, TITLES
from arena.cli.commands import build
from arena.settings import Settings
from data import errors as tree
from data.errors import ArenaError

DOCS = Path(__file__).parent
EXTRA = re.compile(r"(.*?)(?:  \[(.*)\])?", re.DOTALL)
RANGE = re.compile(r"(?:([\d.]+)<=)?x([<>]=)([\d.]+)")
PAGE = re.compile(r"\bdocs/([a-z-]+)\.md")
COMMANDS = 3
"""The level of the headings of commands; those of a group within a group are one lower."""

Command = Any
"""A command or an option of Typer, which bundles their classes without public names."""


class Variable(NamedTuple):
    """A variable of the environment, as the documentation shows it.

    `field` is the field of `Settings`, empty where the variable names a file. `default` says in words what
    holds where the variable is unset; empty where the field's default says it.
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
    Variable(
        "ARENA_DATABASE_URL_FILE", "", "file that contains `ARENA_DATABASE_URL`, read where that is unset"
    ),
    Variable(
        "ARENA_MAX_ANSWER_CHARS", "max_answer_chars", "longest answer, in characters; a set may allow less"
    ),
    Variable("ARENA_MAX_UPLOAD_MB", "max_upload_mb", "largest file of answers, decompressed, in MiB"),
    Variable(
        "OPENAI_BASE_URL",
        "endpoint",
        "endpoint of LLM judges whose spec names none",
        "the public OpenAI endpoint",
    ),
    Variable("OPENAI_API_KEY", "api_key", "key of that endpoint"),
    Variable("OPENAI_API_KEY_FILE", "", "file that contains `OPENAI_API_KEY`, read where that is unset"),
    Variable(
        "ARENA_TRANSPORT",
        "transport",
        "how requests are sent to LLMs: `openai`, `direct` (the same without OpenAI's client), `litellm` or "
        "`batch`",
    ),
    Variable("ARENA_CACHE_MODE", "cache_mode", "use of the reply cache: `live`, `replay` or `record`"),
    Variable("ARENA_RPM", "rpm", "most requests a minute, for each endpoint and model", "no limit"),
    Variable("ARENA_TPM", "tpm", "most tokens a minute, for each endpoint and model", "no limit"),
    Variable("ARENA_TIMEOUT", "timeout", "longest wait for one reply, in seconds"),
    Variable("ARENA_BATCH_POLL", "batch_poll", "seconds between two queries of a batch's state"),
    Variable(
        "ARENA_SEARCH_URL",
        "search_url",
        "URL of a web search with `{query}` in it (and `{count}`, where it takes one), which returns JSON as "
        "[SearXNG](https://docs.searxng.org/dev/search_api.html) does: "
        "`http://localhost:8080/search?q={query}&format=json`",
    ),
    Variable(
        "ARENA_PAGE_HOSTS",
        "page_hosts",
        "whose pages `arena retrieve --page-text` fetches: `public`, where every address of a host is "
        "public, or `any`, an intranet's too",
    ),
    Variable(
        "ARENA_NOTIFY_HOSTS",
        "notify_hosts",
        "which hosts are notified: `public`, where every address of a host is public, or `any`, an "
        "intranet's too, also without TLS",
    ),
    Variable(
        "ARENA_ENGINE",
        "engine",
        "where long work is done: `local`, in processes of this machine, or `ray`, on a cluster",
    ),
    Variable(
        "ARENA_PROCESSES",
        "processes",
        "processes that long work takes on this machine",
        "one for each processor",
    ),
    Variable(
        "ARENA_TRIAL_USD",
        "trial_usd",
        "most whole USD for a dry sample in the browser, and for a calibration there unless its form has "
        "another amount",
    ),
    Variable("ARENA_API_RATE", "api_rate", "most requests a minute to the API, for each token or address"),
    Variable(
        "ARENA_API_INTAKE_RATE",
        "intake_rate",
        "most uploads, checks and submissions an hour together, for each token or address",
    ),
    Variable("ARENA_BODY_TIMEOUT", "body_timeout", "seconds after which a silent upload is cut off"),
    Variable("ARENA_UPLOADS", "uploads", "most uploads of a team that wait to be submitted"),
    Variable("ARENA_UPLOAD_HOURS", "upload_hours", "hours after which a waiting upload is removed"),
    Variable(
        "ARENA_REGISTRATION",
        "registration",
        "how people may apply for a team: `off`, `mail`, or `oidc` for who signs in by a provider",
    ),
    Variable(
        "ARENA_SMTP_URL",
        "smtp_url",
        "mail server for applications by mail: `smtps://USER:PASSWORD@HOST`, or `smtp://HOST:PORT`, which "
        "is encrypted where the server offers STARTTLS",
    ),
    Variable("ARENA_SMTP_URL_FILE", "", "file that contains `ARENA_SMTP_URL`, read where that is unset"),
    Variable("ARENA_MAIL_FROM", "mail_from", "address that mail to applicants comes from"),
    Variable("ARENA_OPERATOR", "operator", "who runs the arena, for the page *About*"),
    Variable(
        "ARENA_CONTACT", "contact", "how readers reach them: a mail address, an `https://` address, or a text"
    ),
    Variable(
        "ARENA_PRIVACY",
        "privacy",
        "what the page *About* adds on privacy: a text, or the `https://` address of a privacy notice",
    ),
    Variable("ARENA_DOCS_URL", "docs_url", "address where this documentation is published for readers"),
    Variable(
        "ARENA_SERVER",
        "server",
        "address of the arena that `arena submissions` uses, by its API",
        "this machine's database",
    ),
    Variable("ARENA_TOKEN", "token", "access token for that arena"),
    Variable("ARENA_TOKEN_FILE", "", "file that contains `ARENA_TOKEN`, read where that is unset"),
    Variable(
        "ARENA_WORK_SECONDS",
        "work_seconds",
        "most seconds of a processor for work on one answer, reply, system card, or 5 MiB of a file; by the "
        "clock six times as many",
    ),
    Variable(
        "ARENA_LEASE", "lease", "seconds without a sign of activity after which a worker counts as dead"
    ),
    Variable(
        "ARENA_LOG_FORMAT", "log_format", "format of the logs of `serve` and `worker`: `console` or `json`"
    ),
    Variable("ARENA_LOG_LEVEL", "log_level", "`DEBUG`, `INFO`, `WARNING` or `ERROR`"),
    Variable("ARENA_METRICS_TOKEN", "metrics_token", "bearer token that `/metrics` requires"),
    Variable(
        "ARENA_METRICS_TOKEN_FILE", "", "file that contains `ARENA_METRICS_TOKEN`, read where that is unset"
    ),
    Variable(
        "ARENA_METRICS",
        "metrics_access",
        "`token`: `/metrics` requires that token, and nobody can read it where none is set; `open`: anybody "
        "can read it",
    ),
    Variable(
        "ARENA_TRACES",
        "traces",
        "`otlp`: what is judged is sent as OpenTelemetry traces, where `OTEL_EXPORTER_OTLP_ENDPOINT` says; "
        "`off`: nothing is",
    ),
    Variable(
        "ARENA_PUBLIC_URL",
        "public_url",
        "address under which readers reach the site, as `https://arena.example.org`; its host is served, and "
        "shared links, `/sitemap.xml` and `/robots.txt` begin with it",
        "that of each request",
    ),
    Variable(
        "ARENA_HOSTS",
        "hosts",
        "further host names under which the site is served, without ports, separated by commas",
    ),
    Variable(
        "ARENA_FRAMERS",
        "framers",
        "origins of other sites that may show its pages in a frame, separated by commas: "
        "`https://lab.example.org`",
    ),
)
"""All variables that are read, in the order of the documentation."""


def pages() -> Mapping[Path, str]:
    """The text that each page must have."""
    parts: Mapping[str, tuple[str, Callable[[], Iterator[str]]]] = {
        "cli.md": ("commands", commands),
        "operations.md": ("settings", settings),
        "errors.md": ("errors", lambda: errors(ArenaError)),
    }
    return {
        DOCS / page: filled((DOCS / page).read_text(encoding="utf-8"), name, "\n".join(lines()))
        for page, (name, lines) in parts.items()
    }


def filled(text: str, name: str, body: str) -> str:
    """A page with a new text between the two marker comments of a part.

    Raises:
        ValueError: The page lacks a marker.
    """
    begin, end = f"<!-- {name}: written by `make reference` -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"The page of the {name} lacks {begin!r} or {end!r}.")
    return pattern.sub(lambda _: f"{begin}\n\n{body.strip()}\n\n{end}", text)


def commands() -> Iterator[str]:
    """The commands as `--help` describes them, those without a group first."""
    root: Command = typer.main.get_command(build())
    context = typer.Context(root, info_name="arena")
    yield from ["## `arena`", "", linked(root.help), "", *options(root, context), ""]
    yield from _below(root, context, level=2)


def _below(group: Command, context: typer.Context, *, level: int) -> Iterator[str]:
    """The commands of a group, then its groups."""
    for name, command in sorted(group.commands.items(), key=lambda item: hasattr(item[1], "commands")):
        inner = typer.Context(command, info_name=name, parent=context)
        is_group = hasattr(command, "commands")
        title = context.command_path + " " + " ".join([name, *([] if is_group else required(command, inner))])
        depth = level if is_group else max(level, COMMANDS)
        yield from [f"{'#' * depth} `{title}`", "", linked(command.help), ""]
        if is_group:
            yield from _below(command, inner, level=level + 1)
        else:
            yield from [*options(command, inner), ""]


def required(command: Command, context: typer.Context) -> list[str]:
    """What a command cannot do without, and its arguments, as its heading shows them."""
    shown = []
    for parameter in command.params:
        name = plain(parameter.get_help_record(context)[0])
        if parameter.param_type_name == "argument":
            shown.append(name if parameter.required else f"[{name}]")
        elif parameter.required and not parameter.secondary_opts:
            shown.append(f"{parameter.opts[0]} {parameter.name.upper()}" if "|" in name else name)
    return shown


def options(command: Command, context: typer.Context) -> Iterator[str]:
    """The arguments and options of a command, an item of a list each."""
    for parameter in command.params:
        names, text = parameter.get_help_record(context)
        help_, extra = EXTRA.fullmatch(text).groups()  # type: ignore[union-attr]  # takes every text
        alternatives = ", ".join(f"`{plain(name)}`" for name in names.split(" / "))
        notes = (_note(one) for one in (extra or "").split("; ") if one)
        yield f"- {alternatives}: {' '.join([linked(help_), *notes])}"


def plain(name: str) -> str:
    """An option and its values, `--order both|random` for `--order <both|random>`, or an argument's name."""
    bare = name if name.startswith("-") else name.partition(" ")[0]
    return bare.replace("<", "").replace(">", "")


def _note(extra: str) -> str:
    """What `--help` puts into brackets behind an option, as a sentence."""
    name, _, value = extra.partition(": ")
    if name == "default":
        return f"Default: {value.removeprefix('(').removesuffix(')')}."
    if matched := RANGE.fullmatch(extra):
        lower, sign, bound = matched.groups()
        bound = f"{int(float(bound)):,}"
        return f"From {lower} to {bound}." if lower else f"At {'least' if sign == '>=' else 'most'} {bound}."
    return f"{extra.capitalize()}."


def linked(text: str) -> str:
    """A text of the help whose names of pages are links."""
    return PAGE.sub(r"[\1](\1.md)", text)


def settings() -> Iterator[str]:
    """The table of the variables that are settings."""
    yield from ["| variable | meaning | default |", "|---|---|---|"]
    for variable in VARIABLES:
        yield f"| `{variable.name}` | {linked(variable.meaning)} | {default_of(variable)} |"


def default_of(variable: Variable) -> str:
    """The default of a setting: in words where the variable has them, else that of its field."""
    if variable.default:
        return variable.default
    value = next((field.default for field in fields(Settings) if field.name == variable.field), None)
    return f"`{value.value}`" if isinstance(value, Enum) else str(value or "none")


def errors(kind: type[ArenaError], depth: int = 0) -> Iterator[str]:
    """The tree of errors below a class, an item of a list each."""
    status = next((code for above, code in STATUSES if issubclass(kind, above)), 500)
    title = next((title for above, title in OWN_TITLES if issubclass(kind, above)), TITLES[status])
    sentence = (kind.__doc__ or "").partition("\n")[0]
    yield f"{'    ' * depth}- `{kind.__name__}` ({status}, *{title}*): {sentence}"
    for below in kind.__subclasses__():
        if below.__module__ == tree.__name__:
            yield from errors(below, depth + 1)


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
