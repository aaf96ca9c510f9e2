"""Mail to people who apply: by the organisers' own server, in plain text."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

import structlog

from arena.settings import Registration, Settings
from data.errors import InputError, UnavailableError

SECONDS = 15.0
LONGEST_ADDRESS = 254
LONGEST_LOCAL = 64
"""Characters before the @; RFC 5321."""
LOCAL_SIGNS = frozenset("!#$%&'*+/=^_`{|}~.-")
"""Those of RFC 5321 without the question mark, which begins the encoded words of RFC 2047."""
FORMS = "Set it to smtps://USER:PASSWORD@HOST, or to smtp://HOST:PORT."

log = structlog.get_logger("arena.mail")


def require_mail_address(text: str) -> str:
    """A mail address in lower case.

    Raises:
        InputError: It is none that mail can be sent to; of RFC 5321 quoted names and domains in brackets are
            not taken.
    """
    address = text.strip().casefold()
    local, at, host = address.rpartition("@")
    labels = host.split(".")
    right = (
        at
        and address.isascii()
        and len(address) <= LONGEST_ADDRESS
        and 0 < len(local) <= LONGEST_LOCAL
        and all(sign.isalnum() or sign in LOCAL_SIGNS for sign in local)
        and all(local.split("."))
        and len(labels) > 1
        and all(label.replace("-", "").isalnum() and label.strip("-") == label for label in labels)
    )
    if not right:
        raise InputError("This is no mail address.", advice="Give it as name@example.org.")
    return address


def mailbox_of(address: str) -> str:
    """Whose post an address fills: many servers take what follows a plus for a note."""
    local, _, host = address.rpartition("@")
    return f"{local.partition('+')[0] or local}@{host}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailer:
    """Sends mail through a server.

    Attributes:
        host: The server.
        port: Where it listens.
        tls: Whether the connection is encrypted from its beginning; else it is as soon as the server can.
        user: Whom to sign in as; empty for nobody.
        password: With what.
        sender: The address that mail comes from.
    """

    host: str
    port: int
    tls: bool
    user: str = ""
    password: str = field(default="", repr=False)
    sender: str

    def send(self, to: str, subject: str, text: str) -> None:
        """Send a mail and wait until the server has taken it.

        Raises:
            UnavailableError: The server cannot be reached, or does not take it; the log says why.
        """
        message = EmailMessage()
        message["From"], message["To"] = Address(addr_spec=self.sender), Address(addr_spec=to)
        message["Subject"] = subject
        message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=self.sender.split("@")[1])
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        try:
            self._deliver(message, to)
        except (OSError, ValueError, smtplib.SMTPException) as error:
            # What servers answer often repeats the address.
            reply = getattr(error, "smtp_code", None)
            log.warning("mail not sent", error=type(error).__name__, reply=reply, host=self.host)
            raise UnavailableError("The mail could not be sent.", advice="Try again later.") from error

    def _deliver(self, message: EmailMessage, to: str) -> None:
        safe = ssl.create_default_context()
        if self.tls:
            with smtplib.SMTP_SSL(self.host, self.port, timeout=SECONDS, context=safe) as server:
                self._hand_over(server, message, to)
            return
        with smtplib.SMTP(self.host, self.port, timeout=SECONDS) as server:
            server.ehlo()
            if server.has_extn("starttls"):
                server.starttls(context=safe)
                server.ehlo()
            elif self.user and not _is_local(self.host):
                raise smtplib.SMTPNotSupportedError("no password goes over an open line")
            self._hand_over(server, message, to)

    def _hand_over(self, server: smtplib.SMTP, message: EmailMessage, to: str) -> None:
        if self.user:
            server.login(self.user, self.password)
        server.send_message(message, from_addr=self.sender, to_addrs=[to])


def mailer_of(settings: Settings) -> Mailer | None:
    """What sends mail to applicants; None where they do not apply by mail.

    Raises:
        InputError: They do, and a setting for it is missing or cannot be used.
    """
    if settings.registration is not Registration.MAIL:
        return None
    if not settings.public_url:
        raise InputError(
            "ARENA_REGISTRATION is mail, and ARENA_PUBLIC_URL is not set.",
            advice="Set it: the links in mails begin with it.",
        )
    try:
        sender = require_mail_address(settings.mail_from)
    except InputError as error:
        message = f"ARENA_MAIL_FROM is {settings.mail_from!r}, and ARENA_REGISTRATION is mail."
        raise InputError(message, advice="Set it to the address that mail comes from.") from error
    try:
        parts = urlsplit(settings.smtp_url or "")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname or port == 0:
        message = "ARENA_SMTP_URL is not the address of a mail server, and ARENA_REGISTRATION is mail."
        raise InputError(message, advice=FORMS)
    tls = parts.scheme == "smtps"
    return Mailer(
        host=parts.hostname,
        port=port or (smtplib.SMTP_SSL_PORT if tls else smtplib.SMTP_PORT),
        tls=tls,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        sender=sender,
    )


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
