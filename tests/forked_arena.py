"""`arena` for tests: a process that has loaded the program once and forks for each command.

Loading takes a second for a command and three for a server. `serving` writes an executable `arena` that
passes its arguments, folder, environment and three streams to a fork of that process and exits with its
status. Signals are passed on, and killing the executable also kills the fork.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
PACKAGES = (
    *("data.store", "data.files", "data.corpora", "judges", "leaderboard", "submissions"),
    *("arena.services", "arena.api", "arena.cli"),
)
SITE = "arena.site.app"
"""Module with all that a server loads before its first response: pages import it."""
MAX_WORDS = 1 << 20
READY_SECONDS = 120
CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as there:
    there.connect({address!r})
    request = json.dumps([["arena", *sys.argv[1:]], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(there, [len(request).to_bytes(4, "big")], [0, 1, 2])
    there.sendall(request)
    fork = int.from_bytes(there.recv(4), "big")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(fork, number))
    raise SystemExit((there.recv(1) or bytes([137]))[0])
"""


def shell(lines: str, place: Path, path: str, **variables: str) -> str:
    """Run lines of shell in a folder with `path` first, stop at the first failure, and return the output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}  # noqa: TID251
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines],
        cwd=place,
        env={**inherited, "PATH": f"{path}:{inherited['PATH']}", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{lines}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


@contextmanager
def serving(folder: Path) -> Iterator[Path]:
    """Yield a folder with the executable `arena`, for a PATH."""
    address = folder / "socket"
    # Coverage is lost when a signal ends a server, so tracing it would be wasted.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}  # noqa: TID251 - what a process of the machine needs
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked_arena", str(address)],
        cwd=ROOT,
        env={**inherited, "PYTHONPATH": str(ROOT)},
    )
    try:
        program = folder / "arena"
        program.write_text(CLIENT.format(python=sys.executable, address=str(address)), encoding="utf-8")
        program.chmod(0o755)
        deadline = time.monotonic() + READY_SECONDS
        while not address.exists():
            assert process.poll() is None, "the process that forks has ended"
            assert time.monotonic() < deadline, "the process that forks is not ready"
            time.sleep(0.05)
        yield program
    finally:
        process.terminate()
        process.wait()


def main(address: str) -> NoReturn:
    """Load the program, then serve commands."""
    for name in PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            with suppress(ImportError):
                importlib.import_module(module.name)
    importlib.import_module(SITE)
    importlib.import_module("arena.cli.commands")
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    # The server does not wait for forks: they report their exit status to the client.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{address}-")
        listening.listen()
        Path(f"{address}-").rename(address)
        while True:
            client = listening.accept()[0]
            if os.fork() == 0:
                listening.close()
                _run(client)
            client.close()


def _run(client: socket.socket) -> NoReturn:
    head, streams, _, _ = socket.recv_fds(client, 4, 3)
    length, payload = int.from_bytes(head, "big"), b""
    while len(payload) < min(length, MAX_WORDS):
        payload += client.recv(length - len(payload))
    words, folder, environment = json.loads(payload)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    client.sendall(os.getpid().to_bytes(4, "big"))
    threading.Thread(target=_end_with, args=(client,), daemon=True).start()
    _become(words, folder, environment, streams, client)


def _end_with(client: socket.socket) -> None:
    """End this process when its parent ends."""
    client.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


def _become(
    words: list[str], folder: str, environment: dict[str, str], streams: list[int], client: socket.socket
) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()  # noqa: TID251 - the command's own environment
    os.environ.update(environment)  # noqa: TID251 - as above
    sys.argv = words
    code = 1
    try:
        from arena.cli import main as arena  # noqa: PLC0415 - only in the child

        arena()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001 - any error of a command ends only its process
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        with suppress(OSError):
            client.sendall(bytes([code & 0xFF]))
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
