"""Several hosts on this machine: network namespaces on one bridge, each with its own processes and name.

A host is killed with all its processes at once, and its network can be cut; neither touches anything outside.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NETWORK = "10.77.0"
OWN = 'hostname "$1"; shift; exec "$@"'
SERVER = "db"
ENDPOINT = "llm"
PORT = 8000
RUNS = "Ray runtime started."
SMALL = "--object-store-memory=100000000 --include-log-monitor=false"


def why_not() -> str:
    """Return the reason why no such hosts can be made here; empty where they can."""
    missing = [name for name in ("ip", "unshare", "runuser", "initdb") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} are not installed"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    name = f"aa{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return made.stderr.strip()
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@dataclass(slots=True)
class Lan:
    """Hosts by name, numbered from 1 as their addresses are.

    Attributes:
        folder: For the files of hosts.
        names: The hosts.
        variables: The environment of what runs on them, beside the usual one.
    """

    folder: Path
    names: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def _prefix(self) -> str:
        return f"aa{os.getpid()}"

    def address(self, host: str) -> str:
        """The address of a host."""
        return f"{NETWORK}.{1 + self.names.index(host)}"

    def space(self, host: str) -> str:
        """The network namespace of a host."""
        return f"{self._prefix}-{host}"

    def make(self) -> None:
        """Make the hosts and connect them."""
        bridge = self.space("lan")
        _ip("netns", "add", bridge)
        _ip("-n", bridge, "link", "add", "br0", "type", "bridge")
        _ip("-n", bridge, "link", "set", "br0", "up")
        for host in self.names:
            space, port = self.space(host), f"to-{host}"
            _ip("netns", "add", space)
            _ip("-n", bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("-n", bridge, "link", "set", port, "master", "br0", "up")
            _ip("-n", space, "address", "add", f"{self.address(host)}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", space, "link", "set", device, "up")
            # It leads nowhere, but programs find the address of their host by it.
            _ip("-n", space, "route", "add", "default", "dev", "eth0")

    def remove(self) -> None:
        """End what runs, and remove the hosts."""
        for process in self._running:
            process.kill()
            process.wait()
        for host in (*self.names, "lan"):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", self.space(host))

    def cut(self, host: str) -> None:
        """Cut a host off: nothing reaches it, and it is told of nothing."""
        _ip("-n", self.space("lan"), "link", "set", f"to-{host}", "down")

    def heal(self, host: str) -> None:
        """Connect a host again."""
        _ip("-n", self.space("lan"), "link", "set", f"to-{host}", "up")

    def start(self, host: str, *command: str, **variables: str) -> subprocess.Popen[bytes]:
        """Run a command on a host, with a log in its folder; killing it kills all that it started."""
        apart = ["unshare", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child"]
        own = ["ip", "netns", "exec", self.space(host), *apart, "sh", "-c", OWN, "sh", host]
        return self._start(host, [*own, *command], variables)

    def join(
        self, host: str, first: subprocess.Popen[bytes], *command: str, **variables: str
    ) -> subprocess.Popen[bytes]:
        """Run another command beside one that was started, so that it dies with that one."""
        while not (children := Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()):
            time.sleep(0.05)
        child = children[0]
        beside = ["nsenter", "--target", child, "--net", "--pid", "--uts", "--mount", f"--wd={ROOT}"]
        return self._start(host, [*beside, *command], variables)

    def _start(
        self, host: str, command: Sequence[str], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        home = self.folder / host
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}  # noqa: TID251 - of the command
        environment = {**kept, "ARENA_HOME": str(home), **self.variables, **variables}
        with (home / "log").open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._running.append(process)
        return process

    def arena(self, host: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """Run `arena …` on a host."""
        return self.start(host, sys.executable, "-m", "arena", *words, **variables)

    def read(self, host: str, address: str, sent: str | None = None) -> str:
        """Return a server's answer that only a host can reach; data is posted."""
        data = None if sent is None else sent.encode()
        opened = f"web.urlopen({address!r}, {data!r}, timeout=30)"
        code = f"import urllib.request as web; print({opened}.read().decode())"
        command = ["ip", "netns", "exec", self.space(host), sys.executable, "-c", code]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def log(self, host: str) -> str:
        """Return the output of a host."""
        return (self.folder / host / "log").read_text(errors="replace")


