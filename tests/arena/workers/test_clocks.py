"""Workers with wrong clocks, each in its own process."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.services.rounds.models import RoundRequest
from data.models import JobState, RoundState
from tests.arena.conftest import Fill, Serve, start, until

DAY = 86_400
# Python runs a module of this name first, so all later code reads this clock.
SHIFTED = """
import datetime, os, sqlite3, time

shift = float(os.environ["SHIFT"])
true_time, true_ns, Datetime = time.time, time.time_ns, datetime.datetime
time.time = lambda: true_time() + shift
time.time_ns = lambda: true_ns() + int(shift * 1e9)


class Kind(type):
    def __instancecheck__(cls, value):
        return isinstance(value, Datetime)


class Shifted(Datetime, metaclass=Kind):
    @classmethod
    def now(cls, tz=None):
        return Datetime.now(tz) + datetime.timedelta(seconds=shift)

    @classmethod
    def utcnow(cls):
        return cls.now(datetime.timezone.utc).replace(tzinfo=None)


sqlite3.register_adapter(Shifted, lambda value: value.isoformat(' '))
datetime.datetime = Shifted
"""


def _told_at(log: Path) -> Iterator[datetime]:
    for line in filter(lambda line: line.startswith("{"), log.read_text().splitlines()):
        yield datetime.fromisoformat(json.loads(line)["at"])


@pytest.mark.slow
def test_workers_with_wrong_clocks_judge_each_battle_once(
    filled: Fill, scripted_llm: Serve, database_url: str, tmp_path: Path
) -> None:
    """One clock is right, one a day ahead, one a day behind: only dead workers are given up."""
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(SHIFTED)
    server = scripted_llm(latency=0.5)
    arena = filled(database_url=database_url, endpoint=server.url)
    request = RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all")
    round_id = arena.rounds.create(replace(request, budget_usd=9.0)).id
    shifts = {"right": 0, "ahead": DAY, "behind": -DAY}
    workers = {
        name: start(
            arena, "worker", "--name", name, fresh=True, PYTHONPATH=str(tmp_path / "clock"), SHIFT=str(shift)
        )
        for name, shift in shifts.items()
    }
    logs = {name: tmp_path / f"log-{place}" for place, name in enumerate(shifts)}
    until(lambda: all("worker.started" in log.read_text() for log in logs.values()))
    for name, shift in shifts.items():
        time = next(_told_at(logs[name]))
        assert abs(time - datetime.now(UTC) - timedelta(seconds=shift)) < timedelta(hours=1)
    arena.jobs.judge("r", options={"concurrency": 2})
    until(lambda: {lease.worker.name for lease in arena.store.leases.all()} == set(shifts))
    until(lambda: arena.rounds.status("r")[1].judged > 12)
    assert arena.store.jobs.get(1).attempts == 0
    assert server.log.asked_twice == {}
    workers["ahead"].kill()
    workers["ahead"].wait()
    until(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    evidence = list(arena.store.verdicts.evidence("r"))
    assert [len(battle.judgments) for battle in evidence] == [1] * 72
    # Requests that the dead worker had in flight may have been repeated.
    assert server.log.calls <= 72 + 2
    assert arena.store.ledgers.account(round_id).drawn < 1e-9
    assert arena.store.jobs.get(1).state is JobState.DONE
    for name in ("right", "behind"):
        workers[name].send_signal(signal.SIGTERM)
        assert workers[name].wait(60) == 0
        assert "LeaseLostError" not in logs[name].read_text()
