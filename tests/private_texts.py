"""Published round of a set with private texts, with a distinct mark in each kind of text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.metrics.factory import MetricRequest
from data.models import TokenScope
from tests.arena.conftest import play, settings_of, write_lines, write_set

QUESTION, REFERENCE, PASSAGE = "QUESTIONMARK", "REFERENCEMARK", "PASSAGEMARK"
OURS, THEIRS = "OURMARK", "THEIRMARK"
EVERY = (QUESTION, REFERENCE, PASSAGE, OURS, THEIRS)


def marks_in(text: str) -> set[str]:
    """Return the kinds of private texts that occur in a text."""
    return {mark for mark in EVERY if mark in text}


def private_round(folder: Path) -> tuple[Arena, Mapping[str, str]]:
    """Judge and publish the round `first` of the set `tiny`, with `ours` of alpha and `theirs` of beta.

    Returns the arena, and the tokens of the teams and of the organiser olga.
    """
    set_folder = write_set(folder)
    settings = settings_of(folder / "home")
    arena = Arena(settings)
    questions = set_folder / "questions.jsonl"
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    for row in rows:
        row["question"] = f"{QUESTION} {row['question']}"
        row["reference"] = f"{REFERENCE}: {row['reference']}"
        for passage in row["passages"]:
            passage["text"] = f"{PASSAGE}: {passage['text']}"
    write_lines(questions, rows)
    arena.sets.import_from(set_folder)
    arena.policies.show_texts("tiny", public=False)
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    tokens = {
        "olga": arena.tokens.create(name="o", scopes={TokenScope.ORGANISE}, account="olga", caller=OPERATOR)
    }
    for team, system, mark in (("alpha", "ours", OURS), ("beta", "theirs", THEIRS)):
        arena.teams.add(team, caller=OPERATOR)
        scopes = {TokenScope.SUBMIT, TokenScope.READ}
        tokens[team] = arena.tokens.create(name=team, scopes=scopes, team=team, caller=OPERATOR)
        answers = [
            {"question_id": f"q{n}", "answer": f"{mark}: item {n} weighs {n + 10 * (team == 'alpha')} grams."}
            for n in range(12)
        ]
        path = write_lines(folder / f"{system}.jsonl", answers)
        arena.submissions.add(path, "tiny", system=system, team=team)
    play(arena, "first")
    arena.metrics.run("tiny", MetricRequest(metric="comprehensiveness-nli"))
    arena.boards.publish("first", report=lambda _note: None, score=False)
    return arena, {name: token.secret for name, token in tokens.items()}
