"""A mail server on this machine that keeps what it is given, or refuses it."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

LINK = re.compile(r"/register\?code=([A-Za-z0-9_-]{20,100})")


@dataclass(kw_only=True)
class Post:
    """A running server.

    Attributes:
        url: What `ARENA_SMTP_URL` is set to.
        letters: Whom each mail went to, and the mail.
        refuse: Answer every mail with this line instead of taking it.
    """

    url: str = ""
    letters: list[tuple[str, EmailMessage]] = field(default_factory=list)
    refuse: str = ""

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        """Take a mail."""
        if self.refuse:
            return self.refuse
        content = envelope.content
        message = message_from_bytes(content if isinstance(content, bytes) else b"", policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.letters.extend((address, message) for address in envelope.rcpt_tos)
        return "250 Taken"

    def code(self) -> str:
        """The code of the link in the last mail."""
        return str(LINK.findall(self.text())[-1])

    def text(self) -> str:
        """The last mail."""
        return str(self.letters[-1][1].get_content())


@contextmanager
def running_post() -> Iterator[Post]:
    """Run a mail server."""
    post = Post()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    post.url = f"smtp://127.0.0.1:{port}"
    controller = Controller(post, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield post
    finally:
        controller.stop()
