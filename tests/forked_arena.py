"""`arena` for shells in tests: a process that has loaded the program once and forks for each command.

A walk of the documentation runs some hundred commands as they are written; a fork spares each of them the
seconds in which the program is loaded. `program` writes an executable `arena` that hands its words, folder,
environment and the three streams to the process that `serving` starts.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
ROOMS = (
    "data.store",
    "data.files",
    "data.corpora",
    "judges",
    "leaderboard",
    "submissions",
    "arena.services",
    "arena.cli",
)
MOST_WORDS = 1 << 20
READY_SECONDS = 120
CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as there:
    there.connect({address!r})
    told = json.dumps([["arena", *sys.argv[1:]], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(there, [len(told).to_bytes(4, "big")], [0, 1, 2])
    there.sendall(told)
    raise SystemExit(there.recv(1)[0])
"""


@contextmanager
def serving(folder: Path) -> Iterator[Path]:
    """A folder with the program `arena`, to stand first in a shell's PATH."""
    address = folder / "socket"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked_arena", str(address)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},  # noqa: TID251 - what a process of the machine needs
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
        yield folder
    finally:
        process.terminate()
        process.wait()


def main(address: str) -> NoReturn:
    """Load the program, then serve one command after another."""
    for room in ROOMS:
        package = importlib.import_module(room)
        for found in pkgutil.walk_packages(package.__path__, f"{room}."):
            with suppress(ImportError):
                importlib.import_module(found.name)
    importlib.import_module("arena.cli.commands")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        while True:
            with listening.accept()[0] as client:
                client.sendall(bytes([_run(client)]))


def _run(client: socket.socket) -> int:
    head, streams, _, _ = socket.recv_fds(client, 4, 3)
    length, told = int.from_bytes(head, "big"), b""
    while len(told) < min(length, MOST_WORDS):
        told += client.recv(length - len(told))
    words, folder, environment = json.loads(told)
    child = os.fork()
    if child == 0:
        _become(words, folder, environment, streams)
    for stream in streams:
        os.close(stream)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF


def _become(words: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()  # noqa: TID251 - the command's own environment
    os.environ.update(environment)  # noqa: TID251 - as above
    sys.argv = words
    code = 1
    try:
        from arena.cli import main as arena  # noqa: PLC0415 - in the child alone

        arena()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:  # noqa: BLE001 - whatever a command dies of ends its process alone
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
