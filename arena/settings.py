"""Settings, read from the environment in this module alone.

| variable | meaning | default |
|---|---|---|
| `ARENA_HOME` | folder of the database and the user's own judges and prices | the user data folder |
| `ARENA_DATABASE_URL` | `sqlite:///…` or `postgresql+psycopg://…` | `arena.sqlite` in `ARENA_HOME` |
| `ARENA_MAX_UPLOAD_MB` | largest file of answers, decompressed, in MiB | 200 |
| `ARENA_MAX_ANSWER_CHARS` | longest answer, in characters | 50000 |
| `OPENAI_BASE_URL` | endpoint of LLM judges whose spec names none | the public OpenAI endpoint |
| `OPENAI_API_KEY` | key of that endpoint | none |
| `ARENA_TRANSPORT` | how LLM requests travel: `openai`, `litellm` or `batch` | `openai` |
| `ARENA_CACHE_MODE` | use of the reply cache: `live`, `replay` or `record` | `live` |
| `ARENA_RPM` | requests a minute at most, for each endpoint and model | no limit |
| `ARENA_TPM` | tokens a minute likewise | no limit |
| `ARENA_TIMEOUT` | longest wait for one reply, in seconds | 120 |
| `ARENA_LEASE` | seconds without a sign of life after which a worker counts as dead | 30 |
| `ARENA_BATCH_POLL` | seconds between two looks at a batch | 30 |
| `ARENA_SEARCH_URL` | URL of a web search with `{query}` in it, answering with JSON | none |
| `ARENA_PROCESSES` | processes that score with embedded metrics | the processors there are |
| `ARENA_TRIAL_USD` | whole USD that a dry sample, or a calibration unless told otherwise, may spend | 5 |
| `ARENA_API_RATE` | requests a minute to the API, for each token or address | 600 |
| `ARENA_API_INTAKE_RATE` | uploads, checks and submissions an hour likewise, together | 240 |
| `ARENA_BODY_TIMEOUT` | seconds that the sender of a body may be silent | 30 |
| `ARENA_UPLOADS` | uploads of a team that may wait to be submitted | 20 |
| `ARENA_UPLOAD_HOURS` | hours after which a waiting upload is removed | 24 |
| `ARENA_SERVER` | address of the arena that `arena submissions` talks to | this machine's database |
| `ARENA_TOKEN` | access token for that arena | none |
| `ARENA_LOG_FORMAT` | logs of `serve` and `worker`: `console` or `json` | `console` |
| `ARENA_LOG_LEVEL` | `DEBUG`, `INFO`, `WARNING` or `ERROR` | `INFO` |
| `ARENA_METRICS_TOKEN` | bearer token that `/metrics` asks for | none |

`ARENA_DATABASE_URL`, `OPENAI_API_KEY`, `ARENA_TOKEN` and `ARENA_METRICS_TOKEN` may also be the content of
a file, which the variable with `_FILE` behind its name names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from data.errors import InputError
from judges.llm.settings import CacheMode, TransportKind

DEFAULT_ENDPOINT = "https://api.openai.com/v1"
DEFAULT_UPLOAD_MB = 200
DEFAULT_ANSWER_CHARS = 50_000
DEFAULT_TIMEOUT = 120
DEFAULT_BATCH_POLL = 30
DEFAULT_API_RATE = 600
DEFAULT_INTAKE_RATE = 240
DEFAULT_BODY_TIMEOUT = 30
DEFAULT_UPLOADS = 20
DEFAULT_UPLOAD_HOURS = 24
DEFAULT_LEASE = 30
DEFAULT_TRIAL_USD = 5

Word = TypeVar("Word", bound=StrEnum)


class LogFormat(StrEnum):
    """How logs look."""

    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """The least important events that are logged."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the state lives, how LLMs are reached, and what is let in."""

    home: Path
    database_url: str
    endpoint: str = DEFAULT_ENDPOINT
    api_key: str | None = field(default=None, repr=False)
    max_upload_mb: int = DEFAULT_UPLOAD_MB
    max_answer_chars: int = DEFAULT_ANSWER_CHARS
    transport: TransportKind = TransportKind.OPENAI
    cache_mode: CacheMode = CacheMode.LIVE
    rpm: int | None = None
    tpm: int | None = None
    timeout: int = DEFAULT_TIMEOUT
    batch_poll: int = DEFAULT_BATCH_POLL
    lease: int = DEFAULT_LEASE
    trial_usd: int = DEFAULT_TRIAL_USD
    log_format: LogFormat = LogFormat.CONSOLE
    log_level: LogLevel = LogLevel.INFO
    metrics_token: str | None = field(default=None, repr=False)
    search_url: str = ""
    processes: int | None = None
    api_rate: int = DEFAULT_API_RATE
    intake_rate: int = DEFAULT_INTAKE_RATE
    body_timeout: int = DEFAULT_BODY_TIMEOUT
    uploads: int = DEFAULT_UPLOADS
    upload_hours: int = DEFAULT_UPLOAD_HOURS
    server: str = ""
    token: str | None = field(default=None, repr=False)

    @property
    def uploads_folder(self) -> Path:
        """Where files of answers lie until they are submitted."""
        return self.home / "uploads"

    @property
    def judges_folder(self) -> Path:
        """Where the organiser's own judge specs are looked for."""
        return self.home / "judges"

    @property
    def prices_file(self) -> Path:
        """The organiser's own prices, which win over the bundled ones."""
        return self.home / "prices.toml"


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings.

    Args:
        environment: Variables to read; by default those of the process.

    Raises:
        InputError: A variable has a value that cannot be used.
    """
    variables = os.environ if environment is None else environment  # noqa: TID251 - this is the one place
    home = Path(variables["ARENA_HOME"]).expanduser() if variables.get("ARENA_HOME") else _user_folder()
    home = home.absolute()
    return Settings(
        home=home,
        database_url=_secret(variables, "ARENA_DATABASE_URL", "ARENA_DATABASE_URL_FILE")
        or f"sqlite:///{home / 'arena.sqlite'}",
        endpoint=(variables.get("OPENAI_BASE_URL") or DEFAULT_ENDPOINT).rstrip("/"),
        api_key=_secret(variables, "OPENAI_API_KEY", "OPENAI_API_KEY_FILE"),
        max_upload_mb=_whole_number(variables, "ARENA_MAX_UPLOAD_MB") or DEFAULT_UPLOAD_MB,
        max_answer_chars=_whole_number(variables, "ARENA_MAX_ANSWER_CHARS") or DEFAULT_ANSWER_CHARS,
        transport=_word(variables, "ARENA_TRANSPORT", TransportKind.OPENAI),
        cache_mode=_word(variables, "ARENA_CACHE_MODE", CacheMode.LIVE),
        rpm=_whole_number(variables, "ARENA_RPM"),
        tpm=_whole_number(variables, "ARENA_TPM"),
        timeout=_whole_number(variables, "ARENA_TIMEOUT") or DEFAULT_TIMEOUT,
        log_format=_word(variables, "ARENA_LOG_FORMAT", LogFormat.CONSOLE),
        log_level=_word(variables, "ARENA_LOG_LEVEL", LogLevel.INFO),
        metrics_token=_secret(variables, "ARENA_METRICS_TOKEN", "ARENA_METRICS_TOKEN_FILE"),
        lease=_whole_number(variables, "ARENA_LEASE") or DEFAULT_LEASE,
        trial_usd=_whole_number(variables, "ARENA_TRIAL_USD") or DEFAULT_TRIAL_USD,
        batch_poll=_whole_number(variables, "ARENA_BATCH_POLL") or DEFAULT_BATCH_POLL,
        search_url=variables.get("ARENA_SEARCH_URL") or "",
        processes=_whole_number(variables, "ARENA_PROCESSES"),
        api_rate=_whole_number(variables, "ARENA_API_RATE") or DEFAULT_API_RATE,
        intake_rate=_whole_number(variables, "ARENA_API_INTAKE_RATE") or DEFAULT_INTAKE_RATE,
        body_timeout=_whole_number(variables, "ARENA_BODY_TIMEOUT") or DEFAULT_BODY_TIMEOUT,
        uploads=_whole_number(variables, "ARENA_UPLOADS") or DEFAULT_UPLOADS,
        upload_hours=_whole_number(variables, "ARENA_UPLOAD_HOURS") or DEFAULT_UPLOAD_HOURS,
        server=variables.get("ARENA_SERVER") or "",
        token=_secret(variables, "ARENA_TOKEN", "ARENA_TOKEN_FILE"),
    )


def _user_folder() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - rarely needed

    return user_data_path("answer-arena")


def _secret(variables: Mapping[str, str], name: str, file: str) -> str | None:
    """A value, or the content of the file that a variable names; the value goes first."""
    if variables.get(name):
        return variables[name]
    path = variables.get(file)
    if not path:
        return None
    try:
        content = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        advice = "Let it name a text file that this user can read, or unset it."
        raise InputError(f"{file} names {path}, which cannot be read.", advice=advice) from error
    if not content:
        raise InputError(f"{file} names {path}, which is empty.", advice="Write the value into it.")
    return content


def _whole_number(variables: Mapping[str, str], name: str) -> int | None:
    text = variables.get(name)
    if not text:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"{name} is {text!r}.", advice="Set it to a whole number above 0, or unset it.")
    return int(text)


def _word(variables: Mapping[str, str], name: str, default: Word) -> Word:
    text = variables.get(name)
    if not text:
        return default
    kind = type(default)
    if text not in list(kind):
        raise InputError(f"{name} is {text!r}.", advice=f"Set it to {' or '.join(kind)}, or unset it.")
    return kind(text)


def child_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that this one starts, with some variables more."""
    return {**os.environ, **variables}  # noqa: TID251 - this is the one place
