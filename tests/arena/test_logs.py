from __future__ import annotations

import json
from pathlib import Path

import pytest
import structlog

from arena.logs import Redaction, configure_logs, secrets_of
from arena.settings import LogFormat, Settings, read_settings
from data.errors import InputError

KEY = "sk-hush-1234567890"


def test_logs_contain_no_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys, passwords and tokens are redacted by name and by text, also in nested values and tracebacks."""
    settings = Settings(
        home=tmp_path,
        database_url="postgresql+psycopg://arena:p%40ss-word@host/arena",
        api_key=KEY,
        metrics_token="scrape-me-not",
        log_format=LogFormat.JSON,
    )
    before = structlog.get_config()
    try:
        configure_logs(settings)
        log = structlog.get_logger("test")
        log.info("asked", url=f"http://x/?k={KEY}", nested={"a": [f"Bearer {KEY}"], "api_key": "other"})
        log.info("opened", database=settings.database_url, password="other", plain="p@ss-word")
        log.info("shown", text="Bearer aa_0123456789ab_my-own-token, then aa_ffff_somebody-elses_token!")
        try:
            raise ValueError(f"refused {KEY} and scrape-me-not")
        except ValueError:
            log.exception("broken", settings=settings)
    finally:
        structlog.configure(**before)
    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["asked", "opened", "shown", "broken"]
    for secret in (KEY, "p%40ss-word", "p@ss-word", "scrape-me-not", "other", "my-own", "somebody"):
        assert secret not in "\n".join(lines)


def test_log_lines_stay_readable() -> None:
    """Numbers, flags and texts without a secret do not change."""
    hide = Redaction(("abcd",))
    assert hide(None, "info", {"done": 3, "rate": 0.5, "again": False, "why": None, "text": "abc"}) == {
        "done": 3,
        "rate": 0.5,
        "again": False,
        "why": None,
        "text": "abc",
    }


def test_secrets_may_come_from_files(tmp_path: Path) -> None:
    """A `_FILE` variable is read; the plain variable takes precedence; a missing file is an error."""
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    given = {"ARENA_HOME": str(tmp_path), "OPENAI_API_KEY_FILE": str(file)}
    assert read_settings(given).api_key == KEY
    assert KEY in secrets_of(read_settings(given))
    assert read_settings({**given, "OPENAI_API_KEY": "plain"}).api_key == "plain"
    file.write_text("postgresql+psycopg://a@b/c")
    assert read_settings({"ARENA_DATABASE_URL_FILE": str(file)}).database_url == "postgresql+psycopg://a@b/c"
    file.write_text("\n")
    for path in (file, tmp_path / "nothing"):
        with pytest.raises(InputError, match="OPENAI_API_KEY_FILE"):
            read_settings({"OPENAI_API_KEY_FILE": str(path)})
    assert KEY not in repr(read_settings({"OPENAI_API_KEY": KEY}))
