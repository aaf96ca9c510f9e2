"""The database as a whole: upgraded from every schema, interrupted, moved between engines, backed up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.system.database import DatabaseService
from data.errors import ConflictError, FileFormatError, StoreError
from data.records import Outcome
from data.store import Store
from data.store.engine import Database, newest_version

ROOT = Path(__file__).parents[4]

KILLED = """
import os, signal, sys
from sqlalchemy import Engine, event
@event.listens_for(Engine, "before_cursor_execute")
def die(conn, cursor, statement, *rest):
    if statement.strip().startswith("CREATE TABLE canary_hold"):
        os.kill(os.getpid(), signal.SIGKILL)
from data.store.engine import Database
Database(sys.argv[1]).upgrade()
"""


@pytest.mark.long
def test_interrupted_migration_leaves_the_database_as_it_was(blank_url: str) -> None:
    """A migration killed half-way has changed nothing, and the next one succeeds."""
    service = DatabaseService(blank_url)
    before = service.status()
    done = subprocess.run([sys.executable, "-c", KILLED, blank_url], cwd=ROOT, check=False)
    assert done.returncode == -9
    after = service.status()
    assert (after["schema"], after["rows"]) == (None, before["rows"])
    service.upgrade()
    assert service.status()["current"] is True


def _filled(filled: Callable[..., Arena], url: str) -> None:
    arena = filled(database_url=url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("r", report=lambda _text: None)
    arena.close()


def _urls(tmp_path: Path, postgres_url: Callable[[], str], direction: str) -> tuple[str, str]:
    kinds = {"sqlite": lambda: f"sqlite:///{tmp_path / 'x.sqlite'}", "postgresql": postgres_url}
    first, second = direction.split(">")
    return kinds[first](), kinds[second]().replace("x.sqlite", "y.sqlite")


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.parametrize("direction", ["sqlite>postgresql", "postgresql>sqlite"])
def test_arena_moves_between_engines_and_goes_on(
    filled: Callable[..., Arena],
    make_arena: Callable[..., Arena],
    postgres_url: Callable[[], str],
    tmp_path: Path,
    direction: str,
) -> None:
    """Export, import and export again give the same files.

    The new database numbers on without a clash, and takes no row whose parent is missing.
    """
    source, target = _urls(tmp_path, postgres_url, direction)
    _filled(filled, source)
    rows = DatabaseService(source).export(tmp_path / "one")
    assert rows["battle"] == 72
    assert DatabaseService(target).bring(tmp_path / "one") == rows
    DatabaseService(target).export(tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    with pytest.raises(ConflictError, match="holds an arena already"):
        DatabaseService(target).bring(tmp_path / "one")
    orphan = text(
        "INSERT INTO ledger (round_id, reserved_usd, spent_usd, input_tokens, output_tokens) "
        "VALUES (999, 0, 0, 0, 0)"
    )
    with (
        closing(Database(target)) as database,
        pytest.raises(IntegrityError),
        database.begin() as connection,
    ):
        connection.execute(orphan)
    arena = make_arena(database_url=target)
    assert arena.boards.get("r").name == "r"
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="next"))
    assert arena.rounds.run("next", concurrency=2, report=lambda _progress: None).judged == 72


@pytest.mark.long
def test_changed_export_is_refused_whole(
    filled: Callable[..., Arena], database_url: str, tmp_path: Path
) -> None:
    """A file that was cut off, changed or lost is named, and nothing is imported."""
    _filled(filled, database_url)
    DatabaseService(database_url).export(tmp_path / "one")
    target = DatabaseService(f"sqlite:///{tmp_path / 'new.sqlite'}")
    path = tmp_path / "one" / "battle.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-30])
    with pytest.raises(FileFormatError, match=r"battle\.jsonl is not what was exported"):
        target.bring(tmp_path / "one")
    path.unlink()
    with pytest.raises(FileFormatError, match="is missing"):
        target.bring(tmp_path / "one")
    path.write_bytes(content)
    (tmp_path / "one" / "manifest.json").unlink()
    with pytest.raises(FileFormatError, match="no complete export"):
        target.bring(tmp_path / "one")
    assert not any(target.status()["rows"].values())


@pytest.mark.long
def test_backup_restores_what_was_there(
    filled: Callable[..., Arena], database_url: str, tmp_path: Path
) -> None:
    """A backup made while the arena is open brings back exactly what it held."""
    if database_url.startswith("postgresql") and shutil.which("pg_dump") is None:
        pytest.skip("NO pg_dump: backups of PostgreSQL are not tested")
    _filled(filled, database_url)
    service = DatabaseService(database_url)
    service.export(tmp_path / "before")
    file = tmp_path / "arena.backup"
    assert service.back_up(file) == file.stat().st_size > 0
    with pytest.raises(ConflictError, match="exists"):
        service.back_up(file)
    with closing(Store.open(database_url)) as store:
        store.replies.forget()
        store.battles.close_pending(store.rounds.get("r").id, Outcome.SKIPPED, "x")
        with store.database.begin() as connection:
            connection.execute(text("DELETE FROM board"))
    with pytest.raises(ConflictError, match="holds an arena"):
        service.restore(file, replace=False)
    assert service.restore(file, replace=True) == newest_version()
    service.export(tmp_path / "after")
    for path in (tmp_path / "before").iterdir():
        assert path.read_bytes() == (tmp_path / "after" / path.name).read_bytes(), path.name


@pytest.mark.long
def test_what_is_no_backup_is_not_restored(
    filled: Callable[..., Arena], database_url: str, tmp_path: Path
) -> None:
    """Files of another kind and damaged ones are refused before anything is touched."""
    _filled(filled, database_url)
    service = DatabaseService(database_url)
    before = service.status()["rows"]
    for name, content in {"text": b"hello", "cut": b"SQLite format 3\x00" + b"\x01" * 5_000}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError):
            service.restore(tmp_path / name, replace=True)
    assert service.status()["rows"] == before


@pytest.mark.slow
def test_commands_say_what_they_did(tmp_path: Path) -> None:
    """`arena db upgrade|backup|restore` work as a user calls them, errors in one line."""
    environment = {
        **os.environ,  # noqa: TID251 - what a process of the machine needs
        "ARENA_HOME": str(tmp_path / "home"),
        "ARENA_DATABASE_URL": "",
    }

    def arena(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "arena", "db", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert "run `arena db upgrade`" in arena("status").stdout
    assert arena("upgrade").stdout.endswith(f"schema none → {newest_version()}.\n")
    assert json.loads(arena("status", "--json").stdout)["current"] is True
    assert "exported to" in arena("backup", "--folder", str(tmp_path / "out")).stdout
    refused = arena("backup", "--folder", str(tmp_path / "out"))
    assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
    assert arena("backup", str(tmp_path / "file")).returncode == 0
    assert arena("restore", str(tmp_path / "file")).returncode == 0
    assert "Traceback" not in arena("restore", str(tmp_path / "nothing")).stderr
    for folder in ((), ("--folder",)):
        # A file is no folder, so nothing can be written below one.
        done = arena("backup", *folder, str(tmp_path / "file" / "below"))
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert "cannot be written" in done.stderr


def test_damaged_url_is_one_line() -> None:
    """A database that cannot be reached is said in words, without its password."""
    url = "postgresql+psycopg://arena:hush-hush@127.0.0.1:9/arena"
    with pytest.raises(StoreError) as raised:
        DatabaseService(url).status()
    assert "hush-hush" not in str(raised.value)


def _damaged(file: Path) -> None:
    """Overwrite the middle of a database, as a bad disk does."""
    with file.open("r+b") as raw:
        raw.seek(file.stat().st_size // 2 // 4096 * 4096)
        raw.write(b"\xff" * 8192)


def test_a_damaged_database_is_not_backed_up_in_silence(filled: Callable[..., Arena], tmp_path: Path) -> None:
    """A backup is read before it is kept: of a damaged store there is none, and a line says what to do."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    _filled(filled, url)
    service = DatabaseService(url)
    service.check()
    service.back_up(tmp_path / "sound.backup")
    assert (tmp_path / "sound.backup").stat().st_mode & 0o777 == 0o600
    _damaged(tmp_path / "a.sqlite")
    with pytest.raises(StoreError, match="damaged") as refused:
        service.back_up(tmp_path / "bad.backup")
    assert "\n" not in str(refused.value)
    assert "arena db restore" in str(refused.value.advice)
    assert not list(tmp_path.glob("bad*"))
    with pytest.raises(StoreError, match="is damaged"):
        service.check()
    shutil.copy(tmp_path / "a.sqlite", tmp_path / "copied")
    with pytest.raises(FileFormatError, match="is damaged") as unread:
        service.restore(tmp_path / "copied", replace=True)
    assert "\n" not in str(unread.value)
    service.restore(tmp_path / "sound.backup", replace=True)
    service.check()


def test_what_a_damaged_file_says_leads_to_a_backup(tmp_path: Path) -> None:
    """Whatever meets the damage first names `db restore`, not permissions and free space."""
    (tmp_path / "a.sqlite").write_bytes(b"SQLite format 3\x00" + b"x" * 5000)
    with pytest.raises(StoreError, match="cannot be used") as met:
        DatabaseService(f"sqlite:///{tmp_path / 'a.sqlite'}").status()
    assert "arena db restore FILE --replace" in str(met.value.advice)


def test_backups_and_checks_of_postgresql_read_it_whole(
    filled: Callable[..., Arena], postgres_url: Callable[[], str], tmp_path: Path
) -> None:
    """On PostgreSQL a backup is read back before it is kept, and the check reads every row."""
    if shutil.which("pg_dump") is None:
        pytest.skip("NO pg_dump: backups of PostgreSQL are not tested")
    url = postgres_url()
    _filled(filled, url)
    service = DatabaseService(url)
    service.check()
    assert service.back_up(tmp_path / "b") > 0
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
