"""How events reach subscribers: a signed webhook, or Slack and mail by apprise; what fails is tried again.

Source: Standard Webhooks, github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md
(signature scheme v1: HMAC-SHA256 over `id.timestamp.body`).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from arena.services.notifications.addresses import SECRET_MARK, plugin_of
from data.errors import SpecError
from data.public_hosts import HostError, PrivateHostError, address_of
from data.public_transport import PublicTransport
from data.records.notifications import Attempt, Channel, ClaimedDelivery, Event, EventKind, message_id
from data.store import Store

AT_ONCE = 8
CLAIMED_FOR = 120.0
"""Seconds that a delivery is one worker's: longer than any attempt takes."""
FIRST_WAIT, FACTOR, LONGEST_WAIT = 5.0, 4.0, 43_200.0
SPREAD = 0.25
KEPT = timedelta(days=90)
"""How long the log names what was delivered or given up."""
MOST_ATTEMPTS = 10
"""Attempts of a delivery, over a day and a half."""
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


class DeliveryService:
    """Sends what is due. Each delivery is sent once unless it is not answered, by however many workers.

    Args:
        store: Where events and deliveries are.
        public_url: The address of the site; empty where it is not known.
        private: Whether hosts that are not public may be asked.
        seconds: Longest wait for an answer.
        first_wait: Seconds between the first attempt and the second.
    """

    def __init__(
        self,
        store: Store,
        *,
        public_url: str = "",
        private: bool = False,
        seconds: float = SECONDS,
        first_wait: float = FIRST_WAIT,
    ) -> None:
        self._store = store
        self._sender = Sender(public_url=public_url, private=private, seconds=seconds)
        self._first_wait = first_wait
        self._random = random.SystemRandom()

    def look_ahead(self) -> None:
        """Record what the calendar says, the phases that close within a day, and forget what is long past."""
        self._store.outbox.closing_phases()
        self._store.deliveries.forget(datetime.now(UTC) - KEPT)

    async def deliver_due(self, stop: asyncio.Event | None = None) -> int:
        """Send what is due, some at once, until nothing is or `stop` is set.

        Returns:
            How many attempts were made.

        Raises:
            StoreError: The database cannot be used.
        """
        first = await asyncio.to_thread(self._store.deliveries.claim, CLAIMED_FOR)
        if first is None:
            return 0
        lanes = (self._send_on(first, stop), *(self._send_on(None, stop) for _ in range(AT_ONCE - 1)))
        return sum(await asyncio.gather(*lanes))

    def deliver(self, number: int) -> None:
        """Send one delivery now, if it is due."""
        claimed = self._store.deliveries.claim(CLAIMED_FOR, number=number)
        if claimed is not None:
            asyncio.run(self._send(claimed))

    async def _send_on(self, claimed: ClaimedDelivery | None, stop: asyncio.Event | None) -> int:
        attempts = 0
        while True:
            if claimed is None and (stop is None or not stop.is_set()):
                claimed = await asyncio.to_thread(self._store.deliveries.claim, CLAIMED_FOR)
            if claimed is None:
                return attempts
            await self._send(claimed)
            attempts, claimed = attempts + 1, None

    async def _send(self, claimed: ClaimedDelivery) -> None:
        attempt = await self._sender.send(claimed)
        wait = self.wait_after(claimed.attempts, attempt)
        await asyncio.to_thread(self._store.deliveries.end, claimed, attempt, wait=wait)

    def wait_after(self, attempts: int, attempt: Attempt) -> float | None:
        """Seconds until the next attempt after so many; None where there is none."""
        if attempt.final or attempts >= MOST_ATTEMPTS:
            return None
        wait = min(LONGEST_WAIT, self._first_wait * FACTOR ** (attempts - 1))
        # Many that failed at once do not come back at once.
        wait *= self._random.uniform(1 - SPREAD, 1 + SPREAD)
        return max(wait, attempt.wait or 0.0)
