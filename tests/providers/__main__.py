"""Serve the scripted providers by hand: `python -m tests.providers --port 8011`.

Give the printed address as the endpoint of a judge and a mode's name as its model. `--table` prints the table
of the documentation.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import threading

from tests.providers.server import ScriptedProviders, table


class _Printed(threading.Event):
    def __init__(self, server: ScriptedProviders) -> None:
        super().__init__()
        self._server = server

    def set(self) -> None:
        print(self._server.url, flush=True)  # noqa: T201 - whoever started it reads the address
        super().set()


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Scripted providers: a model's name is a mode.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="Print the table of modes.")
    options = parser.parse_args()
    if options.table:
        print(table())  # noqa: T201 - what was asked for
        return
    server = ScriptedProviders(host=options.host, port=options.port)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(server.serve(_Printed(server), asyncio.Event()))


if __name__ == "__main__":
    main()
