"""Boards as they seldom are: two systems, no battle, nothing but ties, forty systems of long names.

Each is of a small set of its own, made in a second or two by the embedded judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import RoundState
from tests.site_views import View

TWO, NOTHING, TIES, MANY, SURE = "two", "nothing", "ties", "many", "sure"
BOARDS = (TWO, NOTHING, TIES, MANY, SURE)
SYSTEMS = 40
NEVER_MET, TWO_ANSWERS = "never-met-anyone-in-this-round", "answered-two-questions-alone"
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
Answers = Mapping[str, Callable[[int], str | None]]
"""By system its answer to the question of a number; None for no answer."""


def prepare(home: Path) -> Settings:
    """Fill an arena in a folder that does not exist yet."""
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    (home / "files").mkdir(parents=True)
    _board(arena, TWO, 6, ("everything",), {"first": _taking(2), "second": _taking(3)})
    _board(arena, NOTHING, 6, ("one", "two"), {"first": _whole, "second": _whole}, is_judged=False)
    _board(arena, TIES, 12, ("one", "two"), dict.fromkeys(("first", "second", "third"), _whole))
    _board(arena, SURE, 24, ("one", "two"), {"wins-23": _winning(23), "wins-20": _winning(20)})
    systems: dict[str, Callable[[int], str | None]] = {
        f"{WORDS[at % 6]}-retriever-with-reranking-and-{WORDS[at // 7]}-model-2026-{at:02}": _taking(at + 1)
        for at in range(SYSTEMS)
    }
    systems[NEVER_MET] = lambda number: _whole(number) if number % 3 == 2 else None
    systems[TWO_ANSWERS] = lambda number: _whole(number) if number in {0, 1} else None
    domains = ("biomedical and clinical research", "finance", "left out")
    _board(arena, MANY, 18, domains, systems, asked=domains[:2])
    arena.close()
    return arena.settings


def views() -> list[View]:
    """The pages of these boards on which something odd could go wrong."""
    pages = (
        "/?board=",
        "/matrix?board=",
        "/compare?board=",
        "/trust?board=",
    )
    return [View(f"{page}{name}") for name in BOARDS for page in pages]


def _whole(number: int) -> str:
    return (
        f"Item {number} is {WORDS[number % 6]}. It weighs {number + 10} grams. It is stored in hall {number}."
    )


def _taking(system: int) -> Callable[[int], str]:
    """Answers that hold more or fewer of the three facts, in another order for each system."""

    def answer(number: int) -> str:
        facts = _whole(number).split(". ")
        return ". ".join(facts[: 1 + (number * system + number // 2 + system) % 3])

    return answer


def _winning(times: int) -> Callable[[int], str]:
    """Answers that say more than the reference to so many questions, and less to the others."""
    return lambda number: _whole(number) if number < times else f"It is {WORDS[number % 6]}."


def _board(
    arena: Arena,
    name: str,
    count: int,
    domains: Sequence[str],
    systems: Answers,
    *,
    asked: Sequence[str] = (),
    is_judged: bool = True,
) -> None:
    files = arena.settings.home / "files"
    arena.sets.import_from(_set(files, name, count, domains))
    for system, answer in systems.items():
        rows = [
            {"question_id": f"q{number}", "answer": text}
            for number in range(count)
            if (text := answer(number)) is not None
        ]
        path = files / f"{name}-{system}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        arena.submissions.add(path, name, system=system)
    pairs = "reference" if len(systems) == SYSTEMS + 2 else "all"
    asked_ids = tuple(f"d{domains.index(domain)}" for domain in asked)
    arena.rounds.create(
        RoundRequest(set_name=name, judge="lexical", pairs=pairs, name=name, domains=asked_ids)
    )
    if is_judged:
        arena.rounds.run(name, concurrency=2, report=lambda _progress: None)
        arena.boards.publish(name, report=lambda _note: None, partial=True)
        return
    standings = arena.boards.standings(name).as_json()
    arena.store.boards.publish(name, round_id=arena.store.rounds.get(name).id, standings=standings)
    arena.store.rounds.move(name, to=RoundState.PUBLISHED, allowed=(RoundState.PLANNED,))


def _set(files: Path, name: str, count: int, domains: Sequence[str]) -> Path:
    folder = files / name
    folder.mkdir()
    labels = "".join(f'd{at} = "{label.title()}"\n' for at, label in enumerate(domains))
    (folder / "set.toml").write_text(
        f'name = "{name}"\ntitle = "Board with {name}"\nreference_name = "human"\n[domains]\n{labels}'
    )
    rows = [
        {
            "id": f"q{number}",
            "domain": f"d{number % len(domains)}",
            "question": f"What do we know of item {number}?",
            "reference": _whole(number)
            if name in {TIES, MANY}
            else ". ".join(_whole(number).split(". ")[:2]),
            "passages": [{"id": f"q{number}-p1", "text": _whole(number)}],
        }
        for number in range(count)
    ]
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder
