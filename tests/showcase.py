"""Arena in which every page has content: two published rounds, teams, people, work in progress.

Its set is a part of the bundled set, small enough to be judged twice in seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import Role, SubmissionKind, TokenScope
from tests.narrow import listed
from tests.site_views import Names

BUNDLED = Path(__file__).parents[1] / "data" / "sets" / "demo"
SET = "topics"
TITLE = "Topics: 18 questions of three domains"
DOMAINS = ("finance", "science", "biomedical")
OF_EACH_DOMAIN = 6
TEAM, TEAM_TITLE, OTHER_TEAM = "north", "North Lab", "south"
SYSTEMS_OF_TEAM = ("meridian", "pithy")
SPRING, SUMMER, AUTUMN = "spring", "summer", "autumn"
"""Two published rounds, and a round that waits for a worker."""
PIECES = 3
"""Passages that a submitted run finds for a question."""


NAMES = Names(board=SUMMER, question_set=SET, submission=6, rounds=(SUMMER, AUTUMN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Showcase:
    """Arena, and the tokens of three of its users."""

    settings: Settings
    organiser: str
    member: str


def prepare(home: Path) -> Showcase:
    """Fill an arena in a new folder."""
    arena = Arena(Settings(home=home, database_url=f"sqlite:///{home / 'arena.sqlite'}"))
    files = home / "files"
    files.mkdir(parents=True)
    questions = _questions()
    arena.sets.import_from(_written_set(files, questions), name=SET)
    tokens = _people(arena)
    names = {str(question["id"]) for question in questions}
    # The first version of `meridian` answers half of the questions, the second answers all.
    first = {"meridian": "hesitant", "partisan": "partisan", "pithy": "pithy", "slipshod": "slipshod"}
    _submit(arena, files, first, names)
    _judge(arena, SPRING)
    _submit(arena, files, {"meridian": "meridian"}, names)
    _judge(arena, SUMMER)
    _submit_run(arena, files, questions)
    _work_in_progress(arena)
    arena.boards.publish_paper()
    arena.close()
    return Showcase(settings=arena.settings, **tokens)


def _questions() -> list[Mapping[str, object]]:
    lines = (BUNDLED / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        row for name in DOMAINS for row in [row for row in rows if row["domain"] == name][:OF_EACH_DOMAIN]
    ]


def _written_set(files: Path, questions: Iterable[Mapping[str, object]]) -> Path:
    folder = files / SET
    folder.mkdir()
    domains = "".join(f'{domain} = "{domain.title()}"\n' for domain in DOMAINS)
    (folder / "set.toml").write_text(
        f'name = "{SET}"\ntitle = "{TITLE}"\nversion = "1"\nlicence = "CC0-1.0"\n'
        f'source = "Taken from the bundled set"\nreference_name = "reference"\n[domains]\n{domains}'
    )
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in questions))
    return folder


def _people(arena: Arena) -> dict[str, str]:
    arena.teams.add_account("Ada", is_organiser=True, caller=OPERATOR)
    for name in ("Nia", "Bo"):
        arena.teams.add_account(name, caller=OPERATOR)
    arena.teams.add(TEAM, title=TEAM_TITLE, contact="nia@example.org", caller=OPERATOR)
    arena.teams.add(OTHER_TEAM, title="South Institute", caller=OPERATOR)
    arena.teams.add_member(TEAM, "Nia", role=Role.OWNER, caller=OPERATOR)
    of_a_member = {TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE}
    return {
        "organiser": _token(arena, "Ada", {TokenScope.ORGANISE, TokenScope.READ}),
        "member": _token(arena, "Nia", of_a_member),
    }


def _token(arena: Arena, account: str, scopes: set[TokenScope]) -> str:
    return arena.tokens.create(name="browser", account=account, scopes=scopes, caller=OPERATOR).secret


def _submit(arena: Arena, files: Path, systems: Mapping[str, str], names: set[str]) -> None:
    """Submit the bundled answers of a system under another name."""
    for system, bundled in systems.items():
        rows = (BUNDLED / "answers" / f"{bundled}.jsonl").read_text(encoding="utf-8").splitlines()
        path = files / f"{system}.jsonl"
        path.write_text("".join(f"{row}\n" for row in rows if json.loads(row)["question_id"] in names))
        team = TEAM if system in SYSTEMS_OF_TEAM else OTHER_TEAM
        card = BUNDLED / "answers" / f"{bundled}.card.yaml"
        arena.submissions.add(path, SET, system=system, team=team, card=card)


def _judge(arena: Arena, name: str) -> None:
    arena.rounds.create(RoundRequest(set_name=SET, judge="lexical", pairs="all", name=name))
    arena.rounds.run(name, concurrency=4, report=lambda _progress: None)
    arena.boards.publish(name, report=lambda _note: None, score=True)


def _submit_run(arena: Arena, files: Path, questions: Iterable[Mapping[str, object]]) -> None:
    """Submit two runs with the same passages in opposite orders."""
    passages = {str(row["id"]): [str(entry["id"]) for entry in listed(row["passages"])] for row in questions}
    for system, step in (("finder", 1), ("seeker", -1)):
        run = files / f"{system}.trec"
        run.write_text(
            "".join(
                f"{name} Q0 {piece} {rank} {9 - rank} r\n"
                for name, ids in passages.items()
                for rank, piece in enumerate(ids[::step][:PIECES], start=1)
            )
        )
        arena.submissions.add(run, SET, system=system, kind=SubmissionKind.CONTEXTS, team=OTHER_TEAM)


def _work_in_progress(arena: Arena) -> None:
    """Queue a round that waits for a worker."""
    arena.rounds.create(RoundRequest(set_name=SET, judge="reference-free", name=AUTUMN, budget_usd=5.0))
    arena.jobs.judge(AUTUMN)
