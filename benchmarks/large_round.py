"""Create a published round of many systems and questions directly in the store, to measure the site."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from made import arena_in
from sqlalchemy import Table, insert

from arena.container import Arena
from arena.settings import Settings
from data.models.rounds import battles, ledgers, rounds
from data.models.submissions import answers, question_sets, submissions
from data.models.submissions import questions as question_table

NAME = "large"
DOMAINS = ("biomedical", "finance", "lifestyle", "recreation", "science", "technology", "writing")
TOPICS = ("interest rates", "old cheese", "a broken knee", "soil", "verbs", "batteries", "orchids", "tides")
CHUNK = 20_000
SEED = 7


def make_large_round(home: Path, *, systems: int = 50, questions: int = 16_000) -> Settings:
    """Fill a database with a judged round of every system against the reference, and publish it.

    Only the first hundred questions have answers, since each page reads the answers of one question.
    """
    arena = arena_in(home)
    if not any(head.name == NAME for head in arena.boards.heads()):
        _fill(arena, systems, questions)
        start = time.perf_counter()
        arena.boards.publish(NAME, report=lambda _line: None, score=False)
        print(f"publishing {systems * questions:,} battles took {time.perf_counter() - start:.1f} s")
    arena.close()
    return arena.settings


def _fill(arena: Arena, systems: int, questions: int) -> None:
    rng, moment = random.Random(SEED), datetime.now(UTC)
    names = ["human", *(f"system-{at:02d}" for at in range(systems))]
    own_set = {"id": 1, "name": NAME, "title": "A large set", "version": "1", "reference_name": "human"}
    own_set |= {"domains": {name: name.title() for name in DOMAINS}, "questions": questions}
    entrants = [
        {"id": at + 1, "set_id": 1, "kind": "system" if at else "reference", "system": name, "version": 1}
        | {"state": "accepted", "card": {}, "content_hash": f"{at:064d}", "created_at": moment}
        | {"answers": questions, "no_answers": 0}
        for at, name in enumerate(names)
    ]
    texts = [
        {"submission_id": at + 1, "question_id": number, "contexts": [], "no_answer": False}
        | {"text": f"{name} says of number {number} what there is to say. " * 8}
        for at, name in enumerate(names)
        for number in range(1, 101)
    ]
    judge = {"kind": "lexical", "hash": "0", "model": "", "order": "both"}
    plan = {"pairs": "reference", "systems": dict.fromkeys(names[1:], 1), "judge": judge}
    round_ = {"id": 1, "name": NAME, "set_id": 1, "state": "finished", "judge_name": "lexical", "seed": 0}
    round_ |= {"created_at": moment, "finished_at": moment, "plan": plan}
    with arena.store.database.begin() as connection:
        for table, rows in (
            (question_sets, [own_set | {"content_hash": "x" * 64, "created_at": moment}]),
            (question_table, [_question(number, rng) for number in range(1, questions + 1)]),
            (submissions, entrants),
            (answers, texts),
            (rounds, [round_]),
            (ledgers, [{"round_id": 1}]),
        ):
            connection.execute(insert(table), [_blank(table) | row for row in rows])
        for first in range(1, questions + 1, CHUNK // systems):
            numbers = range(first, min(first + CHUNK // systems, questions + 1))
            connection.execute(insert(battles), [*_battles(rng, numbers, systems)])


def _battles(rng: random.Random, numbers: range, systems: int) -> Iterator[dict[str, object]]:
    for number in numbers:
        for at in range(1, systems + 1):
            draw, won = rng.random(), 0.2 + 0.5 * at / systems
            preference = "tie" if draw < 0.1 else "a" if draw < 0.1 + 0.9 * won else "b"
            ids = {"round_id": 1, "key": f"{number}-{at}", "question_id": number, "a_id": at + 1, "b_id": 1}
            ended = {"outcome": "judged", "preference": preference, "flipped": draw < 0.03, "detail": ""}
            yield ids | ended


def _blank(table: Table) -> dict[str, object]:
    """Return empty texts for required columns."""
    must = (column for column in table.columns if not column.nullable and column.default is None)
    return {column.name: "" for column in must if str(column.type).startswith(("TEXT", "VARCHAR"))}


def _question(number: int, rng: random.Random) -> dict[str, object]:
    domain = DOMAINS[number % len(DOMAINS)]
    topic, other = rng.choice(TOPICS), rng.choice(TOPICS)
    text = f"Question {number}: why do {topic} matter so much for {other}, and since when?"
    content = {"id": f"q{number}", "domain": domain, "question": text, "reference": "It is known."}
    row = {"id": number, "set_id": 1, "position": number, "key": f"q{number}", "domain": domain, "text": text}
    return {**row, "content": content}
