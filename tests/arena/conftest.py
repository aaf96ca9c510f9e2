"""Fixtures for tests of the application: arenas, the tiny set with answers, commands."""

from __future__ import annotations

import gc
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.testing import LogCapture
from structlog.typing import EventDict

from arena.cli import main
from arena.container import Arena
from arena.logs import Redaction
from arena.services.accounts.auth import Caller, CallerKind
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import (
    Outcome,
    RoundCounts,
    Submission,
    SubmissionKind,
    SubmissionState,
    SystemCard,
    TokenScope,
)
from data.store.scores import ScoredAnswer
from tests.databases import new_sqlite
from tests.served import PATIENCE, ROOT, kept_folder, program

# Tests that share a server or browser run in one worker, which starts it once.
SHARED = {
    **dict.fromkeys(("site", "browser", "reader", "configured"), "site"),
    **dict.fromkeys(("club", "public"), "api"),
}
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


DEAD_ENDPOINT = "http://127.0.0.1:9/v1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests by shared fixtures; tests with their own server and browser share nothing."""
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        used = item._fixtureinfo.name2fixturedefs
        shared = {name for name, fixtures in used.items() if fixtures[-1].scope != "function"}
        shared.update(item.function.__code__.co_names)
        groups = {group for name, group in SHARED.items() if name in shared}
        if groups and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(min(groups)))


Fill = Callable[..., Arena]
Serve = Callable[..., Any]
"""Fixtures: `filled` and `make_arena`, `scripted_llm`."""


