"""A subscriber over real HTTP: answers as it is told, and keeps what it got; and one over real SMTP."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Message:
    """One request that came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """What names it."""
        return str(self.payload["id"])

    @property
    def type(self) -> str:
        """The kind of its event."""
        return str(self.payload["event"])

    @property
    def payload(self) -> dict[str, Any]:
        """What it says."""
        read: dict[str, Any] = json.loads(self.body)
        return read


@dataclass
class Receiver:
    """A server of webhooks. `statuses` are used up one a request, then everything is taken with 200."""

    statuses: list[int] = field(default_factory=list)
    answer_headers: dict[str, str] = field(default_factory=dict)
    silence: float = 0.0
    drip: bool = False
    messages: list[Message] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def running(self) -> Iterator[Receiver]:
        """Serve in a thread."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    @property
    def types(self) -> list[str]:
        """The kinds of what came, in order."""
        return [message.type for message in self.messages]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            """Takes one request."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.messages.append(Message(self.path, dict(self.headers.items()), body))
                time.sleep(receiver.silence)
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                for name, value in receiver.answer_headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(b"ok")
                    while receiver.drip:
                        self.wfile.write(b"drop ")
                        self.wfile.flush()
                        time.sleep(0.02)
                except OSError:
                    return

            def log_message(self, *_: object) -> None:
                return

        return Handler


@contextmanager
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """A mail server: its port, and the letters that it took."""
    letters: list[str] = []
    replies: dict[str, Callable[[], str]] = {"QUIT": lambda: "221 bye", "DATA": lambda: "354 go on"}

    class Handler(socketserver.StreamRequestHandler):
        """Takes one connection."""

        def handle(self) -> None:
            self._say("220 ready")
            while line := self.rfile.readline().decode().strip():
                word = line.split()[0].upper()
                self._say(replies.get(word, lambda: "250 ok")())
                if word == "QUIT":
                    return
                if word == "DATA":
                    rows = []
                    while (row := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                        rows.append(row)
                    letters.append("\n".join(rows))
                    self._say("250 taken")

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield int(server.server_address[1]), letters
        finally:
            server.shutdown()
            thread.join()
