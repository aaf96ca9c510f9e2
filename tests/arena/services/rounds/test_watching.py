from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import structlog
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.container import Arena
from arena.logs import Redaction, configure_logs, secrets_of
from arena.services.rounds.models import RoundRequest
from arena.services.system import metrics_of
from arena.settings import LogFormat, MetricsAccess, Settings, read_settings
from arena.site.app import metrics_route
from data.errors import InputError

KEY = "sk-hush-1234567890"


def _values(text: str) -> dict[tuple[str, str], float]:
    return {
        (sample.name, "".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.long
def test_metrics_are_the_database_in_numbers(filled: Callable[..., Arena], database_url: str) -> None:
    """Rounds and jobs by state, battles, judgments and workers are what the store holds."""
    arena = filled(database_url=database_url)
    for name in ("one", "two"):
        arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name=name))
    arena.rounds.run("one", concurrency=2, report=lambda _progress: None)
    arena.jobs.judge("two")
    found = _values(metrics_of(arena.store).decode())
    assert found["arena_rounds", "finished"] == found["arena_rounds", "planned"] == 1
    assert (found["arena_jobs", "done"], found["arena_jobs", "queued"]) == (1, 1)
    assert found["arena_battles", "pending"] == 72
    assert found["arena_workers", ""] == 0
    assert found["arena_queue_age_seconds", ""] > 0
    assert found["arena_boards", ""] == found["arena_spent_usd", ""] == 0
    assert ("process_resident_memory_bytes", "") in found


def test_metrics_ask_for_their_token(make_arena: Callable[..., Arena]) -> None:
    """C5: Who bears the token reads the metrics; nobody where none is set; all where they are open."""
    for token, access, right in (
        (KEY, MetricsAccess.TOKEN, (401, 401, 200)),
        (None, MetricsAccess.TOKEN, (401, 401, 401)),
        (None, MetricsAccess.OPEN, (200, 200, 200)),
    ):
        arena = make_arena(metrics_token=token, metrics_access=access)
        sent: tuple[dict[str, str], ...] = (
            {},
            {"Authorization": "Bearer None"},
            {"Authorization": f"Bearer {KEY}"},
        )
        with TestClient(Starlette(routes=[metrics_route(arena)])) as client:
            found = [client.get("/metrics", headers=headers) for headers in sent]
        assert tuple(one.status_code for one in found) == right
        for one in found:
            advice = one.json()["advice"] if one.status_code == 401 else ""
            assert ("arena_rounds" in one.text) == (one.status_code == 200)
            assert ("ARENA_METRICS_TOKEN" in advice) == (one.status_code == 401 and token is None)


def test_metrics_say_when_the_database_is_away(tmp_path: Path) -> None:
    """A database that cannot be reached is a 503 with one line, not a traceback."""
    url = "postgresql+psycopg://arena:hush-hush@127.0.0.1:9/arena"
    arena = Arena(Settings(home=tmp_path, database_url=url, metrics_access=MetricsAccess.OPEN))
    with TestClient(Starlette(routes=[metrics_route(arena)])) as client:
        found = client.get("/metrics")
    assert (found.status_code, len(found.text.splitlines())) == (503, 1)
    assert "hush-hush" not in found.text


def test_no_secret_stands_in_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Keys, passwords and tokens are blotted out by name and by text, nested and in tracebacks too."""
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


def test_whatever_is_logged_stays_readable() -> None:
    """Numbers, flags and texts without a secret pass unchanged."""
    hide = Redaction(("abcd",))
    assert hide(None, "info", {"done": 3, "rate": 0.5, "again": False, "why": None, "text": "abc"}) == {
        "done": 3,
        "rate": 0.5,
        "again": False,
        "why": None,
        "text": "abc",
    }


def test_secrets_may_come_from_files(tmp_path: Path) -> None:
    """A `_FILE` variable is read; the plain one goes first; a file that is not there is said."""
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
