"""`arena judges try` without a pair: three battles of the demo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from arena.container import Arena
from data.errors import EndpointError
from data.models import Outcome

Fill = Callable[..., Arena]
Serve = Callable[..., Any]


def test_a_model_is_tried_in_both_orders(make_arena: Fill, scripted_llm: Serve) -> None:
    """Six requests, their replies, what they cost, how long they took, and whether the orders agree."""
    server = scripted_llm()
    found = make_arena(endpoint=server.url).judges.test("gpt-4o")
    assert server.log.calls == found.calls == 6
    assert {body["model"] for body in server.log.bodies} == {"gpt-4o"} == set(found.models)
    assert found.passed
    assert found.agreeing == 3
    assert {battle["outcome"] for battle in found.battles} == {Outcome.JUDGED}
    assert found.latency is not None
    assert all("<rating>" in one["judgments"][0]["replies"][0]["text"] for one in found.battles)


def test_a_judge_by_position_is_found_out(make_arena: Fill, scripted_llm: Serve) -> None:
    """A judge that takes what it sees first agrees with itself on no battle."""
    found = make_arena(endpoint=scripted_llm(rule="first").url).judges.test("reference-free")
    assert (found.judged, found.agreeing) == (3, 0)
    assert "agree on 0 of 3" in found.sentence


def test_a_refused_key_is_told_after_one_request(make_arena: Fill, scripted_llm: Serve) -> None:
    """The first request is a probe."""
    server = scripted_llm(faults={"unauthorised": 1.0})
    with pytest.raises(EndpointError, match="HTTP 401"):
        make_arena(endpoint=server.url).judges.test("reference-free")
    assert server.log.calls == 1
