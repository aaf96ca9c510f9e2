"""One message to one subscriber, by apprise; it loads that library, which lists do without.

Subscribers are strangers: their servers may be private, silent, or answer without end. So their hosts are
looked at right before each message, redirects are not followed, and a message is sent by a process that is
ended, within limits of time and memory (`services.system.text_work`).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

import apprise

from arena.services.system.memory import memory_capped
from arena.services.system.text_process import WAITING_FACTOR
from arena.services.system.text_work import within
from data.errors import InputError, TimeLimitError, UnavailableError
from data.public_hosts import HostError, PrivateHostError, address_of, is_public, looking_up
from data.records.notifications import CHANNELS, Channel

LONGEST_ADDRESS = 2_000
FORMS = "Give https://HOST/PATH, slack://TOKEN_A/TOKEN_B/TOKEN_C, or mailtos://USER:PASSWORD@HOST?to=ADDRESS."
ALLOW = "Organisers may set ARENA_NOTIFY_HOSTS=any."
SECONDS = 15.0
MEMORY_BYTES = 256 << 20
"""What the sending process may take more than it has, however much a server answers."""
LONGEST_REASON = 200
SHORT = 3
"""Characters of a part of an address that may stand in a reason, since words have them too."""
PORTS = {"https": 443, "http": 80}


def require_address(address: str, *, team: str, private: bool) -> None:
    """Refuse an address that a subscriber may not name.

    Args:
        address: A web address, or one that apprise reads.
        team: The team that subscribes; empty for organisers.
        private: Whether hosts that are not public may be notified, also without TLS.

    Raises:
        InputError: It cannot be notified, or not by this subscriber.
    """
    if len(address) > LONGEST_ADDRESS or not address.isprintable() or " " in address:
        raise InputError("The address cannot be used: it is too long, or holds spaces.", advice=FORMS)
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise InputError("The address cannot be read.", advice=FORMS) from error
    channel = CHANNELS.get(parts.scheme)
    if channel is None or not parts.hostname or port == 0:
        raise InputError("That address cannot be notified.", advice=FORMS)
    if channel is Channel.MAIL and team:
        message = "Teams are notified by webhooks and Slack; mail is for organisers."
        raise InputError(message, advice="Give the address of a webhook.")
    if channel is Channel.SLACK and parts.query:
        # apprise would read files and pages that the options of an address name.
        raise InputError("The address of a Slack channel has no options.", advice=FORMS)
    if parts.scheme == "http" and not private:
        raise InputError("The address of a webhook begins with http://.", advice=f"Use https://. {ALLOW}")
    if channel is Channel.WEBHOOK and not private and _is_private_address(parts.hostname):
        message = f"The address {parts.hostname} is not public."
        raise InputError(message, advice=f"Name a public host. {ALLOW}")
    _plugin(address, {}, private=private)


def send(address: str, title: str, body: str, payload: Mapping[str, Any], private: bool) -> None:
    """Send a message.

    Args:
        address: Where to.
        title: What mail has as its subject.
        body: What happened, for people.
        payload: The same for programs, which webhooks get besides.
        private: Whether hosts that are not public may be notified.

    Raises:
        InputError: The address cannot be notified any more, so that trying again is of no use.
        UnavailableError: The message did not arrive.
    """
    try:
        within(SECONDS / WAITING_FACTOR, send_here, address, title, body, payload, private)
    except TimeLimitError as error:
        raise UnavailableError(f"There was no answer within {SECONDS:g} s.") from error


def send_here(address: str, title: str, body: str, payload: Mapping[str, Any], private: bool) -> None:
    """Send a message from this process; arguments and errors are those of `send`."""
    plugin = _plugin(address, payload, private=private)
    try:
        checked = _checked_host(address, plugin, private=private)
    except HostError as error:
        message = f"The message was not sent: {error}."
        if isinstance(error, PrivateHostError):
            raise InputError(message, advice=ALLOW) from error
        raise UnavailableError(message) from error
    sender = apprise.Apprise(asset=plugin.asset)
    sender.add(plugin)
    with memory_capped(MEMORY_BYTES), checked:
        result = sender.notify(title=title, body=body, body_format=apprise.NotifyFormat.TEXT)
    if not result:
        raise UnavailableError(f"The message did not arrive: {_reason(result, address)}")


def _checked_host(address: str, plugin: Any, *, private: bool) -> AbstractContextManager[None]:  # noqa: ANN401 - apprise has a class for each service
    """What lets a message go to the address that was looked up and checked, and nowhere else."""
    parts = urlsplit(address)
    channel = CHANNELS[parts.scheme]
    if channel is Channel.WEBHOOK:
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    elif channel is Channel.MAIL:
        host, port = str(plugin.smtp_host), int(plugin.port)
    else:
        return nullcontext()
    found = asyncio.run(address_of(host, port, private=private))
    return nullcontext() if private else looking_up(host, found)


def _is_private_address(host: str) -> bool:
    try:
        return not is_public(host)
    except ValueError:
        return False


def _plugin(address: str, payload: Mapping[str, Any], *, private: bool) -> Any:  # noqa: ANN401 - as above
    """What apprise makes of an address.

    Raises:
        InputError: It cannot read the address.
    """
    # What it logs names addresses, which may hold secrets.
    logging.getLogger(apprise.__name__).propagate = False
    asset = apprise.AppriseAsset(app_id="Answer Arena", app_desc="Answer Arena", app_url="", async_mode=False)
    parts = urlsplit(address)
    webhook = CHANNELS[parts.scheme] is Channel.WEBHOOK
    service = _webhook(parts, payload) if webhook else address
    plugin: Any = apprise.Apprise.instantiate(service, asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise InputError("The address cannot be read by apprise.", advice=FORMS)
    plugin.redirects = False
    if not private:
        plugin.verify_certificate = True
    return plugin


def _webhook(parts: SplitResult, payload: Mapping[str, Any]) -> dict[str, Any]:
    """A web address as apprise's service `json` takes it; options in it are the server's, not apprise's."""
    host = parts.hostname or ""
    return {
        "schema": "jsons" if parts.scheme == "https" else "json",
        "host": f"[{host}]" if ":" in host else host,
        "port": parts.port,
        "user": parts.username,
        "password": parts.password,
        "fullpath": parts.path,
        "params": parse_qs(parts.query, keep_blank_values=True),
        # A field without a value is left out.
        "payload": {"attachments": "", **payload},
    }


def _reason(result: Any, address: str) -> str:  # noqa: ANN401 - apprise's result, or None
    """Why a message did not arrive, without what may be secret in the address."""
    logs = (entry for sent in getattr(result, "results", ()) for entry in sent.logs())
    text = next((entry.message for entry in logs if entry.level in {"WARNING", "ERROR"}), "It was refused.")
    host = urlsplit(address).hostname
    secrets = {part for part in re.split(r"[/:@?&=]+", address) if len(part) > SHORT and part != host}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "…")
    return text[:LONGEST_REASON]
