"""Addresses of subscribers: what can be notified, by what, and what of an address is shown."""

from __future__ import annotations

import base64
import secrets
from typing import Any
from urllib.parse import SplitResult, urlsplit

from data.errors import InputError, SpecError
from data.public_hosts import is_public
from data.records.notifications import Channel

SECRET_MARK = "whsec_"  # noqa: S105 - the beginning of every secret
SECRET_BYTES = 32
LONGEST_ADDRESS = 2_000
MAIL_SCHEMES = ("mailto", "mailtos")
SLACK_SCHEME = "slack"
EXTRA = "Install it: `pip install answer-arena[notify]`."
FORMS = "Give https://HOST/PATH, slack://TOKEN_A/TOKEN_B/TOKEN_C, or mailtos://USER:PASSWORD@HOST?to=ADDRESS."


def new_signing_secret() -> str:
    """Draw a secret of 256 random bits, as Standard Webhooks writes them."""
    return SECRET_MARK + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def channel_of(address: str, *, team: str, private: bool) -> Channel:
    """How the subscriber at an address is told.

    Args:
        address: A web address, or one that apprise reads.
        team: The team that subscribes; empty for organisers.
        private: Whether hosts that are not public may be told, also without TLS.

    Raises:
        InputError: It is no such address, or one that this subscriber may not name.
        SpecError: It needs apprise, which is not installed.
    """
    if len(address) > LONGEST_ADDRESS or not address.isprintable() or " " in address:
        raise InputError("The address cannot be used: it is too long, or holds spaces.", advice=FORMS)
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise InputError("The address cannot be read.", advice=FORMS) from error
    if parts.scheme == SLACK_SCHEME:
        plugin_of(address)
        return Channel.SLACK
    if parts.scheme in MAIL_SCHEMES:
        if team:
            message = "Teams are notified by webhooks and Slack; mail is for organisers."
            raise InputError(message, advice="Give the address of a webhook.")
        plugin_of(address)
        return Channel.MAIL
    _require_web(parts, port, private=private)
    return Channel.WEBHOOK


def _require_web(parts: SplitResult, port: int | None, *, private: bool) -> None:
    """Refuse what is no address of a webhook, and hosts that will never be asked."""
    host = parts.hostname or ""
    if parts.scheme not in {"http", "https"} or not host or port == 0:
        raise InputError("That address cannot be notified.", advice=FORMS)
    if parts.username is not None or parts.password is not None or parts.fragment:
        message = "The address of a webhook holds a user, a password or a fragment."
        raise InputError(message, advice="Leave it out: messages are signed with a secret of their own.")
    allow = "Organisers may set ARENA_NOTIFY_HOSTS=any."
    if parts.scheme == "http" and not private:
        raise InputError("The address of a webhook begins with http://.", advice=f"Use https://. {allow}")
    if not private and _is_private_address(host):
        raise InputError(f"The address {host} is not public.", advice=f"Name a public host. {allow}")


def _is_private_address(host: str) -> bool:
    try:
        return not is_public(host)
    except ValueError:
        return False


def place_of(channel: Channel, address: str) -> str:
    """Where a subscriber is, without what may be secret in its address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/…" if channel is Channel.WEBHOOK else f"{parts.scheme}://…"


def plugin_of(address: str) -> Any:  # noqa: ANN401 - apprise has a class for each service
    """What apprise makes of an address.

    Raises:
        SpecError: apprise is not installed.
        InputError: It cannot read the address.
    """
    try:
        import apprise  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "Slack and mail need the library apprise, which is not installed."
        raise SpecError(message, advice=EXTRA) from error
    asset = apprise.AppriseAsset(app_id="Answer Arena", app_desc="Answer Arena", app_url="", async_mode=False)
    plugin = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise InputError("The address cannot be read by apprise.", advice=FORMS)
    return plugin
