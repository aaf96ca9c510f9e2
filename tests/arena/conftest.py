"""An arena over an empty database, and a small set with answers, for the tests of the application."""

from __future__ import annotations

import gc
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import structlog
from selenium import webdriver
from structlog.testing import LogCapture
from structlog.typing import EventDict

from arena.cli import main
from arena.container import Arena
from arena.logs import Redaction
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import EMBEDDED_ENGINE, Outcome, RoundCounts, RoundState, Score
from tests.browsing import CHROMIUM, DRIVER, Visitor, open_browser
from tests.forked_arena import serving

METRIC = "comprehensiveness-nli"
# Tests that share a server or a browser go to one worker, which starts it once.
SHARED = {"site": "site", "browser": "site", "configured": "site", "club": "api", "public_server": "api"}
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


DEAD_ENDPOINT = "http://127.0.0.1:9/v1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests by what they share; who has a server and a browser of their own shares nothing."""
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        used = item._fixtureinfo.name2fixturedefs
        shared = {name for name, found in used.items() if found[-1].scope != "function"}
        groups = {group for fixture, group in SHARED.items() if fixture in shared}
        if groups and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(min(groups)))


Fill = Callable[..., Arena]
Serve = Callable[..., Any]
Write = Callable[..., Path]
Start = Callable[..., subprocess.Popen[str]]
Until = Callable[..., None]
"""Fixtures: `filled` and `make_arena`, `scripted_llm`, `answers_file`, `start`, `until`."""


class Commands:
    """Runs `arena …` in this process, with its state in a folder of its own."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.endpoint = DEAD_ENDPOINT
        self._patch, self._capture = patch, capture

    def __call__(self, *words: object, endpoint: str | None = None) -> tuple[int, str, str]:
        """Exit code, output and errors."""
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

    def lines(self, *words: object, endpoint: str | None = None) -> list[Any]:
        """The JSON lines that a command prints."""
        return [json.loads(line) for line in self._done(words, endpoint).splitlines()]

    def json(self, *words: object, endpoint: str | None = None) -> Any:  # noqa: ANN401 - any JSON
        """The JSON that a command prints with `--json`, or that it always prints."""
        return json.loads(self._done(words, endpoint))

    def prepare(self, endpoint: str) -> None:
        """Set the variables that a command needs, for processes of their own too."""
        self._patch.setenv("ARENA_HOME", str(self.home))
        self._patch.setenv("ARENA_DATABASE_URL", f"sqlite:///{self.home / 'arena.sqlite'}")
        self._patch.setenv("OPENAI_BASE_URL", endpoint)
        self._patch.setenv("OPENAI_API_KEY", "none")

    def details(self, system: str) -> dict[str, Any]:
        """Return the details of the scores of a system's answers, by question."""
        query = (
            "SELECT question.key, score.details FROM score JOIN answer ON answer.id = score.answer_id "
            "JOIN question ON question.id = answer.question_id "
            "JOIN submission ON submission.id = answer.submission_id WHERE submission.system = ?"
        )
        with sqlite3.connect(self.home / "arena.sqlite") as connection:
            rows = connection.execute(query, (system,)).fetchall()
        connection.close()
        return {name: json.loads(details) for name, details in rows}

    def scores(self) -> list[tuple[str, str, float | None, str]]:
        """Judge, outcome, value and reason of every kept score."""
        with sqlite3.connect(self.home / "arena.sqlite") as connection:
            rows = connection.execute("SELECT judge, outcome, score, details FROM score").fetchall()
        connection.close()
        return [
            (judge, end, value, json.loads(details).get("reason", "")) for judge, end, value, details in rows
        ]

    def _done(self, words: tuple[object, ...], endpoint: str | None) -> str:
        code, out, err = self(*words, endpoint=endpoint)
        assert code == 0, err
        return out


@pytest.fixture
def audit_log() -> Iterator[list[EventDict]]:
    """The lines that changes write into the log."""
    before, capture = structlog.get_config(), LogCapture()
    structlog.configure(processors=[Redaction(()), capture])
    yield capture.entries
    structlog.configure(**before)


@pytest.fixture
def run(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Commands]:
    """Commands over a home with an empty database; what they leave open is found out at the end."""
    yield Commands(empty_home, monkeypatch, capsys)
    gc.collect()


