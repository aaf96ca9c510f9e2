"""Several hosts with one database: one dies, one is disconnected, the command is killed.

Each host is a network namespace with its own processes and name (tests/hosts.py), so that no worker can
see whether another's process still exists: only leases show it, as between machines.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.models import RoundCounts, RoundState
from tests.arena.conftest import Fill
from tests.hosts import ENDPOINT, PORT, SERVER, Lan, Server, lan, postgres_on, why_not
from tests.narrow import known

REASON = why_not()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.timeout(1_200),
    pytest.mark.skipif(
        bool(REASON), reason=f"NO NETWORK NAMESPACES ({REASON}): nothing runs on several hosts"
    ),
    pytest.mark.xdist_group("hosts"),
]
LEASE = 6
CUT = 3.0 * LEASE
HOSTS = ("head", "left", "right", SERVER, ENDPOINT)
BATTLES = 72
USUAL, SLOW, QUICK = 0.5, 3.0, 0.05
"""Seconds per reply; SLOW keeps a round running while a test waits for something else."""


@dataclass(frozen=True, slots=True)
class Site:
    """Hosts with a database of the tiny set, and a slow endpoint."""

    lan: Lan
    server: Server
    arena: Arena

    def create(self, name: str) -> int:
        """Create a round with unjudged battles; return the number of calls so far."""
        self.arena.store.replies.forget()
        request = RoundRequest(
            set_name="tiny", judge="reference-free", pairs="all", name=name, budget_usd=10.0
        )
        self.arena.rounds.create(request)
        self.reply_in(USUAL)
        return self.calls()

    def calls(self) -> int:
        """Number of calls that reached the endpoint."""
        return int(self._endpoint("log")["calls"])

    def reply_in(self, seconds: float) -> None:
        """Set the endpoint's seconds per reply."""
        self._endpoint("script", json.dumps({"latency": seconds}))

    def _endpoint(self, name: str, sent: str | None = None) -> dict[str, Any]:
        address = f"http://{self.lan.address(ENDPOINT)}:{PORT}/scripted/{name}"
        reply: dict[str, Any] = json.loads(self.lan.read(ENDPOINT, address, sent))
        return reply

    def counts(self, name: str) -> RoundCounts:
        """Return the round's counts."""
        return self.arena.store.rounds.counts(name)

    def verdicts(self, name: str) -> dict[object, object]:
        """Return the committed verdicts by battle."""
        battles = self.arena.rounds.battles(name)
        return {battle.key: (battle.outcome, battle.preference) for battle in battles if battle.outcome}

    def until_judged(self, name: str, count: int) -> dict[object, object]:
        """Wait until this many battles have a verdict, and return the verdicts."""
        self._wait(lambda: self.counts(name).judged >= count)
        return self.verdicts(name)

    def until_finished(self, name: str) -> None:
        """Wait until a round is finished and all leases are released."""
        finished = RoundState.FINISHED
        self._wait(
            lambda: self.arena.rounds.status(name)[0].state is finished and not self.arena.store.leases.all()
        )

    def until_nobody_works(self) -> None:
        """Wait until every lease has expired; replies are slow from now on."""
        self.reply_in(SLOW)
        self._wait(lambda: all(lease.lease_left < 0 for lease in self.arena.store.leases.all()))

    def _wait(self, done: Callable[[], bool]) -> None:
        ends = time.monotonic() + 600
        while not done():
            assert time.monotonic() < ends, "\n".join(self.lan.log(host) for host in HOSTS[:3])
            time.sleep(0.1)

    def check(self, name: str, committed: Mapping[object, object], *, calls: int, in_flight: int) -> None:
        """Check a round: committed verdicts stay, and only calls in flight are repeated.

        `calls` is the number of calls before the round.
        """
        counts = self.counts(name)
        assert (counts.judged + counts.failed, counts.planned, counts.pending) == (BATTLES, BATTLES, 0)
        assert counts.failed <= in_flight
        verdicts = self.verdicts(name)
        assert {key: verdicts[key] for key in committed} == committed
        assert self.calls() - calls <= BATTLES + in_flight
        account = self.arena.store.ledgers.account(self.arena.store.rounds.get(name).id)
        assert account.drawn == pytest.approx(0.0, abs=1e-9)
        assert account.spent <= known(account.cap)
        assert self.arena.store.leases.all() == ()
        assert self.arena.rounds.status(name)[0].state is RoundState.FINISHED


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Lan, Server]]:
    """Hosts with a database and an endpoint that takes half a second per reply."""
    with lan(HOSTS) as made, postgres_on(made) as server:
        endpoint = f"http://{made.address(ENDPOINT)}:{PORT}/v1"
        variables = {
            "ARENA_DATABASE_URL": server.url,
            "ARENA_LEASE": str(LEASE),
            "OPENAI_BASE_URL": endpoint,
            "OPENAI_API_KEY": "none",
        }
        made.variables = variables
        address = ("--host", made.address(ENDPOINT), "--port", str(PORT))
        made.start(ENDPOINT, sys.executable, "-m", "tests.scripted_llm", *address, "--latency", "0.5")
        yield made, server


@pytest.fixture
def site(hosts: tuple[Lan, Server], filled: Fill, make_arena: Fill) -> Site:
    """Hosts with the tiny set in their database."""
    made, server = hosts
    options = {"database_url": server.own_url, "endpoint": made.variables["OPENAI_BASE_URL"], "lease": LEASE}
    arena = make_arena(**options)
    if not arena.sets.summaries():
        arena.close()
        arena = filled(**options)
    return Site(made, server, arena)


@pytest.fixture
def workers(site: Site) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start workers of the queue on hosts, until the end of the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(host: str) -> subprocess.Popen[bytes]:
        started.append(site.lan.arena(host, "worker", "--name", host))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def _queue(site: Site, name: str) -> int:
    calls = site.create(name)
    site.arena.jobs.judge(name, options={"concurrency": 2})
    return calls


def test_disconnected_host_rejoins(site: Site, workers: Callable[..., Any]) -> None:
    calls = _queue(site, "cut")
    workers("left")
    right = workers("right")
    committed = site.until_judged("cut", 12)
    site.lan.cut("left")
    began = time.monotonic()
    committed |= site.until_judged("cut", 30)
    time.sleep(max(0.0, CUT - (time.monotonic() - began)))
    site.lan.heal("left")
    site.reply_in(QUICK)
    site.until_finished("cut")
    site.check("cut", committed, calls=calls, in_flight=2)
    # The disconnected host judges again, by itself if necessary.
    right.kill()
    calls = _queue(site, "after")
    site.reply_in(QUICK)
    site.until_finished("after")
    site.check("after", {}, calls=calls, in_flight=0)


def test_lost_command_resumes_on_other_host(site: Site) -> None:
    calls = site.create("lost")
    command = site.lan.arena("head", "rounds", "resume", "lost", "--concurrency", "4")
    committed = site.until_judged("lost", 12)
    command.kill()
    site.until_nobody_works()
    site.reply_in(QUICK)
    # Refused until the lease of the killed command has expired.
    ends = time.monotonic() + 300
    while site.lan.arena("right", "rounds", "resume", "lost", "--concurrency", "4").wait():
        assert time.monotonic() < ends, site.lan.log("right")
        time.sleep(1)
    site.check("lost", committed, calls=calls, in_flight=4)
