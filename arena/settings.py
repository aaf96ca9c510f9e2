"""Settings; the only module that reads the environment. docs/reference.py describes each."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from data.errors import InputError
from judges.llm.settings import DIRECT, OPENAI, CacheMode
from judges.llm.transports.registry import transport_info

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
HOST_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
FRAMER = re.compile(r"https?://(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")

PLUGINS = "ARENA_PLUGINS"

Variables = Mapping[str, str]
Reader = Callable[[Variables, str], object]
"""Reads a variable, or None if unset; raises `InputError` for invalid values."""


class LogFormat(StrEnum):
    """Format of logs."""

    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """Minimum level of logged events."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class MetricsAccess(StrEnum):
    """Access to `/metrics`."""

    TOKEN = "token"  # noqa: S105 - no secret
    OPEN = "open"


class EngineKind(StrEnum):
    """Engine for long tasks."""

    LOCAL = "local"
    RAY = "ray"


def _text(variables: Variables, name: str) -> str | None:
    return variables.get(name) or None


def _base_url(variables: Variables, name: str) -> str | None:
    return (variables.get(name) or "").rstrip("/") or None


def _secret(variables: Variables, name: str) -> str | None:
    """Read a value, or the file that the variable with `_FILE` names."""
    path = variables.get(f"{name}_FILE")
    if variables.get(name) or not path:
        return variables.get(name) or None
    try:
        content = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        advice = "Set it to a readable text file, or unset it."
        raise InputError(f"{name}_FILE names {path}, which cannot be read.", advice=advice) from error
    if not content:
        raise InputError(f"{name}_FILE names {path}, which is empty.", advice="Write the value to it.")
    return content


def _whole_number(variables: Variables, name: str) -> int | None:
    text = variables.get(name)
    if not text:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"{name} is {text!r}.", advice="Set it to a whole number above 0, or unset it.")
    return int(text)


def _word(kind: type[StrEnum]) -> Reader:
    def read(variables: Variables, name: str) -> StrEnum | None:
        text = variables.get(name)
        if text and text not in list(kind):
            raise InputError(f"{name} is {text!r}.", advice=f"Set it to {' or '.join(kind)}, or unset it.")
        return kind(text) if text else None

    return read


def _address(variables: Variables, name: str) -> str | None:
    text = variables.get(name) or ""
    try:
        parts = urlsplit(text)
        valid = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1)
    except ValueError:
        valid = False
    if text and (not valid or parts.username or parts.query or parts.fragment):
        raise InputError(
            f"{name} is {text!r}.", advice="Set it to an address such as https://arena.example.org."
        )
    return text.rstrip("/") or None


def _list(pattern: re.Pattern[str], what: str) -> Reader:
    def read(variables: Variables, name: str) -> tuple[str, ...]:
        values = (variables.get(name) or "").replace(",", " ").lower().split()
        for text in values:
            if not pattern.fullmatch(text):
                raise InputError(f"{name} contains {text!r}.", advice=f"List {what}, separated by commas.")
        return tuple(values)

    return read


def _networks(variables: Variables, name: str) -> tuple[str, ...]:
    values = (variables.get(name) or "").replace(",", " ").split()
    try:
        return tuple(str(ip_network(text)) for text in values)
    except ValueError as error:
        advice = "List addresses and networks such as 10.0.0.0/8, separated by commas."
        raise InputError(f"{name} is invalid: {error}.", advice=advice) from error


def _plugin_files(variables: Variables, name: str) -> tuple[Path, ...]:
    return tuple(
        Path(path).expanduser().absolute() for path in (variables.get(name) or "").split(os.pathsep) if path
    )


def _from(name: str, read: Reader, default: object = None) -> Any:  # noqa: ANN401 - as the field is annotated
    """Return a field set by an environment variable, with secrets hidden in its repr."""
    return field(default=default, repr=read is not _secret, metadata={"variable": name, "read": read})


