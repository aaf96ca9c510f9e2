"""Subscriptions: who is told of which events, and the log of what they were sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from arena.services.accounts.auth import Caller, require
from arena.services.notifications.addresses import channel_of, new_signing_secret, place_of
from data.errors import ConflictError, InputError, NotFoundError
from data.records import Action, TokenScope, require_label
from data.records.notifications import (
    OF_SUBMISSIONS,
    Channel,
    Delivery,
    DeliveryState,
    EventKind,
    NewSubscription,
    Subscription,
)
from data.store import Store

MOST_OF_A_TEAM = 10
SHOWN = 100
MOST_AGAIN = 1_000
SENDABLE = tuple(kind for kind in EventKind if kind is not EventKind.TEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionView:
    """A subscription as it is shown: without its secret, and without what is secret in its address."""

    id: int
    name: str
    team: str
    channel: Channel
    place: str
    kinds: tuple[EventKind, ...]
    created_at: datetime

    @classmethod
    def of(cls, subscription: Subscription) -> SubscriptionView:
        """What of a subscription is shown."""
        return cls(
            id=subscription.id,
            name=subscription.name,
            team=subscription.team,
            channel=subscription.channel,
            place=place_of(subscription.channel, subscription.address),
            kinds=subscription.kinds,
            created_at=subscription.created_at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedSubscription:
    """A new subscription; `secret` is shown this once, and empty where nothing is signed."""

    subscription: SubscriptionView
    secret: str


class SubscriptionService:
    """Use cases around being told. Organisers are told of everything, teams of their own submissions.

    Args:
        store: Where subscriptions are kept.
        deliver: Sends the delivery of a number now.
        private: Whether subscribers may be at addresses that are not public.
    """

    def __init__(self, store: Store, *, deliver: Callable[[int], None], private: bool) -> None:
        self._store = store
        self._deliver = deliver
        self._private = private

    def add(
        self, name: str, address: str, *, team: str = "", kinds: Sequence[EventKind] = (), caller: Caller
    ) -> CreatedSubscription:
        """Subscribe.

        Args:
            name: What people call it.
            address: Where messages go.
            team: Whose events; empty for those of the whole arena, which organisers alone may have.
            kinds: What it is told of; everything that it may be where nothing is given.
            caller: Who asks.

        Raises:
            InputError: The address cannot be notified, or a team may not be told of an event.
            RecordError: The name cannot be used.
            NotFoundError: There is no such team.
            ConflictError: The team has as many as it may.
            AccessError, ForbiddenError: They may not.
        """
        _require_manager(caller, team)
        if team:
            self._store.teams.get(team)
        require_label(name, "Name")
        foreign = [kind for kind in kinds if kind not in (OF_SUBMISSIONS if team else SENDABLE)]
        if foreign:
            allowed = ", ".join(OF_SUBMISSIONS if team else SENDABLE)
            whom = "A team" if team else "A subscriber"
            raise InputError(f"{whom} cannot be told of {foreign[0]}.", advice=f"Choose of {allowed}.")
        channel = channel_of(address, team=team, private=self._private)
        secret = new_signing_secret() if channel is Channel.WEBHOOK else ""
        new = NewSubscription(
            name=name, team=team, channel=channel, address=address, secret=secret, kinds=tuple(kinds)
        )
        with self._store.audit.audited() as notes:
            if team:
                self._store.teams.lock(team)
                if len(self._store.subscriptions.all([team])) >= MOST_OF_A_TEAM:
                    message = f"{team} has {MOST_OF_A_TEAM} subscriptions, the most that a team may have."
                    raise ConflictError(message, advice="Remove one that is not needed.")
            added = self._store.subscriptions.add(new)
            subject = f"subscription {added.id}"
            notes.take(caller.note(Action.SUBSCRIPTION_ADDED, subject, team=team, channel=channel.value))
        return CreatedSubscription(subscription=SubscriptionView.of(added), secret=secret)

    def all(self, *, team: str | None = None, caller: Caller) -> tuple[SubscriptionView, ...]:
        """The subscriptions that somebody may see: all for organisers, else those of their teams.

        Args:
            team: Those of a team only.
            caller: Who asks.

        Raises:
            AccessError, ForbiddenError: They may not.
        """
        subscriptions = self._store.subscriptions.all(self._teams(caller, team))
        return tuple(map(SubscriptionView.of, subscriptions))

    def remove(self, number: int, *, caller: Caller) -> SubscriptionView:
        """End a subscription; what waits for it is sent no more, and its log goes with it.

        Raises:
            NotFoundError: There is none of this number that they may see.
            AccessError, ForbiddenError: They may not.
        """
        subscription = self._managed(number, caller)
        with self._store.audit.audited() as notes:
            self._store.subscriptions.remove(number)
            subject = f"subscription {number}"
            notes.take(caller.note(Action.SUBSCRIPTION_REMOVED, subject, team=subscription.team))
        return SubscriptionView.of(subscription)

    def send_test(self, number: int, *, caller: Caller) -> Delivery:
        """Send a test message now, and say how that ended; where it failed it is tried again like others.

        Raises as `remove`.
        """
        self._managed(number, caller)
        delivery = self._store.deliveries.put_test(number)
        self._deliver(delivery)
        (sent,) = self._store.deliveries.find(number=delivery, limit=1)
        return sent

    def deliveries(
        self,
        *,
        team: str | None = None,
        subscription: int | None = None,
        state: DeliveryState | None = None,
        limit: int = SHOWN,
        caller: Caller,
    ) -> tuple[Delivery, ...]:
        """What was sent, or waits to be, the newest first; whose is as in `all`.

        Raises:
            AccessError, ForbiddenError: They may not.
        """
        return self._store.deliveries.find(
            self._teams(caller, team), subscription=subscription, state=state, limit=limit
        )

    def retry(self, numbers: Sequence[int], *, caller: Caller) -> int:
        """Let dead deliveries be sent again by the next worker, and return how many.

        Raises:
            NotFoundError: There is no such delivery that they may see.
            ConflictError: One is not dead.
            AccessError, ForbiddenError: They may not.
        """
        for number in numbers:
            delivery = next(iter(self._store.deliveries.find(number=number, limit=1)), None)
            if delivery is None or not _sees(caller, delivery.team):
                message = f"There is no delivery {number}."
                raise NotFoundError(message, advice="`arena notifications deliveries` names them.")
            _require_manager(caller, delivery.team)
            if delivery.state is not DeliveryState.DEAD:
                message = f"Delivery {number} is {delivery.state}, so there is nothing to send again."
                raise ConflictError(message, advice="Only dead ones are sent again.")
        return self._store.deliveries.again(numbers)

    def retry_dead(self, *, caller: Caller) -> int:
        """Let all dead deliveries be sent again, and return how many.

        Raises:
            AccessError, ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        dead = self._store.deliveries.find(state=DeliveryState.DEAD, limit=MOST_AGAIN)
        return self._store.deliveries.again([delivery.id for delivery in dead])

    def _managed(self, number: int, caller: Caller) -> Subscription:
        subscription = self._store.subscriptions.get(number)
        if not _sees(caller, subscription.team):
            raise NotFoundError(
                f"There is no subscription {number}.", advice="`arena notifications list` names them."
            )
        _require_manager(caller, subscription.team)
        return subscription

    def _teams(self, caller: Caller, team: str | None) -> Sequence[str] | None:
        """Whose subscriptions somebody may see; None for all."""
        if team:
            require(caller, TokenScope.READ, team=team)
            return [team]
        require(caller, TokenScope.READ)
        if not caller.organiser:
            return caller.teams
        return None if team is None else [""]


def _sees(caller: Caller, team: str) -> bool:
    return caller.organiser or (bool(team) and caller.role_in(team) is not None)


def _require_manager(caller: Caller, team: str) -> None:
    if team:
        require(caller, TokenScope.MANAGE, team=team)
    else:
        require(caller, TokenScope.ORGANISE)
