from __future__ import annotations

from pathlib import Path

import pytest

from arena.site.admin.common import usd
from tests.arena.conftest import Commands, Serve
from tests.cases import cases


@pytest.fixture(autouse=True)
def _public_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat local endpoints as remote, where unpriced models have an unknown cost."""
    monkeypatch.setattr("judges.llm.prices.is_private", lambda _: False)


PANEL = cases(__file__, "PANEL")
UNPRICED = 'kind = "llm"\nextends = "reference-free"\nmodel = "a-house-model"\n'


def judge(folder: Path, spec: str) -> Path:
    path = folder / "house.toml"
    path.write_text(spec)
    return path


def test_unpriced_model_suggests_price_or_no_cap(arena_of: Commands, tmp_path: Path) -> None:
    words = ("rounds", "run", "--set", "tiny", "--judge", judge(tmp_path, UNPRICED), "--name", "r")
    err = arena_of.fails(*words, endpoint="https://llm.example.com/v1")
    assert "The price of a-house-model is unknown" in err
    advice = " ".join(err.split())
    assert "arena judges price a-house-model IN OUT" in advice
    assert "--no-cap" in advice
    assert arena_of.json("rounds", "list", "--json") == []
    output = arena_of("judges", "price", "gemini-2.5-pro")[1]
    assert "1.250" in output
    assert "2.5 in, 15 out" in output
    assert "genai-prices" in output


def test_panel_with_unpriced_member_has_unknown_cost(
    arena_of: Commands, scripted_llm: Serve, tmp_path: Path
) -> None:
    """A single member without a price makes the cost of the round null, printed as a dash."""
    arena_of.endpoint = scripted_llm().url
    words = ("--set", "tiny", "--judge", judge(tmp_path, PANEL), "--sample", 6, "--name", "r")
    assert arena_of.json("rounds", "plan", *words, "--json")["cost_usd"] is None
    done = arena_of.json("rounds", "run", *words, "--no-cap", "--json")
    assert (done["judged"], done["cost_usd"]) == (12, None)
    assert done["input_tokens"] > 0
    output = arena_of("rounds", "status", "r")[1]
    assert [line.split() for line in output.splitlines() if line.startswith("cost_usd")] == [
        ["cost_usd", "–"]
    ]
    assert usd(done["cost_usd"]) == "price unknown"
    arena_of.done("rounds", "export", "r", tmp_path / "out")


def test_replayed_round_is_free_and_priced_panel_has_sum(
    arena_of: Commands, scripted_llm: Serve, tmp_path: Path
) -> None:
    """Cached replies cost 0 with any model."""
    arena_of.endpoint = scripted_llm().url
    priced = PANEL.replace("a-house-model", "gpt-4o")
    costs = [
        arena_of.json(
            *("rounds", "run", "--set", "tiny", "--judge", judge(tmp_path, spec), "--sample", 3),
            *("--no-cap", "--name", f"r{number}", "--json"),
        )["cost_usd"]
        for number, spec in enumerate((UNPRICED, UNPRICED, priced))
    ]
    assert costs[:2] == [None, 0]
    assert costs[2] > 0


def test_metric_by_unpriced_model_has_unknown_cost(
    arena_of: Commands, scripted_llm: Serve, tmp_path: Path
) -> None:
    words = ("metrics", "run", "--set", "tiny", "--metric", "coverage-icat-a", "--systems", "half")
    path = judge(tmp_path, UNPRICED)
    done = arena_of.json(*words, "--judge", path, "--json", endpoint=scripted_llm().url)
    assert done["calls"] > 0
    assert done["cost_usd"] is None
