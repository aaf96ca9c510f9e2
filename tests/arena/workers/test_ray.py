"""Rounds and long tasks on a Ray cluster: same results and costs as one process, even if a node dies."""

from __future__ import annotations

import importlib.util
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import EngineKind, Settings
from arena.workers.ray import RayEngine
from data import parallel
from data.errors import InputError, WorkError
from data.models import RoundState
from tests.arena.conftest import TEMPLATES, write_answers, write_set
from tests.databases import postgres
from tests.long_work import nested, numbers, refused, results, squared, write_input
from tests.narrow import known
from tests.scripted_llm import Script, ScriptedLLM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="NO RAY: rounds are not tested on a cluster"
    ),
    # Ray leaves sockets and files to the garbage collector.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.xdist_group("ray"),
]


@dataclass(frozen=True, slots=True)
class OnRay:
    """Arena on PostgreSQL, its endpoint, and a cluster of two nodes with the same database."""

    arena: Arena
    server: ScriptedLLM
    cluster: Any

    def create(self, name: str, **script: Any) -> None:  # noqa: ANN401 - the fields of `Script`
        """Create a round with unjudged battles."""
        self.server.reset()
        self.server.script = Script(**script)
        self.arena.store.replies.forget()
        request = RoundRequest(
            set_name="tiny", name=name, pairs="all", judge="reference-free", budget_usd=10.0
        )
        self.arena.rounds.create(request)

    def verdicts(self, name: str) -> list[tuple[object, ...]]:
        """Return the verdicts of a round."""
        battles = self.arena.rounds.battles(name)
        return [(battle.key, battle.outcome, battle.preference, battle.score) for battle in battles]


@pytest.fixture(scope="module")
def on_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnRay]:
    """One cluster for all tests; the last test kills a node."""
    import ray  # noqa: PLC0415 - an extra
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - as above

    folder = tmp_path_factory.mktemp("ray")
    with (
        postgres().lending() as lend,
        ScriptedLLM().running() as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        settings = Settings(
            home=folder, database_url=lend(), endpoint=server.url, api_key="none", engine=EngineKind.RAY
        )
        variables = {
            "ARENA_HOME": str(settings.home),
            "ARENA_DATABASE_URL": settings.database_url,
            "OPENAI_BASE_URL": settings.endpoint,
            "OPENAI_API_KEY": "none",
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        for name, value in variables.items():
            patch.setenv(name, value)
        with closing(Arena(settings)) as arena:
            arena.sets.import_from(write_set(folder))
            for system, template in TEMPLATES.items():
                path = write_answers(folder / f"{system}.jsonl", (template,), 12)
                arena.submissions.add(path, "tiny", system=system)
            cluster: Any = Cluster(
                initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
            )
            try:
                cluster.add_node(num_cpus=1)
                ray.init(address=cluster.address, log_to_driver=False)
                yield OnRay(arena, server, cluster)
            finally:
                ray.shutdown()
                cluster.shutdown()


def test_ray_verdicts_equal_single_process(on_ray: OnRay) -> None:
    script: dict[str, Any] = {"rule": "hash", "faults": {"refusal": 0.1, "wrong_format": 0.1}}
    on_ray.create("local", **script)
    local = on_ray.arena.rounds.run("local", concurrency=8, report=lambda _progress: None)
    on_ray.create("ray", **script)
    counts = RayEngine(on_ray.arena).judge("ray", concurrency=8, report=lambda _progress: None)
    assert on_ray.verdicts("ray") == on_ray.verdicts("local")
    assert counts.cost_usd == pytest.approx(local.cost_usd)
    assert (counts.input_tokens, counts.output_tokens) == (local.input_tokens, local.output_tokens)
    assert on_ray.arena.rounds.status("ray")[0].state is RoundState.FINISHED


def test_cluster_results_equal_single_process(
    on_ray: OnRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SERIAL_SECONDS", "MIN_REMAINING"):
        monkeypatch.setattr(parallel, name, -1)
    write_input(tmp_path)
    here = results(tmp_path)
    with on_ray.arena.engine.parallel() as spread:
        assert results(tmp_path) == here
        assert list(spread.map(squared, numbers(40), (7,))) == [7 + n * n for n in range(40)]
        assert list(spread.map(nested, numbers(3))) == [[], [1], [2, 3]]
        with pytest.raises(InputError, match="Five cannot be used"):
            list(spread.map(refused, numbers(6)))
        with pytest.raises(WorkError, match=r"refused failed \(ZeroDivisionError: seven\)"):
            list(spread.map(refused, [(7,)]))


def test_killed_node_loses_only_its_calls(on_ray: OnRay) -> None:
    on_ray.create("r", latency=1.0)
    arena = on_ray.arena
    (node,) = on_ray.cluster.worker_nodes
    raylet = node.all_processes["raylet"][0].process.pid
    killed: list[int] = []

    def kill() -> None:
        ends = time.monotonic() + 120
        workers: list[int] = []
        while not workers or arena.rounds.status("r")[1].judged < 12:
            if time.monotonic() > ends:
                return
            time.sleep(0.05)
            leased = [lease.worker.pid for lease in arena.store.leases.all()]
            workers = [pid for pid in leased if _parent(pid) == raylet]
        for pid in (raylet, *workers):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    counts = RayEngine(arena).judge("r", concurrency=4, report=lambda _progress: None)
    killer.join()
    assert len(killed) >= 2, "no task ran on the node that was killed"
    assert (counts.judged, counts.planned, counts.pending) == (72, 72, 0)
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED
    assert on_ray.server.log.calls <= 74 + 4
    account = arena.store.ledgers.account(arena.store.rounds.get("r").id)
    assert account.drawn == pytest.approx(0.0, abs=1e-9)
    assert account.spent <= known(account.cap)
    assert arena.store.leases.all() == ()


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