class Commands:
    """Runs `arena …` in this process, with its home in a temporary folder."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.endpoint = DEAD_ENDPOINT
        self._patch, self._capture = patch, capture

    def __call__(self, *words: object, endpoint: str | None = None) -> tuple[int, str, str]:
        """Return exit code, output and errors."""
        self.prepare(endpoint or self.endpoint)
        self._patch.setattr(sys, "argv", ["arena", *map(str, words)])
        self._capture.readouterr()
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = self._capture.readouterr()
        return code, captured.out, captured.err

    def done(self, *words: object, endpoint: str | None = None) -> str:
        """Run a command that succeeds; return its output."""
        code, out, err = self(*words, endpoint=endpoint)
        assert code == 0, err
        return out

    def stderr(self, *words: object) -> str:
        """Run a command that succeeds; return its messages on stderr."""
        code, _, err = self(*words)
        assert code == 0, err
        return err

    def fails(self, *words: object, code: int = 1, endpoint: str | None = None) -> str:
        """Run a command that fails without a traceback; return its stderr."""
        ended, _, err = self(*words, endpoint=endpoint)
        assert (ended, "Traceback" in err) == (code, False), err
        return err

    def lines(self, *words: object, endpoint: str | None = None) -> list[Any]:
        """Return the JSON lines that a command prints."""
        return [json.loads(line) for line in self.done(*words, endpoint=endpoint).splitlines()]

    def json(self, *words: object, endpoint: str | None = None) -> Any:  # noqa: ANN401 - any JSON
        """Return the JSON that a command prints."""
        return json.loads(self.done(*words, endpoint=endpoint))

    def prepare(self, endpoint: str) -> None:
        """Set the variables of a command, also for subprocesses."""
        self._patch.setenv("ARENA_HOME", str(self.home))
        self._patch.setenv("ARENA_DATABASE_URL", f"sqlite:///{self.home / 'arena.sqlite'}")
        self._patch.setenv("OPENAI_BASE_URL", endpoint)
        self._patch.setenv("OPENAI_API_KEY", "none")

    def scores(self) -> list[tuple[str, str, float | None, str]]:
        """Judge, outcome, value and reason of every stored score."""
        with sqlite3.connect(self.home / "arena.sqlite") as connection:
            rows = connection.execute("SELECT judge, outcome, score, details FROM score").fetchall()
        connection.close()
        return [
            (judge, end, value, json.loads(details).get("reason", "")) for judge, end, value, details in rows
        ]


def log_entries() -> list[EventDict]:
    """Record audit log entries until the end of the module."""
    capture = LogCapture()
    structlog.configure(processors=[Redaction(()), capture])
    return capture.entries


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Commands]:
    """Commands over a home with an empty database; leaks fail at the end."""
    yield Commands(_empty_home(tmp_path), monkeypatch, capsys)
    gc.collect()


def _empty_home(folder: Path) -> Path:
    """Create a home with an empty database of the current schema, once per test."""
    home = folder / "home"
    if not home.exists():
        home.mkdir()
        new_sqlite(home / "arena.sqlite")
    return home


def settings_of(home: Path) -> Settings:
    """Return settings of an arena in a folder."""
    return Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}")


@pytest.fixture
def make_arena(tmp_path: Path) -> Iterator[Callable[..., Arena]]:
    """Open arenas: `make_arena(database_url=…, endpoint=…, …)`; SQLite in a temporary folder by default."""
    opened: list[Arena] = []
    home = _empty_home(tmp_path)

    def make(
        database_url: str | None = None,
        endpoint: str = "http://127.0.0.1:9/v1",
        **options: Any,  # noqa: ANN401 - further settings of any type
    ) -> Arena:
        settings = Settings(
            home=home,
            database_url=database_url or f"sqlite:///{home / 'arena.sqlite'}",
            endpoint=endpoint,
            api_key="none",
            **options,
        )
        opened.append(Arena(settings))
        return opened[-1]

    yield make
    for arena in opened:
        arena.close()
    while STARTED:
        process = STARTED.pop()
        process.kill()
        process.wait()


TEMPLATES = {
    "full": "Item {n} is {word}, and it weighs {weight} grams.",
    "short": "Item {n} is {word}.",
    "wrong": "Item {n} is {word}. It weighs 99 grams and more.",
}
TWO = {"half": "Item {n} is {word}.", "whole": "Item {n} is {word}. Item {n} weighs {weight} grams."}


@cache
def _template(*, two: bool = False, published: bool = False) -> Path:
    """Create a database with the tiny set and some systems, as a template."""
    folder = kept_folder()
    path = folder / "arena.sqlite"
    arena = Arena(Settings(home=folder, database_url=new_sqlite(path)))
    _fill(arena, folder, TWO if two else TEMPLATES, published=published)
    arena.close()
    return path


def _fill(arena: Arena, folder: Path, systems: Mapping[str, str], *, published: bool) -> None:
    arena.sets.import_from(write_set(folder))
    for system, text in systems.items():
        arena.submissions.add(answers_file(folder, system, text), "tiny", system=system)
    if published:
        play(arena, publish=True)


@pytest.fixture
def filled(make_arena: Callable[..., Arena], tmp_path: Path) -> Callable[..., Arena]:
    """Open an arena with the tiny set and three systems; with `published` also the board `r`."""

    def fill(
        database_url: str | None = None,
        *,
        published: bool = False,
        **options: Any,  # noqa: ANN401 - settings of any type
    ) -> Arena:
        arena = make_arena(database_url=database_url, **options)
        url = arena.settings.database_url
        if url.startswith("sqlite:///"):
            template = _template(published=published)
            shutil.copyfile(template, url.removeprefix("sqlite:///"))
        else:
            (tmp_path / "filling").mkdir()
            _fill(arena, tmp_path / "filling", TEMPLATES, published=published)
        return arena

    return fill


ADA = Caller(kind=CallerKind.SESSION, name="Ada", scopes=frozenset(TokenScope), organiser=True, account="Ada")


def quiet(_: object) -> None:
    """Report nothing."""


def play(arena: Arena, name: str = "r", *, publish: bool = False, **fields: Any) -> RoundCounts:  # noqa: ANN401
    """Create and judge a round of all pairs with the embedded judge; fields override."""
    arena.rounds.create(
        RoundRequest(name=name, **{"set_name": "tiny", "judge": "lexical", "pairs": "all", **fields})
    )
    counts = arena.rounds.run(name, concurrency=8, report=quiet)
    if publish:
        arena.boards.publish(name, report=quiet, score=False)
    return counts


MIXED = {
    "full": ("Item {n} is {word}. It weighs {weight} grams.", "It is {word}."),
    "short": ("It is {word}.", "Item {n} is {word}.", "Item {n} is {word}. It weighs {weight} grams."),
    "wrong": ("It weighs 99 grams.", "Item {n} is {word}. It weighs {weight} grams.", "It is {word}."),
}


def mix(arena: Arena, folder: Path) -> Arena:
    """Add versions of the three systems that each win and lose, so that all can be rated."""
    for system, cycle in MIXED.items():
        path = write_answers(folder / f"{system}-mixed.jsonl", cycle, 12)
        arena.submissions.add(path, "tiny", system=system)
    return arena


def write_set(parent: Path) -> Path:
    """Write a set of twelve questions over three domains, with passages and references."""
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
    return write_rows(parent / "tiny", "A tiny set", rows)


def write_rows(folder: Path, title: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write questions of three domains as a set named like its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "set.toml").write_text(
        f'name = "{folder.name}"\ntitle = "{title}"\nreference_name = "human"\n'
        '[domains]\nd0 = "Zero"\nd1 = "One"\nd2 = "Two"\n'
    )
    write_lines(folder / "questions.jsonl", rows)
    return folder


def answers_file(folder: Path, name: str, template: str, count: int = 12) -> Path:
    """Write an answer file by one template."""
    return write_answers(folder / f"{name}.jsonl", (template,), count)


def a_submission(system: str, number: int = 1) -> Submission:
    """Return an accepted submission of a system that is not in a store."""
    return Submission(
        id=number,
        set_id=1,
        set_name="s",
        system=system,
        team="",
        version=1,
        state=SubmissionState.ACCEPTED,
        card=SystemCard(),
        kind=SubmissionKind.ANSWERS,
        phase="open",
        content_hash="h",
        answers=0,
        no_answers=0,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def a_score(
    system: str,
    metric: str = "comprehensiveness-nli",
    question: str = "q",
    **details: Any,  # noqa: ANN401 - any JSON
) -> ScoredAnswer:
    """Return a score of an answer; the first letter of the question is its domain."""
    return ScoredAnswer(
        submission=1,
        system=system,
        question_id=question,
        domain=question[0],
        metric=metric,
        judge="",
        outcome=Outcome.JUDGED,
        score=0.5,
        details=details,
    )


def write_answers(path: Path, templates: Sequence[str], count: int) -> Path:
    """Write answers to the first questions of the set, cycling through the templates."""
    rows = [
        {
            "question_id": f"q{n}",
            "answer": templates[n % len(templates)].format(n=n, word=WORDS[n % 6], weight=n + 10),
        }
        for n in range(count)
    ]
    return write_lines(path, rows)


def write_lines(path: Path, rows: Iterable[object]) -> Path:
    """Write values as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_many(folder: Path, questions: int) -> Path:
    """Write the set `many` of short questions in two domains."""
    rows = [
        {
            "id": f"q{n:02}",
            "domain": f"d{n % 2}",
            "question": f"{'What' if n % 3 else 'How much'} do we know of item {n}?",
            "reference": f"Item {n} weighs {n + 10} grams.",
            "passages": [{"id": f"p{n}", "text": f"Item {n} weighs {n + 10} grams and is blue."}],
        }
        for n in range(questions)
    ]
    return write_rows(folder, "Many", rows)


