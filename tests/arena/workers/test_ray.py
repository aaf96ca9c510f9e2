"""A round on a Ray cluster: the same verdicts and books as in one process, also when a node dies."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import EngineKind
from arena.workers.ray import RayEngine
from data import parallel
from data.errors import InputError, WorkError
from data.models import RoundState
from tests.arena.conftest import Fill, Serve
from tests.long_work import nested, numbers, refused, results, squared, write_input
from tests.narrow import known
from tests.postgres_pool import PostgresPool, Schema

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="NO RAY: rounds are not tested on a cluster"
    ),
    # Ray leaves sockets and files to the garbage collector.
    pytest.mark.filterwarnings("ignore"),
]


def _quiet(_progress: object) -> None:
    """No progress."""


@pytest.fixture
def cluster(
    make_arena: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Arena], Any]]:
    """Start a cluster of two nodes whose environment names an arena's database; stopped at the end."""
    import ray  # noqa: PLC0415 - an extra
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - as above

    started: list[Any] = []

    def start(arena: Arena) -> Any:  # noqa: ANN401 - the library ships no types
        settings = arena.settings
        monkeypatch.setenv("ARENA_HOME", str(settings.home))
        monkeypatch.setenv("ARENA_DATABASE_URL", settings.database_url)
        monkeypatch.setenv("OPENAI_BASE_URL", settings.endpoint)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
        monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        made.add_node(num_cpus=1)
        started.append(made)
        ray.init(address=made.address, log_to_driver=False)
        return made

    yield start
    ray.shutdown()
    for made in started:
        made.shutdown()


def _create(arena: Arena, name: str, **fields: Any) -> None:  # noqa: ANN401 - fields of a request
    named: dict[str, Any] = {"judge": "reference-free", "budget_usd": 10.0, **fields}
    arena.rounds.create(RoundRequest(set_name="tiny", name=name, pairs="all", **named))


def _found(arena: Arena, name: str) -> list[tuple[object, ...]]:
    return [(one.key, one.outcome, one.preference, one.score) for one in arena.rounds.battles(name)]


def test_ray_judges_as_one_process_does(
    filled: Fill, scripted_llm: Serve, database_url: str, cluster: Callable[[Arena], Any]
) -> None:
    """Verdicts, outcomes, cost and tokens are those of the local engine."""
    server = scripted_llm(rule="hash", faults={"refusal": 0.1, "wrong_format": 0.1})
    arena = filled(database_url=database_url, endpoint=server.url)
    _create(arena, "local")
    local = arena.rounds.run("local", concurrency=8, report=_quiet)
    arena.store.replies.forget()
    cluster(arena)
    _create(arena, "ray")
    counts = RayEngine(arena).judge("ray", concurrency=8, report=_quiet)
    assert _found(arena, "ray") == _found(arena, "local")
    assert counts.cost_usd == pytest.approx(local.cost_usd)
    assert (counts.input_tokens, counts.output_tokens) == (local.input_tokens, local.output_tokens)
    assert arena.rounds.status("ray")[0].state is RoundState.FINISHED


def test_node_killed_mid_round_costs_nothing_but_its_calls(
    filled: Fill, scripted_llm: Serve, database_url: str, cluster: Callable[[Arena], Any]
) -> None:
    server = scripted_llm(latency=0.4)
    arena = filled(database_url=database_url, endpoint=server.url)
    made = cluster(arena)
    _create(arena, "r")
    victim: list[int] = []

    def kill() -> None:
        ends = time.monotonic() + 120
        while arena.rounds.status("r")[1].judged < 12 and time.monotonic() < ends:
            time.sleep(0.05)
        node = list(made.worker_nodes)[0]  # noqa: RUF015 - a set of one
        raylet = node.all_processes["raylet"][0].process.pid
        below = [
            lease.worker.pid for lease in arena.store.leases.all() if _parent(lease.worker.pid) == raylet
        ]
        for pid in (raylet, *below):
            os.kill(pid, signal.SIGKILL)
            victim.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    counts = RayEngine(arena).judge("r", concurrency=4, report=_quiet)
    killer.join()
    assert len(victim) >= 2, "no task ran on the node that was killed"
    assert (counts.judged, counts.planned, counts.pending) == (72, 72, 0)
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED
    assert server.log.calls <= 74 + 4
    account = arena.store.ledgers.account(arena.store.rounds.get("r").id)
    assert account.drawn == pytest.approx(0.0, abs=1e-9)
    assert account.spent <= known(account.cap)
    assert arena.store.leases.all() == ()


@pytest.fixture
def on_ray(filled: Fill, postgres: PostgresPool, cluster: Callable[[Arena], Any]) -> Iterator[Fill]:
    """Open an arena whose engine is a cluster of two nodes with the same database."""
    with postgres.lending() as lend:

        def start(**options: Any) -> Arena:  # noqa: ANN401 - settings of any type
            arena = filled(database_url=lend(Schema.NEWEST), engine=EngineKind.RAY, **options)
            cluster(arena)
            return arena

        yield start


def test_a_cluster_gives_the_bytes_of_one_process(
    on_ray: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, value in ((parallel, "AT_HAND", -1), (parallel, "LEAST_LEFT", -1)):
        monkeypatch.setattr(module, name, value)
    write_input(tmp_path)
    here = results(tmp_path)
    arena = on_ray()
    with arena.engine.parallel() as spread:
        assert results(tmp_path) == here
        assert list(spread.map(squared, numbers(40), (7,))) == [7 + n * n for n in range(40)]
        assert list(spread.map(nested, numbers(3))) == [[], [1], [2, 3]]
        with pytest.raises(InputError, match="Five cannot be used"):
            list(spread.map(refused, numbers(6)))
        with pytest.raises(WorkError, match=r"refused \(ZeroDivisionError: seven\)"):
            list(spread.map(refused, [(7,)]))


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
