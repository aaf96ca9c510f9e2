"""Rate limits of an endpoint under workers that share a round, counted in its log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.services.rounds.models import RoundRequest
from data.models import RoundState
from tests.arena.conftest import Fill, Serve, start, until

MINUTE = 60.0


def _most_above(times: Sequence[float], per_minute: float) -> float:
    """Return the largest excess of calls over the rate in any stretch of time."""
    rate = per_minute / MINUTE
    # Spans start and end at calls: `worst` is the best start so far, with each call as an end in turn.
    worst, most = float("inf"), 0.0
    for number, moment in enumerate(times):
        worst = min(worst, number - rate * moment)
        most = max(most, number + 1 - rate * moment - worst)
    return most


@pytest.mark.slow
def test_workers_share_limit_per_minute(
    filled: Fill, scripted_llm: Serve, database_url: str, tmp_path: Path
) -> None:
    """A joining worker takes its share of the rate at once: the sum never exceeds the limit.

    The rate allows a second's worth at once, plus one for calls with different delays.
    """
    server = scripted_llm()
    arena = filled(database_url=database_url, endpoint=server.url)
    rpm = 300
    names = ("first", "second")
    for name in names:
        start(arena, "worker", "--name", name)
    until(lambda: all("worker.started" in (tmp_path / f"log-{worker}").read_text() for worker in (0, 1)))
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all"))
    arena.jobs.judge("r", options={"concurrency": 16, "rpm": rpm})
    until(lambda: {lease.worker.name for lease in arena.store.leases.all()} == set(names))
    until(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    counts = arena.rounds.status("r")[1]
    assert (counts.judged, counts.pending, server.log.calls) == (72, 0, 72)
    assert _most_above(server.log.times, rpm) <= 2 * rpm / MINUTE
