"""Several hosts on this machine: network namespaces on one bridge, each with its own processes and name.

A host's processes are killed together, and its network can be disconnected, without effects outside.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
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


def why_not() -> str:
    """Return why this machine cannot create hosts; empty if it can."""
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
    """Hosts by name, numbered from 1 like their addresses.

    Attributes:
        folder: Folder for the files of hosts.
        names: Names of the hosts.
        variables: Additional environment variables of their processes.
    """

    folder: Path
    names: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def _prefix(self) -> str:
        return f"aa{os.getpid()}"

    def address(self, host: str) -> str:
        """Return the address of a host."""
        return f"{NETWORK}.{1 + self.names.index(host)}"

    def space(self, host: str) -> str:
        """Return the network namespace of a host."""
        return f"{self._prefix}-{host}"

    def make(self) -> None:
        """Create and connect the hosts."""
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
            # A dead route, by which programs find the address of their host.
            _ip("-n", space, "route", "add", "default", "dev", "eth0")

    def remove(self) -> None:
        """Kill the processes and remove the hosts."""
        for process in self._running:
            process.kill()
            process.wait()
        for host in (*self.names, "lan"):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", self.space(host))

    def cut(self, host: str) -> None:
        """Disconnect a host from the network without notice."""
        _ip("-n", self.space("lan"), "link", "set", f"to-{host}", "down")

    def heal(self, host: str) -> None:
        """Reconnect a host."""
        _ip("-n", self.space("lan"), "link", "set", f"to-{host}", "up")

    def start(self, host: str, *command: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start a command on a host, with a log in its folder; killing it kills all its processes."""
        apart = ["unshare", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child"]
        own = ["ip", "netns", "exec", self.space(host), *apart, "sh", "-c", OWN, "sh", host]
        home = self.folder / host
        home.mkdir(exist_ok=True)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}  # noqa: TID251 - of the command
        environment = {**inherited, "ARENA_HOME": str(home), **self.variables, **variables}
        with (home / "log").open("ab") as log:
            process = subprocess.Popen(
                [*own, *command], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._running.append(process)
        return process

    def arena(self, host: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """Run `arena …` on a host."""
        return self.start(host, sys.executable, "-m", "arena", *words, **variables)

    def read(self, host: str, address: str, sent: str | None = None) -> str:
        """Return the response of a server that only a host can reach; data is posted."""
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
    """Create hosts until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="arena-hosts-") as folder:
        made = Lan(Path(folder), names, variables)
        try:
            made.make()
            yield made
        finally:
            made.remove()


@dataclass(frozen=True, slots=True)
class Server:
    """PostgreSQL server on a host, which this process reaches by its socket."""

    lan: Lan
    folder: Path

    @property
    def url(self) -> str:
        """URL of the database for the hosts."""
        return f"postgresql+psycopg://postgres@{self.lan.address(SERVER)}/postgres"

    @property
    def own_url(self) -> str:
        """URL of the database for this process."""
        return f"postgresql+psycopg://postgres@/postgres?host={self.folder}"

    def tell(self, *words: str) -> None:
        """Run `pg_ctl` and wait."""
        as_postgres = ["ip", "netns", "exec", self.lan.space(SERVER), "runuser", "-u", "postgres", "--"]
        log = str(self.folder / "log")
        command = [*as_postgres, "pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, *words]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)


@contextmanager
def postgres_on(made: Lan) -> Iterator[Server]:
    """Run a server with an empty database until the end of the block."""
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
