"""Backups of SQLite databases: checked, restored atomically, and made before a migration."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import OperationalError

from data.errors import ConflictError, FileFormatError, StoreError
from data.store import Store
from data.store.backup import back_up, damage_of, restore
from data.store.engine import Database, known_versions, newest_version
from tests.databases import new_sqlite

ROOT = Path(__file__).parents[3]
KNOWN = known_versions()
KILLED = """
import os, signal, sys
from pathlib import Path
from data.store import backup
from data.store.engine import known_versions
def dying(original):
    def die(*arguments, **options):
        if {before}:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
        return result
    return die
{owner}.{name} = dying({owner}.{name})
backup.restore(Path(sys.argv[1]), Path(sys.argv[2]), known_versions())
"""
KILLED_UPGRADE = """
import os, signal, sys
from sqlalchemy import Engine, event
@event.listens_for(Engine, "before_cursor_execute")
def die(conn, cursor, statement, *rest):
    if statement.strip().startswith("CREATE TABLE question_set"):
        os.kill(os.getpid(), signal.SIGKILL)
from data.store.engine import Database, newest_version
Database(sys.argv[1]).upgrade()
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Database of an arena with a mark."""
    file = tmp_path / "arena.sqlite"
    new_sqlite(file)
    mark(file, "new")
    return file


@pytest.fixture
def backup(database: Path, tmp_path: Path) -> Path:
    """Backup of the same arena with an older mark."""
    file = tmp_path / "arena.backup"
    mark(database, "old")
    back_up(database, file)
    mark(database, "new")
    return file


def mark(file: Path, text: str) -> None:
    """Store a text in the database."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS mark (text TEXT)")
        connection.execute("DELETE FROM mark")
        connection.execute("INSERT INTO mark VALUES (?)", (text,))


def marked(file: Path) -> str:
    """Return the text stored by `mark`."""
    with closing(sqlite3.connect(file)) as connection:
        return str(connection.execute("SELECT text FROM mark").fetchone()[0])


