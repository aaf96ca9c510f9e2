"""Subscriptions: who is notified of which events; and the messages of the queue, which workers send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.services.accounts.auth import Caller, require
from data.errors import ArenaError, ConflictError, InputError, NotFoundError, UnavailableError
from data.records import Action, Job, TokenScope, require_label
from data.records.notifications import OF_SUBMISSIONS, Event, EventKind, NewSubscription, Subscription
from data.store import Store
from data.store.notifications.subscriptions import no_subscription
from data.tables.columns import now

MOST_OF_A_TEAM = 10
SENDABLE = tuple(kind for kind in EventKind if kind is not EventKind.TEST)
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
    EventKind.APPLICATION_WAITING: "Somebody applied for the team {team}",
    EventKind.SUBMISSION_QUESTIONED: "The organisers ask about {system} of {team}: {reason}",
    EventKind.SUBMISSION_DISQUALIFIED: "{system} of {team} was disqualified: {reason}",
    EventKind.SUBMISSION_WITHDRAWN: "{system} of {team} was withdrawn by an organiser: {reason}",
    EventKind.SUBMISSION_ON_BOARD: "The board {board}, on which {system} of {team} stands, was {what}",
    EventKind.TEST: "A test of subscription {subscription}",
}


class SubscriptionService:
    """Use cases around notifications. Organisers get every event, teams those of their own submissions.

    Args:
        store: Where subscriptions, events and messages are.
        public_url: The address of the site; empty where it is not known.
        private: Whether subscribers may be at addresses that are not public.
    """

    def __init__(self, store: Store, *, public_url: str = "", private: bool = False) -> None:
        self._store = store
        self._public_url = public_url
        self._private = private

    def add(
        self, name: str, address: str, *, team: str = "", kinds: Sequence[EventKind] = (), caller: Caller
    ) -> Subscription:
        """Subscribe.

        Args:
            name: What people call it.
            address: Where messages go.
            team: Whose events; empty for those of the whole arena, which organisers alone may have.
            kinds: Which events; every one that it may have where nothing is given.
            caller: Who asks.

        Raises:
            InputError: The address cannot be notified, or a team may not have an event.
            RecordError: The name cannot be used.
            NotFoundError: There is no such team.
            ConflictError: The team has as many as it may.
            AccessError, ForbiddenError: They may not.
        """
        from arena.services.notifications.channels import require_address  # noqa: PLC0415 - loads apprise

        _require_manager(caller, team)
        if team:
            self._store.teams.get(team)
        require_label(name, "Name")
        allowed = OF_SUBMISSIONS if team else SENDABLE
        if foreign := [kind for kind in kinds if kind not in allowed]:
            whom = "A team" if team else "A subscriber"
            raise InputError(
                f"{whom} cannot be told of {foreign[0]}.", advice=f"Choose of {', '.join(allowed)}."
            )
        require_address(address, team=team, private=self._private)
        new = NewSubscription(name=name, team=team, address=address, kinds=tuple(kinds))
        with self._store.audit.audited() as notes:
            if team:
                self._store.teams.lock(team)
                if len(self._store.subscriptions.all([team])) >= MOST_OF_A_TEAM:
                    message = f"{team} has {MOST_OF_A_TEAM} subscriptions, the most that a team may have."
                    raise ConflictError(message, advice="Remove one that is not needed.")
            added = self._store.subscriptions.add(new)
            subject = f"subscription {added.id}"
            notes.take(
                caller.note(Action.SUBSCRIPTION_ADDED, subject, team=team, channel=added.channel.value)
            )
        return added

    def all(self, *, team: str | None = None, caller: Caller) -> tuple[Subscription, ...]:
        """The subscriptions that somebody may see: all for organisers, else those of their teams, or of one.

        Raises:
            AccessError, ForbiddenError: They may not.
        """
        require(caller, TokenScope.READ, team=team or None)
        if team:
            return self._store.subscriptions.all([team])
        if not caller.organiser:
            return self._store.subscriptions.all(caller.teams)
        return self._store.subscriptions.all(None if team is None else [""])

    def remove(self, number: int, *, caller: Caller) -> Subscription:
        """End a subscription; what waits for it is not sent.

        Raises:
            NotFoundError: There is none of this number that they may see.
            AccessError, ForbiddenError: They may not.
        """
        subscription = self._managed(number, caller)
        with self._store.audit.audited() as notes:
            self._store.subscriptions.remove(number)
            subject = f"subscription {number}"
            notes.take(caller.note(Action.SUBSCRIPTION_REMOVED, subject, team=subscription.team))
        return subscription

    def send_test(self, number: int, *, caller: Caller) -> Subscription:
        """Send a test message now.

        Raises:
            InputError: It did not arrive.
            NotFoundError, AccessError, ForbiddenError: As for `remove`.
        """
        subscription = self._managed(number, caller)
        data = {"subscription": number}
        try:
            self._send(subscription, Event(uid="test", kind=EventKind.TEST, data=data, path="", at=now()))
        except UnavailableError as error:
            # Nobody tries this one again, so it is the address that has to change, or who answers there.
            raise InputError(error.message) from error
        return self._store.subscriptions.get(number)

    def send(self, message: Job) -> None:
        """Send a message of the queue, which tries it again where that fails.

        Raises:
            InputError, UnavailableError: It did not arrive.
        """
        try:
            subscription = self._store.subscriptions.get(message.payload["subscription"])
        except NotFoundError:
            return  # It was removed meanwhile.
        self._send(subscription, self._store.outbox.event(message.payload["event"]))

    def _send(self, subscription: Subscription, event: Event) -> None:
        from arena.services.notifications.channels import send  # noqa: PLC0415 - loads apprise

        title, payload = f"Answer Arena: {event.kind.value}", payload_of(event, self._public_url)
        sentence = f"{SENTENCES[event.kind].format_map(event.data)}."
        body = "\n".join(filter(None, (sentence, payload["data"].get("url"))))
        try:
            send(subscription.address, title, body, payload, self._private)
        except ArenaError as error:
            self._store.subscriptions.count(subscription.id, error.message)
            raise
        self._store.subscriptions.count(subscription.id, "")

    def _managed(self, number: int, caller: Caller) -> Subscription:
        subscription = self._store.subscriptions.get(number)
        team = subscription.team
        if not caller.organiser and not (team and caller.role_in(team) is not None):
            raise no_subscription(number)
        _require_manager(caller, team)
        return subscription


def payload_of(event: Event, public_url: str) -> dict[str, Any]:
    """An event for programs: what names it if it comes twice, its kind, moment and data, and a link."""
    link = {"url": public_url + event.path} if public_url and event.path else {}
    data: Mapping[str, Any] = {**event.data, **link}
    return {"id": event.uid, "event": event.kind.value, "timestamp": event.at.isoformat(), "data": data}


def _require_manager(caller: Caller, team: str) -> None:
    if team:
        require(caller, TokenScope.MANAGE, team=team)
    else:
        require(caller, TokenScope.ORGANISE)