@contextmanager
def lan(names: Sequence[str], **variables: str) -> Iterator[Lan]:
    """Hosts until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="arena-hosts-") as folder:
        made = Lan(Path(folder), names, variables)
        try:
            made.make()
            yield made
        finally:
            made.remove()


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL server of its own on a host, which this process reaches by its socket."""

    lan: Lan
    folder: Path

    @property
    def url(self) -> str:
        """The database for the hosts."""
        return f"postgresql+psycopg://postgres@{self.lan.address(SERVER)}/postgres"

    @property
    def own_url(self) -> str:
        """The same database for this process."""
        return f"postgresql+psycopg://postgres@/postgres?host={self.folder}"

    def tell(self, *words: str) -> None:
        """Let `pg_ctl` do something, and wait until it is done."""
        as_postgres = ["ip", "netns", "exec", self.lan.space(SERVER), "runuser", "-u", "postgres", "--"]
        log = str(self.folder / "log")
        command = [*as_postgres, "pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, *words]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)


@contextmanager
def postgres_on(made: Lan) -> Iterator[Server]:
    """A server with an empty database until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="arena-postgres-") as name:
        folder = Path(name)
        shutil.chown(folder, "postgres")
        server = Server(made, folder)
        data = folder / "data"
        own = ["runuser", "-u", "postgres", "--", "initdb", "-N", "-A", "trust", "-U", "postgres"]
        create = [*own, "-E", "UTF8", "--locale=C", "-D", str(data)]
        subprocess.run(create, check=True, cwd="/", stdout=subprocess.DEVNULL)
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {NETWORK}.0/24 trust\n")
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(
                f"listen_addresses = '{made.address(SERVER)}'\nunix_socket_directories = '{folder}'\n"
                "fsync = off\nmax_connections = 100\n"
            )
        server.tell("start")
        try:
            yield server
        finally:
            server.tell("stop", "-m", "immediate")


@dataclass(frozen=True, slots=True)
class RayHosts:
    """A Ray head without processors, and nodes with one each that start again when Ray gives them up."""

    lan: Lan
    head: str = "head"
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, str]:
        """Environment of commands and nodes besides the database."""
        return {
            "RAY_ADDRESS": f"{self.lan.address(self.head)}:6379",
            "RAY_USAGE_STATS_ENABLED": "0",
            # The network is theirs alone, and a token that another cluster left in the home folder is not.
            "RAY_AUTH_MODE": "disabled",
            # A busy machine answers slowly; a node that is gone is noticed within half a minute.
            "RAY_health_check_period_ms": "2000",
            "RAY_health_check_timeout_ms": "5000",
            "RAY_health_check_failure_threshold": "4",
            # Nodes leave a head that was replaced; until they look, which is each minute by default, they and
            # the new head ask and refuse one another as fast as they can.
            "RAY_raylet_liveness_self_check_interval_ms": "2000",
        }

    def start(self, host: str) -> None:
        """Start Ray on a host, the head on its own, a node elsewhere, and wait until it runs."""
        log = self.lan.folder / host / "log"
        before = self.lan.log(host).count(RUNS) if log.exists() else 0
        which = (
            "--head --port=6379 --num-cpus=0 --include-dashboard=false --no-monitor"
            if host == self.head
            else f"--address={self.variables['RAY_ADDRESS']} --num-cpus=1"
        )
        own = f"--node-ip-address={self.lan.address(host)} --temp-dir={self.lan.folder / host / 'ray'}"
        start = f"{sys.executable} -m ray.scripts.scripts start {which} {own}"
        again = f"while true; do {start} {SMALL} --block; sleep 1; done"
        self.running[host] = self.lan.start(host, "sh", "-c", again, **self.variables)
        ends = time.monotonic() + 180
        # A task that finds one node alone waits for that one, also when another has come.
        while self.lan.log(host).count(RUNS) <= before:
            assert time.monotonic() < ends, self.lan.log(host)
            time.sleep(0.2)

    def kill(self, host: str) -> None:
        """Kill a host with all that runs on it."""
        self.running[host].kill()
        self.running.pop(host).wait()

    def end(self) -> None:
        """Kill all of them."""
        for host in tuple(self.running):
            self.kill(host)

    def arena(self, *words: str) -> subprocess.Popen[bytes]:
        """Run `arena …` beside the head, so that it dies with that one."""
        command = (sys.executable, "-m", "arena", *words)
        return self.lan.join(self.head, self.running[self.head], *command, **self.variables)
