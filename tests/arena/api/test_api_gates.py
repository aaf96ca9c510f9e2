"""Gates by the API: a team on another machine holds a new version against an old one."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from arena.container import Arena
from data.records import GateRule
from tests.arena.api.conftest import Club


def test_gate_waits_for_a_worker_and_says_what_it_found(
    club: Club,
    alpha: httpx.Client,
    beta: httpx.Client,
    nobody: httpx.Client,
    answers: Callable[..., bytes],
    submit: Callable[..., httpx.Response],
) -> None:
    """Refused without a rule; then 202 with a number that the team and organisers alone can follow."""
    submit(alpha, answers("first"), system="gated").raise_for_status()
    draft = submit(alpha, answers("second"), system="gated", hold=True).json()["id"]
    body = {"submission": draft, "max_loss": 5}
    refused = alpha.post("/gates", json=body)
    assert (refused.status_code, "allow no gates" in refused.json()["detail"]) == (403, True)
    arena = Arena(club.settings)
    arena.policies.allow_gates("tiny", GateRule(judge="lexical"))
    try:
        accepted = alpha.post("/gates", json=body)
        assert accepted.status_code == 202
        gate = accepted.json()
        assert (gate["state"], gate["result"]) == ("queued", None)
        address = accepted.headers["location"].removeprefix("/api/v1")
        assert alpha.get(address).json()["id"] == gate["id"]
        assert [client.get(address).status_code for client in (beta, nobody)] == [404, 401]
        assert beta.post("/gates", json=body).status_code == 404
        for wrong in (
            {"max_loss": 101},
            {"against": "newest"},
            {"submission": 0},
            {"judge": "../x"},
            {"x": 1},
        ):
            assert alpha.post("/gates", json={**body, **wrong}).status_code == 422
        assert alpha.post("/gates", json={**body, "submission": 10**6}).status_code == 404
        assert arena.jobs.cancel(gate["id"]).state == "cancelled"
        assert alpha.get(address).json()["error"] == "Somebody cancelled it."
    finally:
        arena.policies.allow_gates("tiny", None)
        arena.close()
