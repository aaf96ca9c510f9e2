"""Notifications of round ends, caps and accepted submissions to one apprise address."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

from data.models import RoundState, Submission
from data.store import Store

LOG = logging.getLogger("answer_arena.notifications")


class Notifier:
    """Send events to the address of `ARENA_NOTIFY`; failures are logged and never stop the work."""

    def __init__(self, store: Store, *, address: str | None = None, public_url: str = "") -> None:
        self._store = store
        self._address = address
        self._public_url = public_url

    def submission_accepted(self, submission: Submission) -> None:
        """Notify of a submission that counts from now on."""
        name = f"{submission.system}, version {submission.version}"
        team = f" of {submission.team}" if submission.team else ""
        self._send("submission accepted", f"{name}{team} was accepted on {submission.set_name}.", "/team")

    def round_ended(self, name: str) -> None:
        """Notify of a round that is finished, and of battles that its cap left out."""
        if not self._address:
            return
        round_ = self._store.rounds.get(name)
        if round_.state is not RoundState.FINISHED:
            return
        path = f"/admin-rounds?round={name}"
        if skipped := self._store.statuses.skipped_by_budget(round_.id):
            text = f"The round {name} reached its cap of {round_.budget_usd or 0.0:g} USD: "
            self._send("cap reached", f"{text}{skipped:,} battles were skipped.", path)
        self._send("round finished", f"The round {name} is finished.", path)

    def _send(self, event: str, text: str, path: str) -> None:
        if not self._address:
            return
        lines = (text, f"{self._public_url}{path}" if self._public_url else "")
        deliver = threading.Thread(target=_deliver, args=(self._address, event, lines), name="notification")
        deliver.start()


def _deliver(address: str, event: str, lines: Iterable[str]) -> None:
    import apprise

    # Its log names addresses, which may hold secrets.
    logging.getLogger(apprise.__name__).propagate = False
    try:
        sender = apprise.Apprise(asset=apprise.AppriseAsset(app_id="Answer Arena", async_mode=False))
        delivered = sender.add(address) and sender.notify(
            title=f"Answer Arena: {event}", body="\n".join(filter(None, lines))
        )
    except Exception as error:  # noqa: BLE001 - no fault of a message may end the work
        _warn(event, type(error).__name__)
    else:
        if not delivered:
            _warn(event, "not accepted by the address")


def _warn(event: str, reason: str) -> None:
    import structlog

    if structlog.is_configured():
        structlog.get_logger("notifications").warning(
            "notification.failed", notification=event, reason=reason
        )
    else:
        LOG.warning("notification.failed: %s (%s)", event, reason)
