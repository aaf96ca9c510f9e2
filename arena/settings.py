"""Settings, read from the environment in this module alone.

| variable | meaning | default |
|---|---|---|
| `ARENA_HOME` | folder of the database and the user's own judges and prices | the user data folder |
| `ARENA_DATABASE_URL` | `sqlite:///…` or `postgresql+psycopg://…` | `arena.sqlite` in `ARENA_HOME` |
| `ARENA_MAX_UPLOAD_MB` | largest file of answers, decompressed, in MiB | 200 |
| `OPENAI_BASE_URL` | endpoint of LLM judges whose spec names none | the public OpenAI endpoint |
| `OPENAI_API_KEY` | key of that endpoint | none |
| `ARENA_TRANSPORT` | how LLM requests travel: `openai`, `litellm` or `batch` | `openai` |
| `ARENA_CACHE_MODE` | use of the reply cache: `live`, `replay` or `record` | `live` |
| `ARENA_RPM` | requests a minute at most, for each endpoint and model | no limit |
| `ARENA_TPM` | tokens a minute likewise | no limit |
| `ARENA_TIMEOUT` | longest wait for one reply, in seconds | 120 |
| `ARENA_BATCH_POLL` | seconds between two looks at a batch | 30 |
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
DEFAULT_TIMEOUT = 120
DEFAULT_BATCH_POLL = 30

Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the state lives, how LLMs are reached, and what is let in."""

    home: Path
    database_url: str
    endpoint: str = DEFAULT_ENDPOINT
    api_key: str | None = field(default=None, repr=False)
    max_upload_mb: int = DEFAULT_UPLOAD_MB
    transport: TransportKind = TransportKind.OPENAI
    cache_mode: CacheMode = CacheMode.LIVE
    rpm: int | None = None
    tpm: int | None = None
    timeout: int = DEFAULT_TIMEOUT
    batch_poll: int = DEFAULT_BATCH_POLL

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
        database_url=variables.get("ARENA_DATABASE_URL") or f"sqlite:///{home / 'arena.sqlite'}",
        endpoint=(variables.get("OPENAI_BASE_URL") or DEFAULT_ENDPOINT).rstrip("/"),
        api_key=variables.get("OPENAI_API_KEY") or None,
        max_upload_mb=_whole_number(variables, "ARENA_MAX_UPLOAD_MB") or DEFAULT_UPLOAD_MB,
        transport=_word(variables, "ARENA_TRANSPORT", TransportKind.OPENAI),
        cache_mode=_word(variables, "ARENA_CACHE_MODE", CacheMode.LIVE),
        rpm=_whole_number(variables, "ARENA_RPM"),
        tpm=_whole_number(variables, "ARENA_TPM"),
        timeout=_whole_number(variables, "ARENA_TIMEOUT") or DEFAULT_TIMEOUT,
        batch_poll=_whole_number(variables, "ARENA_BATCH_POLL") or DEFAULT_BATCH_POLL,
    )


def _user_folder() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - rarely needed

    return user_data_path("answer-arena")


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
