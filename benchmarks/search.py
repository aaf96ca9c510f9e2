"""Search in all texts of a board, on SQLite and on PostgreSQL: times, size of the index, cost of submissions.

    PYTHONPATH=. python benchmarks/search.py [--systems 50] [--questions 16000] [--runs 20] [--json]
        [--home FOLDER] [--url postgresql+psycopg://postgres@127.0.0.1:5432] [--only sqlite|postgresql]

Makes a set of so many questions, and as many answers of every system: 45 words by Zipf's law (the most
frequent stands in three answers of ten) among 30 words that nearly every text has. Prints for each kind
of search p50 and p95 over different words, in milliseconds:

- `search`: the questions that have it, and the first 50 with places and excerpts, by the service, as site
  and API answer;
- `index`: the part of the index in that, without list, places and excerpts;
- `cpu`: this process's processor time of `search`, which a busy machine changes less;
- `cold`: the first of all in a new process; on SQLite after its file left the cache.

Then the bytes of the index beside those of the answers' texts, and the time of `submissions add` with the
index and without it. With --home the databases are kept in the folder, or on the server, for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import create_engine, insert, text

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.evidence.question_lists import QuestionFilter
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.records import Answer, Question, QuestionSet, SystemCard
from data.search.query import SearchQuery
from data.search.words import STOP_WORDS
from data.store.submissions.writing import NewSubmission
from data.store.text_index import QUESTIONS
from data.tables.rounds import question_digests

NAME = "search"
SEED = 11
WORDS = 30_000
FLATNESS = 18
"""Of the law of Zipf and Mandelbrot: the most frequent words are about as frequent as in English without
those that nearly every text has."""
OWN, COMMON = 45, 30
TIMES = 3
ROWS = 50


def main() -> None:
    """Make, or find, the databases, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--questions", type=int, default=16_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--url", default="postgresql+psycopg://postgres@127.0.0.1:5432")
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cold", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cold:
        print(cold_search(*given.cold.split(" ", 1)))
        return
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        home = given.home or Path(folder)
        for engine in ("sqlite", "postgresql"):
            if given.only in {None, engine}:
                with_server = engine == "postgresql"
                url = f"{given.url}/arena_search" if with_server else f"sqlite:///{home / 'search.sqlite'}"
                results[engine] = measure(url, home, given)
                if with_server and not given.home:
                    drop(given.url)
    print(json.dumps(results, indent=2) if given.json else "\n\n".join(map(described, results.items())))


