"""An arena over an empty database, and a small set with answers, for the tests of the application."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.bootstrap import Arena
from arena.services.rounds import RoundRequest
from arena.settings import Settings
from data.records import Outcome, Score

METRIC = "comprehensiveness-nli"
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@pytest.fixture
def make_arena(tmp_path: Path) -> Iterator[Callable[..., Arena]]:
    """Open arenas: `make_arena(database_url=…, endpoint=…, …)`; SQLite in a temporary folder by default."""
    opened: list[Arena] = []

    def make(
        database_url: str | None = None,
        endpoint: str = "http://127.0.0.1:9/v1",
        **options: Any,  # noqa: ANN401 - further settings of any type
    ) -> Arena:
        settings = Settings(
            home=tmp_path / "home",
            database_url=database_url or f"sqlite:///{tmp_path / 'home' / 'arena.sqlite'}",
            endpoint=endpoint,
            api_key="none",
            **options,
        )
        opened.append(Arena(settings))
        return opened[-1]

    yield make
    for arena in opened:
        arena.close()


TEMPLATES = {
    "full": "Item {n} is {word}, and it weighs {weight} grams.",
    "short": "Item {n} is {word}.",
    "wrong": "Item {n} is {word}. It weighs 99 grams and more.",
}


@pytest.fixture
def filled(
    make_arena: Callable[..., Arena], set_folder: Path, answers_file: Callable[..., Path]
) -> Callable[..., Arena]:
    """Open an arena that holds the tiny set and three systems."""

    def fill(**options: Any) -> Arena:  # noqa: ANN401 - settings of any type
        arena = make_arena(**options)
        arena.sets.import_from(set_folder)
        for system, template in TEMPLATES.items():
            arena.submissions.add(answers_file(system, template), "tiny", system=system)
        return arena

    return fill


@pytest.fixture
def set_folder(tmp_path: Path) -> Path:
    """A set of twelve questions over three domains, with passages and references."""
    return write_set(tmp_path)


def write_set(parent: Path) -> Path:
    """Write the set into a folder of its own."""
    folder = parent / "tiny"
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
        return write_answers(tmp_path / f"{name}.jsonl", (template,), count)

    return write


def write_answers(path: Path, templates: Sequence[str], count: int) -> Path:
    """Write answers to the first questions of the set, taking the templates in turn."""
    rows = [
        {
            "question_id": f"q{n}",
            "answer": templates[n % len(templates)].format(n=n, word=WORDS[n % 6], weight=n + 10),
        }
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


FULL = "Item {n} is {word}. It weighs {weight} grams."
NOTHING = "I couldn't find an answer."
HOSTILE = "Item {n} is {word}.\n<script>alert(1)</script> ![x](http://evil.invalid/p.png) **bold** $x$"


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with a judged and published round named `tiny`, and the paper's board beside it.

    `full` answers completely, `short` in part, `hostile` with markup, and every answer of `full` has a
    comprehensiveness of 0.75 with one statement covered and one missing.
    """
    folder = tmp_path_factory.mktemp("published")
    home = folder / "home"
    settings = Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}")
    arena = Arena(settings)
    arena.sets.import_from(write_set(folder))
    templates = {
        "full": (NOTHING, FULL, FULL, FULL),
        "short": ("It is {word}.", "Item {n} is {word}.", FULL),
        "hostile": (HOSTILE, f"{HOSTILE} It weighs {{weight}} grams."),
    }
    for system, cycle in templates.items():
        path = write_answers(folder / f"{system}.jsonl", cycle, 12)
        arena.submissions.add(path, "tiny", system=system)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="tiny"))
    arena.rounds.run("tiny", concurrency=2, report=lambda _progress: None)
    _score(arena, "full")
    standings = arena.boards.standings("tiny").as_json()
    number = arena.store.rounds.get("tiny").id
    arena.store.boards.publish("tiny", round_id=number, standings=standings)
    arena.boards.publish_paper()
    arena.close()
    return settings


def _score(arena: Arena, system: str) -> None:
    (submission,) = arena.store.submissions.find(set_name="tiny", system=system)
    details = {"covered": ["A covered statement."], "missing": ["A missing statement."]}
    batch = [
        (number, Score(id=item.id, metric=METRIC, outcome=Outcome.JUDGED, score=0.75, details=details))
        for number, item in arena.store.scores.unscored(submission.id, metric=METRIC, judge="")
    ]
    arena.store.scores.put("", batch)
