"""Workers: jobs, leases, fencing, and real processes on one round, one of them killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.jobs.queue import has_ended, this_worker
from arena.services.rounds.models import RoundRequest
from arena.workers.worker import Worker
from data.errors import ConflictError, LeaseLostError
from data.models import Job, JobKind, JobState, Lease, Outcome, Preference, RoundState, Verdict, WorkerId
from data.store import Store
from data.store.jobs import Release
from tests.arena.conftest import Fill, Serve, start, until
from tests.narrow import known

ROOT = Path(__file__).parents[3]
VERDICT = Verdict(outcome=Outcome.JUDGED, preference=Preference.A, judgments=())
LEASE = 30.0


def _nobody(_worker: WorkerId) -> bool:
    return False


def _worker(name: str) -> WorkerId:
    return WorkerId(name=name, place="", pid=1, started="")


def _create(arena: Arena, judge: str = "reference-free", **fields: Any) -> int:  # noqa: ANN401
    request = RoundRequest(set_name="tiny", judge=judge, name="r", pairs="all", **fields)
    return arena.rounds.create(request).id


def _work_once(arena: Arena) -> None:
    """Run the queued work in this process, by a worker with its own arena."""
    with closing(Arena(arena.settings)) as own:
        Worker(own, this_worker()).run(once=True)


def _take(store: Store, name: str, lease: float = LEASE) -> tuple[Job, Lease]:
    taken = store.leases.take(_worker(name), lease=lease, gone=_nobody)
    assert taken is not None
    return taken


@pytest.fixture
def queued(filled: Fill, database_url: str) -> Arena:
    """An arena on each engine with a round of 72 battles in the queue."""
    arena = filled(database_url=database_url)
    _create(arena)
    arena.jobs.judge("r")
    return arena


def test_round_has_single_job(queued: Arena) -> None:
    with pytest.raises(ConflictError, match="already has job 1, which is queued"):
        queued.jobs.judge("r")
    with pytest.raises(ConflictError, match="already has job 1"):
        queued.rounds.run("r", concurrency=1, report=lambda _progress: None)
    queued.jobs.cancel(1)
    assert queued.jobs.judge("r").id > 1


def test_oldest_job_goes_first(queued: Arena) -> None:
    store = queued.store
    jobs = [store.jobs.put(JobKind.CALIBRATE) for _ in range(2)]
    assert [store.jobs.position(job) for job in jobs] == [2, 3]
    assert queued.jobs.status(1).position == 1
    assert [_take(store, "w")[0].id for _ in range(3)] == [1, 1, 1]


def test_battle_has_one_lease(queued: Arena) -> None:
    """Workers on one round get disjoint battles that cover the round."""
    store = queued.store
    round_id = store.rounds.get("r").id
    held: list[int] = []
    with ThreadPoolExecutor(3) as pool:  # Workers that start together all get one.
        take = partial(store.leases.take, lease=LEASE, gone=_nobody)
        leases = [taken[1] for taken in pool.map(take, map(_worker, "abc")) if taken]
    assert len(leases) == 3
    for _ in range(3):
        for lease in leases:
            held += [battle.id for battle in store.claims.battles(lease.id, round_id, limit=9)]
    assert len(held) == len(set(held)) == 72
    assert store.claims.battles(leases[0].id, round_id, limit=9) == []
    assert store.leases.take(_worker("d"), lease=LEASE, gone=_nobody) is None


def test_worker_without_lease_commits_nothing(queued: Arena) -> None:
    store = queued.store
    round_id = store.rounds.get("r").id
    _, slow = _take(store, "slow", lease=0.0)
    mine = store.claims.battles(slow.id, round_id, limit=10)
    time.sleep(0.01)
    job, quick = _take(store, "quick")
    assert (job.id, job.attempts) == (1, 1)
    theirs = store.claims.battles(quick.id, round_id, limit=10)
    assert [battle.id for battle in theirs] == [battle.id for battle in mine]
    with pytest.raises(LeaseLostError):
        store.verdicts.record([(battle.id, VERDICT) for battle in mine], lease_id=slow.id)
    with pytest.raises(LeaseLostError):
        store.leases.beat(slow.id, lease=LEASE)
    with pytest.raises(LeaseLostError):
        store.claims.battles(slow.id, round_id, limit=1)
    assert queued.rounds.status("r")[1].judged == 0
    assert store.verdicts.record([(theirs[0].id, VERDICT)], lease_id=quick.id) == 1
    with pytest.raises(LeaseLostError):
        store.verdicts.record([(theirs[0].id, VERDICT)], lease_id=quick.id)


def test_exclusive_job_runs_on_one_worker(store: Store) -> None:
    store.jobs.put(JobKind.CALIBRATE)
    _, lease = _take(store, "a")
    assert store.leases.take(_worker("b"), lease=LEASE, gone=_nobody) is None
    store.leases.release(lease.id, Release(finished=True, result={"n": 1}))
    assert (store.jobs.get(1).state, store.jobs.get(1).result) == (JobState.DONE, {"n": 1})


def test_job_that_kills_workers_fails(queued: Arena) -> None:
    store = queued.store
    for name in "abc":
        _take(store, name, lease=0.0)
        time.sleep(0.01)
    assert store.leases.give_up(_nobody) == 1
    job = store.jobs.get(1)
    assert (job.state, job.attempts) == (JobState.FAILED, 3)
    assert job.error == "Worker c was lost. The job failed after 3 attempts without a verdict."
    assert store.leases.take(_worker("d"), lease=LEASE, gone=_nobody) is None


def test_killed_worker_leaves_balanced_ledger(filled: Fill, database_url: str) -> None:
    arena = filled(database_url=database_url)
    round_id = _create(arena, budget_usd=10.0)
    arena.jobs.judge("r")
    store = arena.store
    _, lease = _take(store, "a", lease=0.0)
    assert store.ledgers.draw(round_id, 0.1, 0.5, lease_id=lease.id) == 0.5
    store.ledgers.settle(round_id, spent=0.1, returned=0.0, lease_id=lease.id)
    time.sleep(0.01)
    store.leases.give_up(_nobody)
    account = store.ledgers.account(round_id)
    assert (account.spent, account.drawn) == pytest.approx((0.1, 0.0))
    with pytest.raises(LeaseLostError):
        store.ledgers.draw(round_id, 0.1, 0.5, lease_id=lease.id)
    # A call in flight when its worker was given up still costs money.
    store.ledgers.settle(round_id, spent=0.2, returned=0.2, lease_id=lease.id)
    account = store.ledgers.account(round_id)
    assert (account.spent, account.drawn) == pytest.approx((0.3, 0.0))


def test_pause_cancels_job_and_allows_resume(queued: Arena) -> None:
    store = queued.store
    _, lease = _take(store, "a")
    store.rounds.move("r", to=RoundState.RUNNING, allowed=(RoundState.PLANNED,))
    assert store.leases.beat(lease.id, lease=LEASE) is True
    queued.rounds.pause("r")
    assert store.leases.beat(lease.id, lease=LEASE) is False
    job = queued.jobs.judge("r")
    store.leases.release(lease.id, Release())
    assert (store.jobs.get(1).state, store.jobs.get(job.id).state) == (JobState.CANCELLED, JobState.QUEUED)


def test_ended_process_is_detected() -> None:
    command = "from arena.services.jobs.queue import this_worker; print(this_worker('x')); input()"
    with subprocess.Popen(
        [sys.executable, "-c", command], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        worker: WorkerId = eval(process.stdout.readline(), {"WorkerId": WorkerId})  # noqa: S307 - our own line
        assert worker.place == this_worker().place != ""
        assert has_ended(worker) is False
        process.kill()
        process.wait()
    assert has_ended(worker) is True
    assert has_ended(WorkerId(name="x", place="elsewhere", pid=worker.pid, started="")) is False


@pytest.mark.slow
def test_four_workers_judge_every_battle_once(filled: Fill, scripted_llm: Serve, database_url: str) -> None:
    server = scripted_llm(latency=0.25, rule="hash")
    arena = filled(database_url=database_url, endpoint=server.url)
    round_id = _create(arena, budget_usd=10.0)
    concurrency = 2
    arena.jobs.judge("r", options={"concurrency": concurrency})
    workers = [start(arena, "worker", "--name", f"w{number}") for number in range(4)]
    until(lambda: len(arena.store.leases.all()) == 4 and arena.rounds.status("r")[1].judged > 8)
    workers[0].send_signal(signal.SIGKILL)
    workers[0].wait()
    until(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    counts = arena.rounds.status("r")[1]
    assert (counts.judged, counts.planned, counts.pending) == (72, 72, 0)
    evidence = list(arena.store.verdicts.evidence("r"))
    assert [len(battle.judgments) for battle in evidence] == [1] * 72
    assert server.log.calls <= counts.planned + concurrency
    costs = [judgment.cost_usd for battle in evidence for judgment in battle.judgments if judgment.cost_usd]
    account = arena.store.ledgers.account(round_id)
    assert account.drawn == pytest.approx(0.0, abs=1e-9)
    # The killed worker had paid for calls without committing verdicts; their replies are cached.
    orphaned = server.log.calls - len(costs)
    assert sum(costs) - 1e-9 <= account.spent <= sum(costs) + 2 * orphaned * max(costs) + 1e-9
    assert arena.store.jobs.get(1).state is JobState.DONE
    assert arena.store.leases.all() == ()
    for worker in workers[1:]:
        worker.send_signal(signal.SIGTERM)
    assert [worker.wait(30) for worker in workers[1:]] == [0, 0, 0]


@pytest.mark.slow
def test_retry_publish_and_calibrate_are_jobs(filled: Fill, scripted_llm: Serve, tmp_path: Path) -> None:
    server = scripted_llm(faults={"bad_request": 0.3})
    arena = filled(endpoint=server.url)
    _create(arena)
    failed = arena.rounds.run("r", concurrency=8, report=lambda _progress: None).failed
    assert failed
    server.script.faults = {}
    arena.rounds.go_on("r", retry=True, caller=OPERATOR)
    assert start(arena, "worker", "--once").wait(60) == 0
    assert arena.rounds.status("r")[1].judged == 72
    label = {"id": "1", "domain": "x", "question": "Q?", "answer_a": "a b c", "answer_b": "a", "label": "a"}
    arena.boards.queue_publishing("r", metrics=False)
    arena.jobs.calibrate(["reference-free"], json.dumps(label) + "\n", concurrency=2)
    assert start(arena, "worker", "--once").wait(60) == 0
    states = [row.job.state for row in arena.jobs.recent()]
    assert states == [JobState.DONE] * 4, [row.job.error for row in arena.jobs.recent()]
    assert arena.boards.get("r").name == "r"
    assert known(arena.jobs.status(4).job.result)["reports"][0]["pairs"] == 1


@pytest.mark.slow
def test_removed_judge_fails_job(filled: Fill, database_url: str) -> None:
    arena = filled(database_url=database_url)
    folder = arena.settings.judges_folder
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text('kind = "lexical"\n')
    _create(arena, judge="mine")
    arena.jobs.judge("r")
    (folder / "mine.toml").unlink()
    _work_once(arena)
    job = arena.store.jobs.get(1)
    assert (job.state, job.attempts) == (JobState.FAILED, 1)
    assert "mine" in job.error
    assert arena.rounds.status("r")[1].pending == 72


def test_failing_endpoint_is_retried_later(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm(faults={"unauthorised": 1.0})
    arena = filled(endpoint=server.url)
    _create(arena)
    arena.jobs.judge("r")
    _work_once(arena)
    job = arena.store.jobs.get(1)
    assert (job.state, job.attempts) == (JobState.QUEUED, 1)
    assert job.error
    assert arena.rounds.status("r")[1].failed == 0
