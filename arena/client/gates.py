"""Where gates are judged: this machine's arena, or another's. Both give the same JSON."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from arena.client.backends import RemoteBackend, SubmissionBackend, errors_as_ours
from arena.container import open_arena
from data.errors import ServerError

if TYPE_CHECKING:
    from arena.services.gates.model import GateRequest

FIRST_LOOK, LONGEST_LOOK = 0.5, 10.0
OVER = ("done", "failed", "cancelled")


def judged(backend: SubmissionBackend, request: GateRequest, *, patience: float) -> dict[str, Any]:
    """Hold two versions against each other.

    Args:
        backend: The arena.
        request: What is held against what.
        patience: Seconds to wait for another machine's workers.

    Returns:
        What `GateReport.as_json` gives.

    Raises:
        ServerError: The gate failed there, or did not end in time.
        ArenaError: The arena refuses it.
    """
    if not isinstance(backend, RemoteBackend):
        return open_arena().gates.run(request).as_json()
    with errors_as_ours():
        gate: dict[str, Any] = backend.client.request("POST", "/gates", json=request.as_json()).json()
    wait, until = FIRST_LOOK, time.monotonic() + patience
    while gate["state"] not in OVER:
        if time.monotonic() > until:
            raise ServerError(
                f"Gate {gate['id']} did not end within {patience:g} seconds; it is {gate['state']}.",
                advice="Ask the organisers whether a worker runs, or wait longer: --wait.",
            )
        time.sleep(wait)
        wait = min(LONGEST_LOOK, 2 * wait)
        with errors_as_ours():
            gate = backend.client.request("GET", f"/gates/{gate['id']}").json()
    if gate["result"] is None:
        raise ServerError(
            f"Gate {gate['id']} {gate['state']}: {gate['error'] or 'no reason is known.'}",
            advice="Try again, or ask the organisers.",
        )
    result: dict[str, Any] = gate["result"]
    return result
