"""Helpers for benchmarks: figures, processor time, and arenas with synthetic sets, answers and rounds."""

from __future__ import annotations

import json
import resource
import socket
import sys
import time
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from arena.container import Arena  # noqa: E402 - the checkout precedes installed packages
from arena.settings import Settings  # noqa: E402 - as above
from data.models import RoundState  # noqa: E402 - as above

TIMEOUT = 120.0


def arena_in(home: Path, url: str | None = None, **settings: Any) -> Arena:  # noqa: ANN401 - fields of Settings
    """Open an arena with a database in its home or at a URL."""
    home.mkdir(parents=True, exist_ok=True)
    address = url or f"sqlite:///{home / 'arena.sqlite'}"
    return Arena(Settings(home=home, database_url=address, **settings))


def add_set(
    arena: Arena, folder: Path, name: str, questions: Iterable[Mapping[str, object]], domains: Sequence[str]
) -> None:
    """Import a set with the reference `human`."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = "".join(f'{domain} = "{domain.title()}"\n' for domain in domains)
    (folder / "set.toml").write_text(f'name = "{name}"\nreference_name = "human"\n[domains]\n{labels}')
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in questions))
    arena.sets.import_from(folder)


def answers_file(folder: Path, system: str, answers: Iterable[str]) -> Path:
    """Write a system's answers to the questions `q0`, `q1` and so on."""
    path = folder / f"{system}.jsonl"
    rows = ({"question_id": f"q{n}", "answer": answer} for n, answer in enumerate(answers))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def settle(arena: Arena, name: str, statements: Sequence[str], **values: object) -> None:
    """Judge a planned round with SQL only and finish it."""
    number = arena.store.rounds.get(name).id
    with arena.store.database.begin() as connection:
        if connection.dialect.name == "postgresql":
            # The rows are valid by construction; checking foreign keys takes an hour.
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        for statement in statements:
            connection.execute(text(statement), {"round": number, **values})
        connection.execute(text("ANALYZE"))
    arena.store.rounds.move(name, to=RoundState.FINISHED, allowed=(RoundState.PLANNED,))


def processor_seconds() -> float:
    """Return the processor seconds of this process and its finished children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def show(figures: Mapping[str, float], *, as_json: bool) -> None:
    """Print figures, one per line or as JSON."""
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    for name, figure in figures.items():
        print(f"{name:78} {figure:18,.2f}")


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str) -> None:
    """Wait until a URL responds."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)
