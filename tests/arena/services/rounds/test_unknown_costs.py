from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.site.admin.common import usd

pytestmark = pytest.mark.usefixtures("public_endpoints")

PANEL = """
kind = "panel"
rule = "majority"

[[members]]
name = "priced"
extends = "reference-free"
model = "gpt-4.1"

[[members]]
name = "unpriced"
extends = "reference-free"
model = "a-house-model"
"""
UNPRICED = 'kind = "llm"\nextends = "reference-free"\nmodel = "a-house-model"\n'


def _judge(folder: Path, spec: str) -> Path:
    path = folder / "house.toml"
    path.write_text(spec)
    return path


def test_a_panel_with_an_unpriced_member_has_unknown_cost(
    arena_of: Any,  # noqa: ANN401 - commands
    scripted_llm: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """D10: one member without a price makes the cost of the round null and a dash."""
    server = scripted_llm()
    judge = _judge(tmp_path, PANEL)
    words = ("--set", "tiny", "--judge", judge, "--sample", 6, "--name", "r")
    plan = arena_of.json("rounds", "plan", *words, "--json", endpoint=server.url)
    assert plan["cost_usd"] is None
    done = arena_of.json("rounds", "run", *words, "--no-cap", "--json", endpoint=server.url)
    assert done["judged"] == 12
    assert done["input_tokens"] > 0
    assert done["cost_usd"] is None
    shown = arena_of("rounds", "status", "r")[1]
    assert [line.split() for line in shown.splitlines() if line.startswith("cost_usd")] == [["cost_usd", "–"]]
    assert usd(done["cost_usd"]) == "price not known"
    assert arena_of("rounds", "export", "r", tmp_path / "out")[0] == 0


def test_a_replayed_round_cost_nothing_and_a_priced_one_what_it_cost(
    arena_of: Any,  # noqa: ANN401 - commands
    scripted_llm: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """D10: replies from the cache cost 0 whatever the model; a panel of priced models has a sum."""
    server = scripted_llm()
    judge = _judge(tmp_path, UNPRICED)
    words = ("--set", "tiny", "--judge", judge, "--sample", 3)
    first = arena_of.json("rounds", "run", *words, "--no-cap", "--name", "one", "--json", endpoint=server.url)
    assert first["cost_usd"] is None
    again = arena_of.json("rounds", "run", *words, "--no-cap", "--name", "two", "--json", endpoint=server.url)
    assert again["judged"] == 6
    assert again["cost_usd"] == 0
    priced = _judge(tmp_path, PANEL.replace("a-house-model", "gpt-4o"))
    words = ("--set", "tiny", "--judge", priced, "--sample", 3)
    third = arena_of.json(
        "rounds", "run", *words, "--no-cap", "--name", "three", "--json", endpoint=server.url
    )
    assert third["cost_usd"] > 0


def test_metrics_of_an_unpriced_model_have_unknown_cost(
    arena_of: Any,  # noqa: ANN401 - commands
    scripted_llm: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """D10: a run of a metric that was charged at no known price says null."""
    server = scripted_llm()
    words = ("metrics", "run", "--set", "tiny", "--metric", "coverage-icat-a", "--systems", "half")
    judge = _judge(tmp_path, UNPRICED)
    found = arena_of.json(*words, "--judge", judge, "--json", endpoint=server.url)
    assert found["calls"] > 0
    assert found["cost_usd"] is None
