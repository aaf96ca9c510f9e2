"""`arena rounds` with proxy judges: planned, run, watched and published from the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.arena.conftest import Commands

SCOPE = ("--set", "tiny", "--judge", "reference-free", "--pairs", "all", "--canaries", "0")


@pytest.fixture
def run_waves(arena_of: Commands, scripted_llm: Callable[..., Any]) -> Callable[..., Any]:
    """Run a command over the small set with a scripted LLM, and return the JSON that it prints."""
    url = scripted_llm().url

    def run(*words: object) -> Any:  # noqa: ANN401 - any JSON
        return arena_of.json(*words, "--json", endpoint=url)

    return run


def test_a_round_in_waves_from_plan_to_board(run_waves: Callable[..., Any]) -> None:
    """The curve is printed, the spend kept to, the books balance, and the board says what is estimated."""
    cheap = ("--proxy-judge", "lexical", "--judge-budget", "20")
    plan = run_waves("rounds", "plan", *SCOPE, *cheap)
    assert plan["planned"] == 36
    curve = plan["waves"]["curve"]
    assert [point["verdicts"] for point in curve] == [20, 36]
    assert plan["waves"]["correlations"] == [0.5, 0.7, 0.9]
    assert "verdicts of lexical" in plan["waves"]["basis"]
    assert curve[-1]["cost_usd"] == pytest.approx(plan["cost_usd"])
    done = run_waves("rounds", "run", *SCOPE, *cheap, "--name", "r", "--no-cap")
    assert (done["planned"], done["judged"], done["estimated"], done["pending"]) == (36, 20, 16, 0)
    assert done["waves"]["ended"] == "spend"
    assert [wave["battles"] for wave in done["waves"]["waves"]] == [20]
    (judge,) = done["waves"]["cheap_judges"]
    assert (judge["name"], judge["kind"], judge["outcomes"]) == ("lexical", "judge", {"judged": 36})
    assert run_waves("rounds", "publish", "r", "--no-metrics")["created"]


def test_people_read_the_same(arena_of: Commands, scripted_llm: Callable[..., Any]) -> None:
    """Without --json curve and waves are tables and lines, and what the proxy judge was worth is noted."""
    url = scripted_llm().url
    cheap = ("--proxy-judge", "lexical", "--target-width", "1", "--objective", "leaders")
    code, out, _ = arena_of("rounds", "plan", *SCOPE, *cheap, endpoint=url)
    assert code == 0
    assert "width at correlation 0.70" in out
    code, out, err = arena_of("rounds", "run", *SCOPE, *cheap, "--name", "r", "--no-cap", endpoint=url)
    assert code == 0, err
    assert "nothing more to learn" in out
    assert "36 of 36 battles judged by reference-free" in err
    assert "times as many verdicts" in err


def test_options_that_do_not_go_together_are_refused(arena_of: Commands) -> None:
    """A spend without a proxy judge, and a proxy judge without an end, say what to add."""
    code, _, err = arena_of("rounds", "plan", *SCOPE, "--judge-budget", "20")
    assert (code, "--proxy-judge" in err) == (1, True)
    code, _, err = arena_of("rounds", "plan", *SCOPE, "--proxy-judge", "lexical")
    assert (code, "--target-width" in err) == (1, True)
