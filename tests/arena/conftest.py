"""An arena over an empty database, and a small set with answers, for the tests of the application."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.bootstrap import Arena
from arena.settings import Settings

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@pytest.fixture
def make_arena(tmp_path: Path) -> Iterator[Callable[..., Arena]]:
    """Open arenas: `make_arena(database_url=…, endpoint=…)`; SQLite in a temporary folder by default."""
    opened: list[Arena] = []

    def make(database_url: str | None = None, endpoint: str = "http://127.0.0.1:9/v1") -> Arena:
        settings = Settings(
            home=tmp_path / "home",
            database_url=database_url or f"sqlite:///{tmp_path / 'home' / 'arena.sqlite'}",
            endpoint=endpoint,
            api_key="none",
        )
        opened.append(Arena(settings))
        return opened[-1]

    yield make
    for arena in opened:
        arena.close()


@pytest.fixture
def set_folder(tmp_path: Path) -> Path:
    """A set of twelve questions over three domains, with passages and references."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "set.toml").write_text(
        'name = "tiny"\ntitle = "A tiny set"\nreference_name = "human"\n'
        '[domains]\nd0 = "Zero"\nd1 = "One"\nd2 = "Two"\n'
    )
    rows = [
        {
            "id": f"q{number}",
            "domain": f"d{number % 3}",
            "question": f"What do we know of item {number}{' then' * (number % 2)}?",
            "reference": f"Item {number} is {WORDS[number % 6]}. It weighs {number + 10} grams.",
            "passages": [
                {"id": f"q{number}-p1", "text": f"Item {number} is {WORDS[number % 6]}."},
                {"id": f"q{number}-p2", "text": f"Item {number} weighs {number + 10} grams."},
            ],
        }
        for number in range(12)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def answers_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of answers: `answers_file("name", "{n} is {word}.", count=12)`."""

    def write(name: str, template: str, count: int = 12) -> Path:
        path = tmp_path / f"{name}.jsonl"
        rows = [
            {"question_id": f"q{n}", "answer": template.format(n=n, word=WORDS[n % 6], weight=n + 10)}
            for n in range(count)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write