@pytest.fixture
def arena_of(run: Commands) -> Commands:
    """Commands over the small set and two systems: one complete, one with half of the answers."""
    shutil.copyfile(_template(two=True), run.home / "arena.sqlite")
    return run


STARTED: list[subprocess.Popen[str]] = []
"""Processes of a test, killed with its arenas."""


def start(arena: Arena, *arguments: str, fresh: bool = False, **variables: str) -> subprocess.Popen[str]:
    """Start `arena …` in a process with an arena's settings; it is killed at the end.

    Keywords are further variables. The n-th process logs to `log-n` in the test's folder. A `fresh` process
    loads the program itself; others are forked from a loaded one, which saves seconds.
    """
    settings = arena.settings
    environment = {
        **os.environ,  # noqa: TID251 - what a process of the machine needs
        "ARENA_HOME": str(settings.home),
        "ARENA_DATABASE_URL": settings.database_url,
        "OPENAI_BASE_URL": settings.endpoint,
        "OPENAI_API_KEY": "none",
        "ARENA_LOG_FORMAT": "json",
        **variables,
    }
    with (settings.home.parent / f"log-{len(STARTED)}").open("w") as log:
        command = [*([sys.executable, "-m", "arena"] if fresh else [str(program())]), *arguments]
        STARTED.append(
            subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stderr=log, text=True
            )
        )
    return STARTED[-1]


def until(what: Callable[[], bool], seconds: float = 3 * PATIENCE) -> None:
    """Wait until a condition holds, by default for three minutes."""
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.05)
