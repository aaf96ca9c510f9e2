"""A published round of many systems on many questions, made straight in the store: for measuring the site."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime
from pathlib import Path

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

    Answers are there for the first hundred questions alone: no page reads more than one question's.
    """
    settings = Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}")
    home.mkdir(parents=True, exist_ok=True)
    arena = Arena(settings)
    if any(head.name == NAME for head in arena.boards.heads()):
        arena.close()
        return settings
    _fill(arena, systems, questions)
    start = time.perf_counter()
    arena.boards.publish(NAME, report=lambda _line: None, score=False)
    print(f"publishing {systems * questions:,} battles took {time.perf_counter() - start:.1f} s")
    arena.close()
    return settings


def _fill(arena: Arena, systems: int, questions: int) -> None:
    rng = random.Random(SEED)
    moment = datetime.now(UTC)
    with arena.store.database.begin() as connection:
        connection.execute(
            insert(question_sets).values(
                _blank(question_sets)
                | {
                    "id": 1,
                    "name": NAME,
                    "title": "A large set",
                    "version": "1",
                    "licence": "",
                    "source": "",
                    "reference_name": "human",
                    "domains": {name: name.title() for name in DOMAINS},
                    "questions": questions,
                    "content_hash": "x" * 64,
                    "created_at": moment,
                }
            )
        )
        rows = [_question(number, rng) for number in range(1, questions + 1)]
        connection.execute(insert(question_table), rows)
        names = ["human", *(f"system-{at:02d}" for at in range(systems))]
        connection.execute(
            insert(submissions),
            [
                _blank(submissions)
                | {
                    "id": at + 1,
                    "set_id": 1,
                    "kind": "reference" if at == 0 else "system",
                    "system": name,
                    "team": "",
                    "version": 1,
                    "state": "accepted",
                    "card": {},
                    "content_hash": f"{at:064d}",
                    "answers": questions,
                    "no_answers": 0,
                    "created_at": moment,
                }
                for at, name in enumerate(names)
            ],
        )
        connection.execute(
            insert(answers),
            [
                {
                    "submission_id": at + 1,
                    "question_id": number,
                    "contexts": [],
                    "no_answer": False,
                    "text": f"{name} says of number {number} what there is to say. " * 8,
                }
                for at, name in enumerate(names)
                for number in range(1, 101)
            ],
        )
        connection.execute(
            insert(rounds).values(
                id=1,
                name=NAME,
                set_id=1,
                state="finished",
                judge="lexical",
                seed=0,
                created_at=moment,
                finished_at=moment,
                plan={
                    "pairs": "reference",
                    "systems": dict.fromkeys(names[1:], 1),
                    "judge": {"kind": "lexical", "hash": "0", "model": "", "order": "both"},
                },
            )
        )
        connection.execute(insert(ledgers).values(round_id=1))
        batch = []
        for number in range(1, questions + 1):
            for at in range(1, systems + 1):
                drawn = rng.random()
                won = 0.2 + 0.5 * at / systems
                preference = "tie" if drawn < 0.1 else "a" if drawn < 0.1 + 0.9 * won else "b"
                batch.append(
                    {
                        "round_id": 1,
                        "key": f"{number}-{at}",
                        "question_id": number,
                        "a_id": at + 1,
                        "b_id": 1,
                        "outcome": "judged",
                        "preference": preference,
                        "flipped": drawn < 0.03,
                        "detail": "",
                    }
                )
            if len(batch) >= CHUNK:
                connection.execute(insert(battles), batch)
                batch = []
        if batch:
            connection.execute(insert(battles), batch)


def _blank(table: Table) -> dict[str, str]:
    """Empty texts for the columns that must have one, whichever there are."""
    must = (column for column in table.columns if not column.nullable and column.default is None)
    return {column.name: "" for column in must if str(column.type).startswith(("TEXT", "VARCHAR"))}


def _question(number: int, rng: random.Random) -> dict[str, object]:
    domain = DOMAINS[number % len(DOMAINS)]
    one, other = rng.choice(TOPICS), rng.choice(TOPICS)
    text = f"Question {number}: why do {one} matter so much for {other}, and since when?"
    content = {"id": f"q{number}", "domain": domain, "question": text, "reference": "It is known."}
    return {
        "id": number,
        "set_id": 1,
        "position": number,
        "key": f"q{number}",
        "domain": domain,
        "text": text,
        "content": content,
    }
