"""The variables of the environment that are settings, with what each means."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import NamedTuple

from arena.settings import Settings
from judges.llm.transports.registry import described_transports


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
    Variable("OPENAI_ORG_ID", "", "organisation, which the transport `openai` alone sends: then the default"),
    Variable("OPENAI_PROJECT_ID", "", "project, likewise"),
    Variable("OPENAI_CUSTOM_HEADERS", "", "further headers, likewise"),
    Variable(
        "ARENA_TRANSPORT",
        "transport",
        f"how requests are sent to LLMs: {described_transports()}",
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
        "ARENA_NOTIFY",
        "notify",
        "[apprise address](https://github.com/caronc/apprise/wiki) that gets a message when a round is "
        "finished, a cap is reached or a submission is accepted",
    ),
    Variable("ARENA_NOTIFY_FILE", "", "file that contains `ARENA_NOTIFY`, read where that is unset"),
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
    Variable("ARENA_API_RATE", "api_rate", "most requests a minute to the API, for each token or address"),
    Variable(
        "ARENA_API_INTAKE_RATE",
        "intake_rate",
        "most uploads, checks and submissions an hour together, for each token or address",
    ),
    Variable("ARENA_BODY_TIMEOUT", "body_timeout", "seconds after which a silent upload is cut off"),
    Variable("ARENA_OPERATOR", "operator", "who runs the arena, for the page *About*"),
    Variable(
        "ARENA_PROXIES",
        "proxies",
        "addresses and networks of the reverse proxies in front, such as `10.0.0.0/8`, besides this machine: "
        "whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed ([behind a proxy](#behind-a-proxy))",
    ),
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
    Variable(
        "ARENA_LOG_LEVEL",
        "log_level",
        "`DEBUG`, `INFO`, `WARNING` or `ERROR`; where it is set, other commands log too",
        "INFO for `serve` and `worker`",
    ),
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
"""All variables that are read, in the order of the documentation."""


def default_of(variable: Variable) -> str:
    """Return the default of a setting: in words where the variable has them, else that of its field."""
    if variable.default:
        return variable.default
    value = next((field.default for field in fields(Settings) if field.name == variable.field), None)
    return f"`{value.value}`" if isinstance(value, Enum) else str(value or "none")
