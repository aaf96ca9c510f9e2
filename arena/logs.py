"""Structured logs on stderr, for people or as JSON, with redacted secrets."""

import logging
import re
import sys
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import unquote, urlsplit

import structlog

from arena.settings import LogFormat, LogLevel, Settings

HIDDEN = "***"
SECRET_NAMES = ("key", "token", "password", "secret", "authorization", "cookie")
MIN_SECRET = 4
ACCESS_TOKEN = re.compile(r"aa_[0-9a-z]+_[A-Za-z0-9_-]{8,}")
"""Any access token, valid or not."""
NOT_SECRET = frozenset({"none", "test", "postgres", "arena"})


def configure_logs(settings: Settings) -> None:
    """Configure logging of the process."""
    hide = Redaction(secrets_of(settings))
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False, sort_keys=True)
        if settings.log_format is LogFormat.JSON
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.format_exc_info,
            hide,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[settings.log_level or LogLevel.INFO]
        ),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )


def log_change(actor: str, action: str, subject: str, detail: Mapping[str, object]) -> None:
    """Log a change if `configure_logs` was called."""
    if any(isinstance(processor, Redaction) for processor in structlog.get_config()["processors"]):
        audit = structlog.get_logger("audit")
        audit.info(action, logger="audit", actor=actor, subject=subject, **detail)


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Return the texts that may not appear in a log."""
    urls = (settings.database_url,)
    passwords = [urlsplit(url).password or "" for url in urls]
    secrets = (
        settings.api_key,
        *settings.other_keys,
        settings.metrics_token,
        settings.notify,
        *passwords,
        *map(unquote, passwords),
    )
    return tuple({text for text in secrets if text and len(text) >= MIN_SECRET and text not in NOT_SECRET})


class Redaction:
    """Processor that redacts secrets by field name and by text."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted(secrets, key=len, reverse=True)

    def __call__(self, _logger: object, _method: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
        """Return the event without secrets."""
        return {name: self._field(name, value) for name, value in event.items()}

    def _field(self, name: str, value: object) -> object:
        if any(word in name.lower() for word in SECRET_NAMES) and value is not None:
            return HIDDEN
        return self._redacted(value)

    def _redacted(self, value: object) -> object:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, HIDDEN)
            return ACCESS_TOKEN.sub(HIDDEN, value)
        if isinstance(value, dict):
            return {key: self._field(str(key), inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._redacted(inner) for inner in value]
        return value if isinstance(value, int | float | bool | None) else self._redacted(repr(value))