def measure(url: str, home: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Everything about one database."""
    if url.startswith("postgresql"):
        make_database(given.url)
    arena = Arena(Settings(home=home, database_url=url))
    words = Words(np.random.default_rng(SEED))
    if not arena.store.sets.summaries():
        fill(arena, words, given.systems, given.questions)
        if url.startswith("postgresql"):
            analyse(url)
    found: dict[str, Any] = {"searches": {}}
    submissions = [one.id for one in arena.store.submissions.find(set_name=NAME)][: given.systems]
    # As the site does when it starts.
    arena.question_lists.of(NAME)
    among = [QUESTIONS, arena.store.submissions.reference(NAME).id, *submissions]
    for kind, make in words.kinds().items():
        whole, part, busy, counts = [], [], [], []
        for _ in range(given.runs):
            asked = make()
            started, worked = time.perf_counter(), time.process_time()
            page = arena.question_search.page(NAME, QuestionFilter(search=asked), limit=ROWS, caller=OPERATOR)
            whole.append(time.perf_counter() - started)
            busy.append(time.process_time() - worked)
            counts.append(page.total)
            started = time.perf_counter()
            _ = arena.store.texts.find(SearchQuery.parse(asked), among).questions
            part.append(time.perf_counter() - started)
        found["searches"][kind] = {
            "questions": round(statistics.median(counts)),
            "search": spread(whole),
            "index": spread(part),
            "processor": spread(busy),
            "cold": cold(url, make(), home),
        }
    found |= sizes(arena, url)
    print(json.dumps(found), file=sys.stderr)
    arena.close()
    found |= added(url, home, words, given)
    return found


class Words:
    """Draws texts and searches."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        weights = 1 / (np.arange(WORDS) + 1 + FLATNESS)
        self._weights = weights / weights.sum()
        letters = np.array(list("bcdfgklmnprtvz")), np.array(list("aeiou"))
        made = dict.fromkeys(self._word(*letters) for _ in range(4 * WORDS))
        self._own: NDArray[np.str_] = np.array(list(made)[:WORDS])
        self._common = np.array(sorted(STOP_WORDS))

    def _word(self, hard: NDArray[np.str_], soft: NDArray[np.str_]) -> str:
        """Four syllables, which no stemmer shortens."""
        pairs = zip(self._rng.choice(hard, 4), self._rng.choice(soft, 4), strict=True)
        return "".join(f"{one}{other}" for one, other in pairs) + "k"

    def texts(self, count: int) -> list[str]:
        """Answers."""
        own = self._own[self._rng.choice(WORDS, (count, OWN), p=self._weights)]
        common = self._common[self._rng.integers(len(self._common), size=(count, COMMON))]
        order = self._rng.permutation(OWN + COMMON)
        return [f"{' '.join(row)}." for row in np.hstack([own, common])[:, order]]

    def kinds(self) -> dict[str, Callable[[], str]]:
        """What is searched for, by name."""
        return {
            "rare word": lambda: self._one(8_000, WORDS),
            "usual word": lambda: self._one(200, 1_000),
            "frequent word": lambda: self._one(0, 20),
            "two usual words": lambda: f"{self._one(50, 500)} {self._one(50, 500)}",
            "two frequent words": lambda: f"{self._one(0, 20)} {self._one(0, 20)}",
            "phrase of usual words": lambda: f'"{self._one(50, 300)} {self._one(50, 300)}"',
            "phrase of frequent words": lambda: f'"{self._one(0, 20)} {self._one(0, 20)}"',
            "as people ask": lambda: f"what is the {self._one(0, 300)} of a {self._one(300, 5_000)}",
            "not there": lambda: "xylophonist",
        }

    def _one(self, first: int, last: int) -> str:
        return str(self._own[self._rng.integers(first, last)])


def fill(arena: Arena, words: Words, systems: int, questions: int) -> None:
    """A set with answers of every system, and a round with a line for every question."""
    asked = words.texts(questions)
    references = words.texts(questions)
    arena.store.sets.add(
        QuestionSet(
            name=NAME,
            title="A large set",
            licence="CC0-1.0",
            reference_name="human",
            domains={"all": "All"},
            questions=tuple(
                Question(id=f"q{at}", domain="all", question=text_[:90], reference=references[at])
                for at, text_ in enumerate(asked)
            ),
        ),
        "hash",
    )
    started = time.perf_counter()
    for at in range(systems):
        submit(arena, f"system-{at:02d}", words.texts(questions))
        print(f"{at + 1} of {systems} systems", file=sys.stderr, end="\r")
    print(f"\n{systems} submissions in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    request = RoundRequest(set_name=NAME, judge="lexical", pairs="reference", sample="7", name=NAME)
    arena.rounds.create(request)
    round_id = arena.store.rounds.get(NAME).id
    (set_id,) = (one.id for one in arena.store.sets.summaries())
    with arena.store.database.begin() as connection:
        counts = dict.fromkeys(
            ("battles", "undecided", "ties", "flips", "disputed", "contested", "winners"), 1
        )
        rows = [
            {"round_id": round_id, "question_id": number, "margin": 0.1, "variance": 0.1, **counts}
            for number, _ in arena.store.sets.numbered(set_id)
        ]
        connection.execute(insert(question_digests), rows)
    arena.store.boards.publish(NAME, round_id=round_id, standings={"title": "A large set"})


def submit(arena: Arena, system: str, texts: Sequence[str]) -> int:
    """Store the answers of a system."""
    new = NewSubmission(set_name=NAME, system=system, team="", card=SystemCard(), content_hash=system)
    rows = ((Answer(question_id=f"q{at}", answer=one), False) for at, one in enumerate(texts))
    return arena.store.submissions.add(new, rows)[0].id


def cold(url: str, asked: str, home: Path) -> float:
    """Milliseconds of the first search of a new process."""
    file = Path(url.removeprefix("sqlite:///"))
    if file.is_file():
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    command = [sys.executable, __file__, "--cold", f"{url} {home} {asked}"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def cold_search(url: str, rest: str) -> float:
    """Search in this process, which has read nothing yet; its modules are loaded."""
    home, asked = rest.split(" ", 1)
    arena = Arena(Settings(home=Path(home), database_url=url))
    arena.question_search  # noqa: B018 - imported before the clock starts
    _ = arena.store.texts, arena.store.sets, arena.store.rounds, arena.store.submissions
    started = time.perf_counter()
    arena.question_search.page(NAME, QuestionFilter(search=asked), limit=ROWS, caller=OPERATOR)
    return round(1_000 * (time.perf_counter() - started), 1)


def sizes(arena: Arena, url: str) -> dict[str, Any]:
    """Megabytes of the index, and of the answers' texts."""
    with arena.store.database.begin() as connection:
        characters = connection.execute(text("SELECT sum(length(text)) FROM answer")).scalar_one()
        statement = (
            "SELECT sum(pgsize) FROM dbstat WHERE name = 'text_index'"
            if url.startswith("sqlite")
            else "SELECT pg_total_relation_size('text_index')"
        )
        index = connection.execute(text(statement)).scalar_one()
    return {"index_mb": round(float(index) / 1e6, 1), "texts_mb": round(float(characters) / 1e6, 1)}


def added(url: str, home: Path, words: Words, given: argparse.Namespace) -> dict[str, Any]:
    """Seconds of `submissions add` with the index and without, in turn, and the ratio of their medians."""
    times: dict[bool, list[float]] = {True: [], False: []}
    file = home / "answers.jsonl"
    for turn in range(2 * TIMES):
        with_index = turn % 2 == 0
        lines = (
            json.dumps({"question_id": f"q{at}", "answer": one})
            for at, one in enumerate(words.texts(given.questions))
        )
        file.write_text("\n".join(lines), encoding="utf-8")
        arena = Arena(Settings(home=home, database_url=url, work_seconds=600))
        arena.store.sets.summaries()
        system = f"added-{time.time_ns()}"
        with nullcontext() if with_index else patch("data.store.submissions.writing.IndexWriter"):
            started = time.perf_counter()
            outcome = arena.submissions.add(file, set_name=NAME, system=system, caller=OPERATOR)
            times[with_index].append(time.perf_counter() - started)
        del outcome
        if with_index:
            (stored,) = arena.store.submissions.find(set_name=NAME, system=system)
            arena.store.submissions.withdraw(stored.id, "measured")
        arena.close()
    indexed, plain = statistics.median(times[True]), statistics.median(times[False])
    return {
        "added_answers": given.questions,
        "add_s": round(indexed, 2),
        "add_without_index_s": round(plain, 2),
        "ratio": round(indexed / plain, 2),
    }


def make_database(server: str) -> None:
    """Make the database on the server, if it is not there."""
    for _ in _on_server(server):
        if not _.execute(text("SELECT 1 FROM pg_database WHERE datname = 'arena_search'")).scalar():
            _.execute(text("CREATE DATABASE arena_search"))


def drop(server: str) -> None:
    """Remove it."""
    for connection in _on_server(server):
        connection.execute(text("DROP DATABASE arena_search WITH (FORCE)"))


def analyse(url: str) -> None:
    """What the server does by itself a minute later."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("VACUUM ANALYZE"))
    engine.dispose()


def _on_server(server: str) -> Iterator[Any]:
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """p50 and p95 in milliseconds."""
    p50, p95 = np.quantile(seconds, (0.5, 0.95)) * 1_000
    return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


def described(result: tuple[str, dict[str, Any]]) -> str:
    """The figures of one database as a table."""
    engine, found = result
    heads = f"{engine:<26}{'questions':>10}{'search p50':>12}{'p95 ms':>9}{'index p50':>11}{'p95':>8}"
    lines = [f"{heads}{'cpu p50':>9}{'p95':>7}{'cold':>8}"]
    for kind, one in found["searches"].items():
        whole, part = one["search"], one["index"]
        lines.append(
            f"{kind:<26}{one['questions']:>10,}{whole['p50']:>12.0f}{whole['p95']:>9.0f}{part['p50']:>11.0f}"
            f"{part['p95']:>8.0f}{one['processor']['p50']:>9.0f}{one['processor']['p95']:>7.0f}"
            f"{one['cold']:>8.0f}"
        )
    lines.append(f"index {found['index_mb']:,} MB, texts of answers {found['texts_mb']:,} MB")
    lines.append(
        f"submissions add of {found['added_answers']:,} answers: {found['add_s']} s, without the index "
        f"{found['add_without_index_s']} s: {found['ratio']} times"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
