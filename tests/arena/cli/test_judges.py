"""`arena judges try` with two answers, and on three battles of the demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.errors import EndpointError
from data.models import Outcome
from tests.arena.conftest import DEAD_ENDPOINT, Commands, Fill, Serve


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """Command line for two answers."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"Answer {name} says that yeast makes gas.\n")
    files = ("--question", "Why?", "--a", str(tmp_path / "a.txt"), "--b", str(tmp_path / "b.txt"))
    return ("judges", "try", "--judge", "reference-free", *files)


@pytest.mark.slow
def test_dead_endpoint_reports_error_with_advice(run: Commands, words: tuple[str, ...]) -> None:
    assert "OPENAI_BASE_URL" in run.fails(*words, endpoint=DEAD_ENDPOINT)


@pytest.mark.parametrize(("fault", "outcome"), [("refusal", "refused"), ("wrong_format", "unreadable")])
def test_missing_verdict_is_error(
    fault: str, outcome: str, run: Commands, words: tuple[str, ...], scripted_llm: Serve
) -> None:
    code, out, err = run(*words, "--json", endpoint=scripted_llm(faults={fault: 1.0}).url)
    assert code == 1
    assert json.loads(out)["outcome"] == outcome
    assert outcome in err


def test_model_is_tested_in_both_orders(make_arena: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm()
    result = make_arena(endpoint=server.url).judges.test("gpt-4o")
    assert server.log.calls == result.calls == 6
    assert {body["model"] for body in server.log.bodies} == {"gpt-4o"} == set(result.models)
    assert result.passed
    assert result.agreeing == 3
    assert {battle["outcome"] for battle in result.battles} == {Outcome.JUDGED}
    assert result.latency is not None
    assert all("<rating>" in battle["judgments"][0]["replies"][0]["text"] for battle in result.battles)


def test_position_biased_judge_is_detected(make_arena: Fill, scripted_llm: Serve) -> None:
    result = make_arena(endpoint=scripted_llm(rule="first").url).judges.test("reference-free")
    assert (result.judged, result.agreeing) == (3, 0)
    assert "agree on 0 of 3" in result.sentence


def test_refused_key_fails_after_one_request(make_arena: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm(faults={"unauthorised": 1.0})
    with pytest.raises(EndpointError, match="HTTP 401"):
        make_arena(endpoint=server.url).judges.test("reference-free")
    assert server.log.calls == 1
