"""Rounds at endpoints with ways of their own, from their first request to their board."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.services.rounds.models import RoundRequest
from data.models import Outcome, RoundState
from tests.arena.conftest import Commands, Fill
from tests.providers import server
from tests.providers.base import Answer, Call, End, Mode, completion, refusal

JUDGE = 'kind = "llm"\nmodel = "{model}"\norder = "both"\n'


def _moderated(call: Call) -> Answer:
    """OpenRouter, whose moderation does not like one of the questions."""
    asked = str(call.body["messages"][-1]["content"])
    if "of item 3 " in asked:
        return refusal(403, "Your chosen model requires moderation and your input was flagged", code=403)
    return completion(call)


def test_a_moderated_question_keeps_no_round_from_its_board(
    filled: Fill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its battles are refused with what the endpoint said; the rest is judged and published."""
    mode = Mode(name="moderated", about="one question is flagged", end=End.REFUSED, answer=_moderated)
    monkeypatch.setattr(server, "MODES", {**server.MODES, mode.name: mode})
    spec = tmp_path / "moderated.toml"
    spec.write_text(JUDGE.format(model=mode.name))
    with server.ScriptedProviders().running() as endpoint:
        arena = filled(endpoint=endpoint.url)
        request = RoundRequest(set_name="tiny", judge=str(spec), name="r", pairs="all")
        arena.rounds.create(request)
        counts = arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    refused = [one for one in arena.store.verdicts.evidence("r") if one.battle.outcome is Outcome.REFUSED]
    assert {one.battle.question_id for one in refused} == {"q3"}
    assert all("flagged" in (one.battle.detail or "") for one in refused)
    assert (counts.refused, counts.pending, counts.failed) == (len(refused), 0, 0)
    assert counts.judged == counts.planned - len(refused) > 0
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED
    arena.boards.publish("r", report=lambda _progress: None, score=False)
    assert arena.rounds.status("r")[0].state is RoundState.PUBLISHED


def test_several_models_behind_a_name_are_told(filled: Fill, tmp_path: Path) -> None:
    spec = tmp_path / "routed.toml"
    spec.write_text(JUDGE.format(model="openrouter-auto"))
    with server.ScriptedProviders().running() as endpoint:
        arena = filled(endpoint=endpoint.url)
        request = RoundRequest(set_name="tiny", judge=str(spec), name="r", pairs="reference", sample="4")
        arena.rounds.create(request)
        counts = arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    health: Any = arena.boards.standings("r").as_json()["health"]
    (told,) = health["conduct"]["warnings"]
    assert told == (
        f"More than one model answered for openrouter-auto: cheaper-model-v1 ({counts.judged}), "
        f"cheaper-model-v2 ({counts.judged})."
    )
    arena.boards.export_round("r", tmp_path / "out")
    lines = (tmp_path / "out" / "judgments.jsonl").read_text().splitlines()
    served = [json.loads(line)["reply"]["response_model"] for line in lines]
    assert Counter(served) == {"cheaper-model-v1": counts.judged, "cheaper-model-v2": counts.judged}


def test_a_model_without_a_price_is_not_asked_unawares(arena_of: Commands, tmp_path: Path) -> None:
    """`rounds run` names both ways on, and begins nothing."""
    spec = tmp_path / "unpriced.toml"
    spec.write_text(JUDGE.format(model="model-of-tomorrow"))
    words = ("rounds", "run", "--set", "tiny", "--judge", spec, "--name", "r")
    code, _, said = arena_of(*words, endpoint="https://llm.example.com/v1")
    assert code != 0
    assert "No price is known for model-of-tomorrow" in said
    told = " ".join(said.split())
    assert "arena judges price model-of-tomorrow IN OUT" in told
    assert "--no-cap" in told
    assert arena_of.json("rounds", "list", "--json") == []
    shown = arena_of("judges", "price", "gemini-2.5-pro")[1]
    assert "1.250" in shown
    assert "2.5 in, 15 out" in shown
    assert "genai-prices" in shown