MIN_TEXTS = 500
"""Minimum number of texts for more than one process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of an installation.

    `user_home` is the user's folder if `home` is a ranking's. `key_elsewhere` is True if another process has
    the key. `sole_owner` makes every visitor the owner; no variable can set it.
    """

    home: Path
    database_url: str
    user_home: Path | None = None
    endpoint: str = _from("OPENAI_BASE_URL", _base_url, "https://api.openai.com/v1")
    api_key: str | None = _from("OPENAI_API_KEY", _secret)
    other_keys: tuple[str, ...] = field(default=(), repr=False)
    max_upload_mb: int = _from("ARENA_MAX_UPLOAD_MB", _whole_number, 200)
    max_answer_chars: int = _from("ARENA_MAX_ANSWER_CHARS", _whole_number, 50_000)
    transport: str = _from("ARENA_TRANSPORT", _text, DIRECT)
    cache_mode: CacheMode = _from("ARENA_CACHE_MODE", _word(CacheMode), CacheMode.LIVE)
    rpm: int | None = _from("ARENA_RPM", _whole_number)
    tpm: int | None = _from("ARENA_TPM", _whole_number)
    timeout: int = _from("ARENA_TIMEOUT", _whole_number, 120)
    batch_poll: int = _from("ARENA_BATCH_POLL", _whole_number, 30)
    lease: int = _from("ARENA_LEASE", _whole_number, 30)
    work_seconds: int = _from("ARENA_WORK_SECONDS", _whole_number, 10)
    own_texts: bool = False
    log_format: LogFormat = _from("ARENA_LOG_FORMAT", _word(LogFormat), LogFormat.CONSOLE)
    log_level: LogLevel | None = _from("ARENA_LOG_LEVEL", _word(LogLevel))
    metrics_token: str | None = _from("ARENA_METRICS_TOKEN", _secret)
    metrics_access: MetricsAccess = _from("ARENA_METRICS", _word(MetricsAccess), MetricsAccess.TOKEN)
    public_url: str = _from("ARENA_PUBLIC_URL", _address, "")
    hosts: tuple[str, ...] = _from("ARENA_HOSTS", _list(HOST_NAME, "host names without scheme and port"), ())
    proxies: tuple[str, ...] = _from("ARENA_PROXIES", _networks, ())
    framers: tuple[str, ...] = _from(
        "ARENA_FRAMERS", _list(FRAMER, "origins such as https://lab.example.org"), ()
    )
    search_url: str = _from("ARENA_SEARCH_URL", _text, "")
    notify: str | None = _from("ARENA_NOTIFY", _secret)
    engine: EngineKind = _from("ARENA_ENGINE", _word(EngineKind), EngineKind.LOCAL)
    processes: int | None = _from("ARENA_PROCESSES", _whole_number)
    api_rate: int = _from("ARENA_API_RATE", _whole_number, 600)
    intake_rate: int = _from("ARENA_API_INTAKE_RATE", _whole_number, 240)
    body_timeout: int = _from("ARENA_BODY_TIMEOUT", _whole_number, 30)
    operator: str = _from("ARENA_OPERATOR", _text, "")
    contact: str = _from("ARENA_CONTACT", _text, "")
    privacy: str = _from("ARENA_PRIVACY", _text, "")
    docs_url: str = _from("ARENA_DOCS_URL", _address, "")
    plugins: tuple[Path, ...] = _from(PLUGINS, _plugin_files, ())
    key_elsewhere: bool = False
    sole_owner: bool = False

    @property
    def has_key(self) -> bool:
        """True if LLMs can be used: with a key, the transport's own keys, or replayed replies."""
        own = transport_info(self.transport).own_keys or self.cache_mode is CacheMode.REPLAY
        return bool(self.api_key) or self.key_elsewhere or own

    def processes_for(self, texts: int) -> int:
        """Return the number of processes to start for `texts`; 0 for none."""
        usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
        return (self.processes or usable or 1) if texts >= MIN_TEXTS else int(not self.own_texts)

    @property
    def upload_bytes(self) -> int:
        """Maximum size of an upload in bytes."""
        return self.max_upload_mb * 2**20

    @property
    def uploads_folder(self) -> Path:
        """Folder for uploaded files during checks."""
        return self.home / "uploads"

    @property
    def judges_folder(self) -> Path:
        """Folder of the organiser's own judge specs."""
        return self.home / "judges"

    @property
    def prices_file(self) -> Path:
        """The organiser's prices, which override the bundled prices; rankings use the user's file."""
        return (self.user_home or self.home) / "prices.toml"


OF_THE_CLIENT = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
"""Variables of OpenAI's client; if one is set, that client is the default transport."""


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings."""
    variables = os.environ if environment is None else environment  # noqa: TID251 - the only module that reads it
    home = Path(variables["ARENA_HOME"]).expanduser() if variables.get("ARENA_HOME") else _user_folder()
    home = home.absolute()
    url = _secret(variables, "ARENA_DATABASE_URL") or f"sqlite:///{home / DATABASE}"
    readers = {row.name: row.metadata for row in fields(Settings) if row.metadata}
    values = {name: about["read"](variables, about["variable"]) for name, about in readers.items()}
    known: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    if any(variables.get(name) for name in OF_THE_CLIENT):
        known.setdefault("transport", OPENAI)
    keys = tuple(value for name, value in variables.items() if name.endswith(KEYS) and value)
    return Settings(home=home, database_url=url, other_keys=keys, **known)


DATABASE = "arena.sqlite"
KEYS = ("_API_KEY", "_ACCESS_KEY", "_AUTH_TOKEN")
"""Suffixes of variables with keys of providers."""


def settings_in(folder: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings for an arena in a folder, regardless of the environment's."""
    home, own = folder.absolute(), read_settings(environment)
    return replace(own, home=home, user_home=own.home, database_url=f"sqlite:///{home / DATABASE}")


def _user_folder() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - rarely needed

    return user_data_path("answer-arena")


def add_plugins(files: Sequence[Path]) -> tuple[Path, ...]:
    """Add plugins for this process and its children, and return all plugins."""
    variables = os.environ  # noqa: TID251 - the only module that reads it
    every = tuple(dict.fromkeys((*_plugin_files(variables, PLUGINS), *(file.absolute() for file in files))))
    if files:
        variables[PLUGINS] = os.pathsep.join(map(str, every))
    return every


def child_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process with additional variables."""
    return {**os.environ, **variables}  # noqa: TID251 - the only module that reads it


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment of a child process on the same arena."""
    return child_environment({"ARENA_HOME": str(settings.home), "ARENA_DATABASE_URL": settings.database_url})


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOverrides:
    """Overrides of the settings; None keeps their value.

    Rate limits are per endpoint and model; `timeout` is the maximum wait for a reply in seconds.
    """

    cache_mode: CacheMode | None = None
    transport: str | None = None
    rpm: int | None = None
    tpm: int | None = None
    timeout: int | None = None

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> "LlmOverrides":
        """Read the overrides from a job's payload."""
        from pydantic import TypeAdapter  # noqa: PLC0415 - only workers need it

        read: LlmOverrides = TypeAdapter(cls).validate_python(dict(payload))
        return read

    def to_json(self) -> dict[str, Any]:
        """Return the overrides for a job's payload."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def over(self, settings: Settings) -> Settings:
        """Return the settings with these overrides."""
        return replace(settings, **self.to_json())
