"""How an event reaches a subscriber: a signed webhook, or Slack and mail by apprise.

Source: Standard Webhooks, github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md
(signature scheme v1: HMAC-SHA256 over `id.timestamp.body`).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from typing import Any

import httpx

from arena.services.notifications.addresses import SECRET_MARK, plugin_of
from data.errors import SpecError
from data.public_hosts import HostError, PrivateHostError, address_of
from data.public_transport import PublicTransport
from data.records.notifications import Attempt, Channel, ClaimedDelivery, Event, EventKind, message_id

SECONDS = 15.0
LONGEST_WISH = 86_400.0
"""Seconds that a subscriber may ask to wait."""
SENTENCES = {
    EventKind.SUBMISSION_ACCEPTED: "{system} of {team} was accepted on {set}",
    EventKind.SUBMISSION_REFUSED: "A file of {system} of {team} was refused on {set}",
    EventKind.SUBMISSION_JUDGED: "{system} of {team} was judged on {set}",
    EventKind.BOARD_PUBLISHED: "The board {board} was published",
    EventKind.BOARD_RETRACTED: "The board {board} was retracted",
    EventKind.PHASE_CLOSING: "The phase {phase} of {set} closes within a day",
    EventKind.ROUND_PAUSED: "The round {round} is paused ({reason})",
    EventKind.ROUND_OUT_OF_BUDGET: "The round {round} has used up its budget",
    EventKind.WORKER_LOST: "The worker {worker} was lost",
    EventKind.JUDGE_DRIFT: "The judge of the round {round} is not what it was",
    EventKind.APPLICATION_WAITING: "Somebody applied for the team {team}",
    EventKind.TEST: "A test of subscription {subscription}",
}


def signature(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """The signature of a message, scheme v1.

    Args:
        secret: `whsec_` and the key in base64.
        message: The header `webhook-id`.
        timestamp: The header `webhook-timestamp`, seconds since 1970.
        body: What is sent.
    """
    key = base64.b64decode(secret.removeprefix(SECRET_MARK))
    signed = f"{message}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"


def payload_of(event: Event, public_url: str) -> dict[str, Any]:
    """An event as it is sent: its type, its moment, its data, and where the site shows it."""
    link = {"url": public_url + event.path} if public_url and event.path else {}
    return {"type": event.kind.value, "timestamp": event.at.isoformat(), "data": {**event.data, **link}}


def sentence_of(event: Event) -> str:
    """An event in a sentence for people."""
    return f"{SENTENCES[event.kind].format_map(event.data)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Sends deliveries.

    Attributes:
        public_url: The address of the site; empty where it is not known.
        private: Whether hosts that are not public may be asked.
        seconds: Longest wait for an answer.
    """

    public_url: str = ""
    private: bool = False
    seconds: float = SECONDS

    async def send(self, claimed: ClaimedDelivery) -> Attempt:
        """Send a delivery once, and say how that ended; no failure raises."""
        try:
            if claimed.subscription.channel is Channel.WEBHOOK:
                async with asyncio.timeout(self.seconds):
                    return await self._post(claimed)
            return await self._tell(claimed)
        except TimeoutError:
            return Attempt(error=f"no answer within {self.seconds:g} s")
        except (HostError, SpecError) as error:
            return Attempt(error=str(error), final=isinstance(error, PrivateHostError))
        except Exception as error:  # noqa: BLE001 - whatever a stranger's server causes ends one attempt, not the worker
            return Attempt(error=f"the connection failed ({type(error).__name__})")

    async def _post(self, claimed: ClaimedDelivery) -> Attempt:
        body = json.dumps(payload_of(claimed.event, self.public_url), ensure_ascii=False).encode()
        message, timestamp = message_id(claimed.event.uid), int(time.time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "answer-arena (webhook)",
            "webhook-id": message,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(claimed.subscription.secret, message, timestamp, body),
        }
        transport = PublicTransport(private=self.private)
        async with (
            httpx.AsyncClient(
                transport=transport, trust_env=False, follow_redirects=False, timeout=self.seconds
            ) as client,
            # The body of the answer is never read, however long it is.
            client.stream("POST", claimed.subscription.address, content=body, headers=headers) as response,
        ):
            return _ended(response)

    async def _tell(self, claimed: ClaimedDelivery) -> Attempt:
        plugin = await asyncio.to_thread(plugin_of, claimed.subscription.address)
        if claimed.subscription.channel is Channel.MAIL:
            await address_of(str(plugin.smtp_host), int(plugin.port), private=self.private)
        title = sentence_of(claimed.event)
        link = payload_of(claimed.event, self.public_url)["data"].get("url")
        text = "\n".join(filter(None, (title, link)))
        subject = f"Answer Arena: {claimed.event.kind.value}"
        taken = await asyncio.to_thread(plugin.notify, body=text, title=subject, body_format="text")
        return Attempt(delivered=True) if taken else Attempt(error="it was refused, or not reached")


def _ended(response: httpx.Response) -> Attempt:
    status = response.status_code
    if response.is_success:
        return Attempt(delivered=True, status=status)
    if response.has_redirect_location:
        return Attempt(status=status, error=f"HTTP {status}: redirects are not followed")
    wish = response.headers.get("Retry-After", "")
    wait = min(LONGEST_WISH, float(wish)) if wish.isascii() and wish.isdecimal() else None
    gone = status == httpx.codes.GONE
    return Attempt(status=status, error=f"HTTP {status}", final=gone, wait=wait)