def damage(file: Path) -> None:
    """Overwrite the middle of a database, like a bad disk."""
    with file.open("r+b") as raw:
        raw.seek(file.stat().st_size // 2 // 4096 * 4096)
        raw.write(b"\xff" * 8192)


def left_over(folder: Path) -> Iterator[str]:
    """Unexpected files."""
    return (path.name for path in folder.iterdir() if path.name.startswith("."))


def test_backup_of_open_database_restores_its_content(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "backups" / "arena.backup"
    with closing(Store.open(f"sqlite:///{database}")) as store:
        with store.database.begin() as connection:
            connection.exec_driver_sql("UPDATE mark SET text = 'in the log'")
        assert back_up(database, file) == file.stat().st_size
    mark(database, "later")
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ConflictError, match="exists"):
        back_up(database, file)
    assert restore(file, database, KNOWN) == newest_version()
    assert marked(database) == "in the log"
    assert list(left_over(tmp_path)) == list(left_over(file.parent)) == []


def test_restore_creates_missing_database(backup: Path, tmp_path: Path) -> None:
    restore(backup, tmp_path / "home" / "arena.sqlite", KNOWN)
    assert marked(tmp_path / "home" / "arena.sqlite") == "old"


def test_restore_drops_log_of_old_database(database: Path, backup: Path) -> None:
    script = (
        "import os, sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute('PRAGMA journal_mode=WAL')\n"
        "c.execute(\"UPDATE mark SET text = 'logged'\")\nc.commit()\nos._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(database)], check=True)
    assert database.with_name("arena.sqlite-wal").stat().st_size
    restore(backup, database, KNOWN)
    assert not database.with_name("arena.sqlite-wal").exists()
    assert (marked(database), damage_of(database)) == ("old", "")


def test_restore_refuses_open_database(database: Path, backup: Path) -> None:
    with closing(Store.open(f"sqlite:///{database}")) as store:
        assert store.database.rows()
        with pytest.raises(ConflictError, match="Another process"):
            restore(backup, database, KNOWN)
    assert marked(database) == "new"


@pytest.mark.parametrize(
    ("owner", "name"),
    [("backup", "damage_of"), ("backup", "_version"), ("Path", "replace"), ("backup", "_sync")],
)
@pytest.mark.parametrize("before", [True, False])
def test_killed_restore_leaves_old_or_new_database(
    database: Path, backup: Path, owner: str, name: str, before: bool
) -> None:
    script = KILLED.format(owner=owner, name=name, before=before)
    done = subprocess.run([sys.executable, "-c", script, backup, database], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert damage_of(database) == ""
    assert marked(database) == ("old" if (owner, before) == ("Path", False) else "new")


@pytest.mark.parametrize(
    "kind", ["text", "empty", "cut", "cut by a byte", "damaged", "other", "newer", "in use", "missing"]
)
def test_restore_refuses_invalid_backups(backup: Path, database: Path, kind: str) -> None:
    match kind:
        case "text":
            backup.write_bytes(b"hello")
        case "empty":
            backup.write_bytes(b"")
        case "cut":
            backup.write_bytes(backup.read_bytes()[:-40_000])
        case "cut by a byte":
            backup.write_bytes(backup.read_bytes()[:-1])
        case "damaged":
            damage(backup)
        case "other":
            backup.unlink()
            mark(backup, "another program's")
        case "newer":
            with closing(sqlite3.connect(backup)) as connection, connection:
                connection.execute("UPDATE alembic_version SET version_num = '9999'")
        case "in use":
            backup.with_name(f"{backup.name}-wal").write_bytes(b"a log")
        case _:
            backup.unlink()
    with pytest.raises(FileFormatError) as refused:
        restore(backup, database, KNOWN)
    assert "\n" not in str(refused.value)
    assert marked(database) == "new"


def test_damaged_database_is_not_backed_up_and_can_be_replaced(database: Path, backup: Path) -> None:
    damage(database)
    with pytest.raises(StoreError, match="is damaged") as refused:
        back_up(database, database.with_name("bad.backup"))
    assert "arena db restore" in str(refused.value.advice)
    assert not database.with_name("bad.backup").exists()
    restore(backup, database, KNOWN)
    assert marked(database) == "old"
    database.write_bytes(b"no database" * 1_000)
    restore(backup, database, KNOWN)
    assert marked(database) == "old"


def test_corrupt_wal_loses_only_its_changes(database: Path, backup: Path) -> None:
    copy = database.with_name("copy.sqlite")
    mark(database, "checkpointed")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        mark(database, "logged")
        for suffix in ("", "-wal"):
            copy.with_name(copy.name + suffix).write_bytes(Path(f"{database}{suffix}").read_bytes())
    damage(Path(f"{copy}-wal"))
    assert (damage_of(copy), marked(copy)) == ("", "checkpointed")
    restore(backup, copy, KNOWN)
    assert marked(copy) == "old"


def test_upgrade_backs_up_database_of_older_schema(database: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0027'")
    Store.open(f"sqlite:///{database}").close()
    (file,) = database.parent.glob("arena-0027-*.backup")
    assert str(file) in caplog.text
    assert (marked(file), damage_of(file)) == ("new", "")
    Store.open(f"sqlite:///{database}").close()
    assert len(list(database.parent.glob("*.backup"))) == 1


def test_new_database_is_not_backed_up(tmp_path: Path) -> None:
    with closing(Database(f"sqlite:///{tmp_path / 'a.sqlite'}")) as database:
        assert database.upgrade() is None
    assert not list(tmp_path.glob("*.backup"))


@pytest.mark.slow
@pytest.mark.blank
def test_interrupted_migration_is_rolled_back(database_url: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_UPGRADE, database_url], cwd=ROOT, check=False)
    assert done.returncode == -9
    with closing(Database(database_url)) as database:
        assert (database.version(), database.rows()) == (None, {})
        database.upgrade()
        assert database.version() == newest_version()


def test_damaged_file_advises_check(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_bytes(b"SQLite format 3\x00" + b"x" * 5000)
    with (
        closing(Database(f"sqlite:///{tmp_path / 'a.sqlite'}")) as database,
        pytest.raises(StoreError, match="cannot be used") as met,
    ):
        database.version()
    assert "arena db status --check" in str(met.value.advice)


@pytest.mark.parametrize(
    ("free", "allowed", "advice"),
    [
        (0, True, "is full"),
        (1 << 30, False, "Change its permissions"),
        (1 << 30, True, "arena db status --check"),
    ],
)
def test_errors_of_intact_database_do_not_advise_restore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, allowed: bool, advice: str
) -> None:
    """SQLite reports a full disk and a read-only disk as I/O errors."""
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr("os.access", lambda *_: allowed)
    with (
        closing(Database(f"sqlite:///{tmp_path / 'a.sqlite'}")) as database,
        pytest.raises(StoreError) as met,
        database.begin(),
    ):
        raise OperationalError("select", None, sqlite3.OperationalError("disk I/O error"))
    assert advice in str(met.value.advice)
    assert "db restore" not in str(met.value.advice)


def test_missing_lists_dropped_index(database_url: str) -> None:
    with closing(Database(database_url)) as database:
        database.upgrade()
        assert database.missing() == []
        with database.begin() as connection:
            connection.exec_driver_sql("DROP INDEX ix_battle_round_id_outcome")
        assert database.missing() == ["index ix_battle_round_id_outcome"]
