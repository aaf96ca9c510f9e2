from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from arena.site.services import as_secrets
from tests.arena.conftest import Commands, Fill, answers_file, write_lines, write_set

FREE = RoundRequest(set_name="tiny", judge="lexical")
PAID = RoundRequest(set_name="tiny", judge="reference-free")
PUBLIC_ENDPOINT = "https://llm.example.org/v1"
LABEL = {"question": "What is item 1?", "answer_a": "Item 1 is beta.", "answer_b": "No.", "label": "a"}


def lacks(arena: Arena, request: RoundRequest) -> dict[str, bool]:
    """Return the missing prerequisites of a planned round, and whether each blocks the launch."""
    plan = arena.planner.estimate(request, caller=OPERATOR)
    assert all(row["text"] and row["advice"] for row in plan["to_do"])
    return {row["what"]: row["blocks"] for row in plan["to_do"]}


def test_llm_round_lacks_key_cap_and_calibration(filled: Fill) -> None:
    arena = filled(endpoint=PUBLIC_ENDPOINT)
    assert lacks(arena, PAID) == {"no cap": True, "not calibrated": False}
    bare = Arena(replace(arena.settings, api_key=None))
    assert list(lacks(bare, PAID)) == ["no cap", "no key", "not calibrated"]
    assert lacks(bare, FREE) == {"not calibrated": False}
    bare.close()


def test_low_cap_and_unknown_price_are_reported(filled: Fill) -> None:
    arena = filled(endpoint=PUBLIC_ENDPOINT)
    assert "cap too low" not in lacks(arena, replace(PAID, budget_usd=50.0))
    assert lacks(arena, replace(PAID, budget_usd=0.000001))["cap too low"] is False
    spec = arena.settings.judges_folder / "unpriced.toml"
    spec.parent.mkdir()
    spec.write_text('name = "unpriced"\nkind = "llm"\nmodel = "unpriced-model"\nground_truth = "none"\n')
    assert lacks(arena, replace(PAID, judge="unpriced", budget_usd=5.0))["no price"] is True


def test_set_without_answers_or_references_is_reported(make_arena: Fill, tmp_path: Path) -> None:
    set_folder = write_set(tmp_path)
    arena = make_arena()
    questions = set_folder / "questions.jsonl"
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    write_lines(questions, ({**row, "reference": ""} for row in rows))
    arena.sets.import_from(set_folder)
    assert lacks(arena, FREE)["no answers"] is True
    arena.submissions.add(answers_file(tmp_path, "one", "{word}."), "tiny", system="one")
    assert lacks(arena, replace(FREE, pairs="reference"))["no references"] is True
    arena.submissions.add(answers_file(tmp_path, "two", "It is {word}."), "tiny", system="two")
    assert "no references" not in lacks(arena, replace(FREE, pairs="all"))
    assert "no references" not in lacks(arena, replace(FREE, pairs=""))


def test_readiness_reports_incomplete_answers(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    arena.submissions.add(answers_file(tmp_path, "part", "{word}.", 5), "tiny", system="part")
    named = replace(FREE, systems=("part", "full"))
    assert lacks(arena, named) == {"answers missing": False, "not calibrated": False}


def test_taken_name_and_empty_plan_are_reported(filled: Fill) -> None:
    arena = filled()
    arena.rounds.create(replace(FREE, name="spring"))
    assert lacks(arena, replace(FREE, name="spring"))["name taken"] is True
    assert "name taken" not in lacks(arena, replace(FREE, name="summer"))


def test_calibrated_judge_needs_no_calibration(filled: Fill, tmp_path: Path) -> None:
    from arena.workers.worker import Worker  # noqa: PLC0415 - loads what the other tests do without

    arena = filled()
    labels = write_lines(tmp_path / "labels.jsonl", [{**LABEL, "id": f"p{number}"} for number in range(4)])
    arena.calibrations.start(labels, ["lexical"], caller=OPERATOR)
    assert lacks(arena, FREE) == {"not calibrated": False}
    Worker(arena, arena.job_leases.worker).run(once=True)
    assert lacks(arena, FREE) == {}


def test_pages_know_only_whether_key_is_set(tmp_path: Path) -> None:
    cases: tuple[tuple[dict[str, Any], bool], ...] = (
        ({"api_key": "sk-1"}, True),
        ({}, False),
        ({"transport": "litellm"}, True),
        ({"key_elsewhere": True}, True),
    )
    for fields, has in cases:
        settings = Settings(home=tmp_path, database_url="sqlite://", **fields)
        packed = as_secrets(settings)["arena"]
        assert settings.has_key is bool(packed["has_key"]) is has
        assert "sk-1" not in str(packed)


def test_plan_command_lists_missing_prerequisites(filled: Fill, run: Commands) -> None:
    arena = filled()
    words = ("rounds", "plan", "--set", "tiny", "--judge", "reference-free")
    out = run.done(*words)
    assert "needed: The judge calls an LLM, and the round has no cap." in out
    assert "to consider: The judge reference-free is not calibrated" in out
    assert any(row["what"] == "no cap" for row in run.json(*words, "--json")["to_do"])
    assert arena.rounds.rounds() == ()