@pytest.fixture
def empty_home(tmp_path: Path, sqlite_template: Path) -> Path:
    """A home with a database that has the newest schema and no rows."""
    home = tmp_path / "home"
    home.mkdir()
    shutil.copyfile(sqlite_template, home / "arena.sqlite")
    return home


@pytest.fixture
def make_arena(empty_home: Path) -> Iterator[Callable[..., Arena]]:
    """Open arenas: `make_arena(database_url=…, endpoint=…, …)`; SQLite in a temporary folder by default."""
    opened: list[Arena] = []

    def make(
        database_url: str | None = None,
        endpoint: str = "http://127.0.0.1:9/v1",
        **options: Any,  # noqa: ANN401 - further settings of any type
    ) -> Arena:
        settings = Settings(
            home=empty_home,
            database_url=database_url or f"sqlite:///{empty_home / 'arena.sqlite'}",
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


@pytest.fixture(scope="session")
def filled_template(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    """A database with the tiny set and three systems, to be copied."""
    folder = tmp_path_factory.mktemp("filled")
    path = folder / "arena.sqlite"
    shutil.copyfile(sqlite_template, path)
    arena = Arena(Settings(home=folder, database_url=f"sqlite:///{path}"))
    _fill(arena, folder)
    arena.close()
    return path


def _fill(arena: Arena, folder: Path) -> None:
    arena.sets.import_from(write_set(folder))
    for system, template in TEMPLATES.items():
        path = write_answers(folder / f"{system}.jsonl", (template,), 12)
        arena.submissions.add(path, "tiny", system=system)


@pytest.fixture
def filled(
    make_arena: Callable[..., Arena], empty_home: Path, filled_template: Path, tmp_path: Path
) -> Callable[..., Arena]:
    """Open an arena that holds the tiny set and three systems."""

    def fill(database_url: str | None = None, **options: Any) -> Arena:  # noqa: ANN401 - settings of any type
        if database_url is None:
            shutil.copyfile(filled_template, empty_home / "arena.sqlite")
            return make_arena(**options)
        arena = make_arena(database_url=database_url, **options)
        if database_url.startswith("sqlite:///"):
            shutil.copyfile(filled_template, database_url.removeprefix("sqlite:///"))
        else:
            (tmp_path / "filling").mkdir()
            _fill(arena, tmp_path / "filling")
        return arena

    return fill


def play(arena: Arena, name: str = "r", *, publish: bool = False, **fields: Any) -> RoundCounts:  # noqa: ANN401
    """Create and judge a round of every pair by the embedded judge, unless fields say otherwise."""
    arena.rounds.create(
        RoundRequest(name=name, **{"set_name": "tiny", "judge": "lexical", "pairs": "all", **fields})
    )
    counts = arena.rounds.run(name, concurrency=8, report=lambda _progress: None)
    if publish:
        arena.boards.publish(name, report=lambda _line: None, score=False)
    return counts


MIXED = {
    "full": ("Item {n} is {word}. It weighs {weight} grams.", "It is {word}."),
    "short": ("It is {word}.", "Item {n} is {word}.", "Item {n} is {word}. It weighs {weight} grams."),
    "wrong": ("It weighs 99 grams.", "Item {n} is {word}. It weighs {weight} grams.", "It is {word}."),
}


def mix(arena: Arena, folder: Path) -> Arena:
    """Bring new versions of the three systems, of which each wins and loses, so that all can be rated."""
    for system, cycle in MIXED.items():
        path = write_answers(folder / f"{system}-mixed.jsonl", cycle, 12)
        arena.submissions.add(path, "tiny", system=system)
    return arena


@pytest.fixture
def set_folder(tmp_path: Path) -> Path:
    """A set of twelve questions over three domains, with passages and references."""
    return write_set(tmp_path)


def write_set(parent: Path) -> Path:
    """Write the set into a folder of its own."""
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
    """Write questions of three domains as a set that is called as its folder."""
    folder.mkdir()
    (folder / "set.toml").write_text(
        f'name = "{folder.name}"\ntitle = "{title}"\nreference_name = "human"\n'
        '[domains]\nd0 = "Zero"\nd1 = "One"\nd2 = "Two"\n'
    )
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
    arena.store.rounds.move("tiny", to=RoundState.PUBLISHED, allowed=(RoundState.FINISHED,))
    arena.boards.publish_paper()
    arena.close()
    return settings


def _score(arena: Arena, system: str) -> None:
    (submission,) = arena.store.submissions.find(set_name="tiny", system=system)
    details = {
        "engine": EMBEDDED_ENGINE,
        "covered": ["A covered statement."],
        "missing": ["A missing statement."],
    }
    batch = [
        (number, Score(id=item.id, metric=METRIC, outcome=Outcome.JUDGED, score=0.75, details=details))
        for number, item in arena.store.scores.unscored([submission.id], metric=METRIC, judge="")
    ]
    arena.store.scores.put("", batch)


def write_many(folder: Path, questions: int) -> Path:
    """Write the set `many`, of short questions in two domains."""
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


ROOT = Path(__file__).parents[2]
PATIENCE = 60


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The executable `arena`, which a process that has loaded the program runs as a fork of its own."""
    with serving(tmp_path_factory.mktemp("program")) as made:
        yield made


@contextmanager
def _served(
    program: Path, settings: Settings, log: Path, start: Callable[[str], Path] | None = None, **variables: str
) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}  # noqa: TID251 - of the command
    own = {"ARENA_HOME": str(settings.home), "ARENA_DATABASE_URL": settings.database_url}
    own |= variables
    url = f"http://127.0.0.1:{port}"
    cwd = start(url) if start else ROOT
    with log.open("wb") as output:
        command = [str(program), "serve", "--no-worker", "--port", str(port)]
        process = subprocess.Popen(command, env={**kept, **own}, cwd=cwd, stdout=output, stderr=output)
        try:
            _wait(f"{url}/healthz", process, log)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)
    told = log.read_text()
    assert "Traceback" not in told, told


@pytest.fixture(scope="session")
def served(program: Path) -> Callable[..., AbstractContextManager[str]]:
    """Serve an arena by the command: a context with its address, and the log in a file.

    `start` gives the folder to start it from, by its address; keywords are further variables.
    """
    return partial(_served, program)


@pytest.fixture(scope="session")
def site(
    published: Settings,
    served: Callable[..., AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The address of the published boards, served by the command."""
    with served(published, tmp_path_factory.mktemp("site") / "log") as url:
        yield url


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"{url} does not answer: {log.read_text()}")


@pytest.fixture(scope="session", name="open_browser")
def _open_browser() -> Callable[[], webdriver.Chrome]:
    """Open a browser without a window; whoever opens one quits it."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("SKIPPED, THE SITE IS NOT TESTED IN A BROWSER: install chromium and chromium-driver")
    return open_browser


@pytest.fixture(scope="session")
def browser(open_browser: Callable[[], webdriver.Chrome]) -> Iterator[webdriver.Chrome]:
    """A browser without a window."""
    driver = open_browser()
    yield driver
    driver.quit()


@pytest.fixture
def walk(browser: webdriver.Chrome) -> Iterator[Visitor]:
    """A reader at the browser, who leaves no page behind that works on."""
    yield Visitor(browser)
    browser.get("about:blank")


HALF = "Item {n} is {word}."
WHOLE = "Item {n} is {word}. Item {n} weighs {weight} grams."


@pytest.fixture
def arena_of(run: Commands, set_folder: Path, answers_file: Callable[..., Path]) -> Commands:
    """Commands over a database with the small set and two systems: one whole, one that says half."""
    assert run("sets", "import", set_folder)[0] == 0
    for system, template in (("half", HALF), ("whole", WHOLE)):
        path = answers_file(system, template)
        assert run("submissions", "add", path, "--set", "tiny", "--system", system)[0] == 0
    return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `arena …` in processes of their own, with an arena's settings; killed at the end.

    Keywords are further variables. What the n-th process says goes to `log-n` in the test's folder.
    """
    begun: list[subprocess.Popen[str]] = []

    def run(arena: Arena, *arguments: str, **variables: str) -> subprocess.Popen[str]:
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
        with (tmp_path / f"log-{len(begun)}").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "arena", *arguments], cwd=ROOT, env=environment, stderr=log, text=True
            )
        begun.append(process)
        return process

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.fixture
def until() -> Callable[..., None]:
    """Wait until something is so: `until(lambda: …)`; three minutes at most, or as many seconds as given."""

    def wait(what: Callable[[], bool], seconds: float = 3 * PATIENCE) -> None:
        ends = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < ends, "it did not happen"
            time.sleep(0.05)

    return wait
