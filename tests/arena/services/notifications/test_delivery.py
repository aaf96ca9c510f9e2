"""Deliveries over real HTTP: signatures, failures, restarts, several workers, hosts that are not asked."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.notifications.delivery import AT_ONCE, MOST_ATTEMPTS, DeliveryService, signature
from arena.services.notifications.subscriptions import SubscriptionService
from arena.settings import PageHosts
from data import public_hosts
from data.records.notifications import Attempt, Delivery, DeliveryState, EventKind, NewEvent
from data.store import Store
from data.tables.notifications import deliveries, events
from tests.webhook_receiver import Receiver, mail_server

Open = Callable[..., Receiver]
SOON = 0.01


@pytest.fixture
def receiver() -> Iterator[Open]:
    """Start subscribers: `receiver(statuses=[500], silence=0.5)`."""
    with_exit: list[Any] = []

    def start(**fields: Any) -> Receiver:  # noqa: ANN401 - the fields of `Receiver`
        context = Receiver(**fields).running()
        with_exit.append(context)
        opened: Receiver = context.__enter__()
        return opened

    yield start
    for context in with_exit:
        context.__exit__(None, None, None)


@pytest.fixture
def arena(make_arena: Callable[..., Arena], database_url: str) -> Arena:
    """An empty arena on each engine, which may notify this machine."""
    return make_arena(
        database_url=database_url, notify_hosts=PageHosts.ANY, public_url="https://arena.example"
    )


def subscribe(arena: Arena, url: str, **options: Any) -> int:  # noqa: ANN401 - options of a subscription
    """Subscribe to everything."""
    return arena.subscriptions.add("x", url, caller=OPERATOR, **options).subscription.id


def happen(arena: Arena, *names: str) -> None:
    """Let boards be published."""
    for name in names:
        arena.store.outbox.record(
            NewEvent(kind=EventKind.BOARD_PUBLISHED, data={"board": name}, path=f"/x?board={name}")
        )


def deliver(store: Store, **options: Any) -> int:  # noqa: ANN401 - options of the service
    """Send what is due, as a worker does, with short waits."""
    service = DeliveryService(store, **{"private": True, "seconds": 5.0, "first_wait": SOON, **options})
    return asyncio.run(service.deliver_due())


def until_settled(arena: Arena, **options: Any) -> tuple[Delivery, ...]:  # noqa: ANN401 - as above
    """Send until nothing waits, and return the log."""
    ends = time.monotonic() + 60
    while any(row.state is DeliveryState.PENDING for row in log(arena)) and time.monotonic() < ends:
        deliver(arena.store, **options)
        time.sleep(SOON)
    return log(arena)


def log(arena: Arena) -> tuple[Delivery, ...]:
    """What was sent, or waits."""
    return arena.subscriptions.deliveries(caller=OPERATOR)


def test_signature_is_the_published_one() -> None:
    """The example of the Standard Webhooks specification is signed as it says."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_message_is_signed_and_says_what_happened(arena: Arena, receiver: Open) -> None:
    """A subscriber gets type, moment and data with a link, signed with the secret that it was shown once."""
    server = receiver()
    created = arena.subscriptions.add("x", f"{server.url}/hook?key=1", caller=OPERATOR)
    happen(arena, "b")
    (row,) = until_settled(arena, public_url="https://arena.example")
    (message,) = server.messages
    assert message.path == "/hook?key=1"
    assert message.payload["type"] == "board.published"
    assert message.payload["data"] == {"board": "b", "url": "https://arena.example/x?board=b"}
    assert message.payload["timestamp"] == row.at.isoformat()
    stamp = int(message.headers["webhook-timestamp"])
    assert abs(stamp - time.time()) < 60
    assert message.headers["webhook-signature"] == signature(
        created.secret, row.message_id, stamp, message.body
    )
    assert (message.id, row.state, row.status, row.attempts) == (row.message_id, "delivered", 200, 1)
    assert created.secret not in repr((created.subscription, arena.subscriptions.all(caller=OPERATOR), row))


def test_what_was_rolled_back_is_not_sent(arena: Arena, receiver: Open) -> None:
    """An event of a transaction that failed does not exist; one of a transaction that held is never lost."""
    server = receiver()
    subscribe(arena, server.url)

    def fail() -> None:
        with arena.store.audit.audited():
            happen(arena, "gone")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with arena.store.audit.audited():
        happen(arena, "kept")
    until_settled(arena)
    assert [message.payload["data"]["board"] for message in server.messages] == ["kept"]


@pytest.mark.long
def test_failures_are_tried_again(arena: Arena, receiver: Open) -> None:
    """After errors of the server the same message comes again under the same id until it is taken."""
    server = receiver(statuses=[500, 503, 429])
    subscribe(arena, server.url)
    happen(arena, "b")
    (row,) = until_settled(arena)
    assert (row.state, row.attempts, row.status, row.error) == ("delivered", 4, 200, "")
    assert len({message.id for message in server.messages}) == 1
    assert len({message.body for message in server.messages}) == 1


@pytest.mark.long
def test_every_failure_is_named(arena: Arena, receiver: Open) -> None:
    """The log says of each failure what it was, and when the message is tried again."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        elsewhere = receiver()
        leading = receiver(statuses=[302], answer_headers={"Location": elsewhere.url})
        for server in (leading.url, receiver(silence=8.0).url, nobody, "http://nowhere.invalid"):
            subscribe(arena, server)
        happen(arena, "b")
        deliver(arena.store, seconds=3.0, first_wait=1000.0)
    rows = {row.subscription_id: row for row in log(arena)}
    assert [rows[number].error for number in sorted(rows)] == [
        "HTTP 302: redirects are not followed",
        "no answer within 3 s",
        "the connection failed (ConnectError)",
        "its host nowhere.invalid is not known",
    ]
    assert not elsewhere.messages
    assert {row.state for row in rows.values()} == {"pending"}
    assert all(700 < (row.wait or 0) <= 1250 for row in rows.values())


def test_an_endless_answer_holds_nobody_up(arena: Arena, receiver: Open) -> None:
    """The status is what counts: the body of an answer is not read, however long it drips."""
    server = receiver(drip=True)
    subscribe(arena, server.url)
    happen(arena, "b")
    (row,) = until_settled(arena)
    server.drip = False
    assert (row.state, row.attempts) == ("delivered", 1)


@pytest.mark.long
def test_one_that_is_silent_does_not_keep_others_waiting(arena: Arena, receiver: Open) -> None:
    """Messages for others are sent while one subscriber does not answer."""
    subscribe(arena, receiver(silence=2.0).url)
    quick = receiver()
    subscribe(arena, quick.url)
    happen(arena, *"abcdef")
    sending = threading.Thread(target=deliver, args=(arena.store,))
    sending.start()
    ends = time.monotonic() + 30
    while not quick.messages and time.monotonic() < ends:
        time.sleep(0.02)
    waits = sending.is_alive()
    sending.join()
    assert quick.messages
    assert waits


def test_what_stays_unanswered_is_dead_and_can_be_sent_again(arena: Arena, receiver: Open) -> None:
    """After ten attempts a message is dead, with its reason; sent again it has all its attempts."""
    server = receiver(statuses=[500] * MOST_ATTEMPTS)
    subscribe(arena, server.url)
    happen(arena, "b")
    for _ in range(MOST_ATTEMPTS):
        claimed = arena.store.deliveries.claim(60.0)
        assert claimed is not None
        assert claimed.event.data == {"board": "b"}
        service = DeliveryService(arena.store)
        wait = service.wait_after(claimed.attempts, Attempt(status=500, error="HTTP 500"))
        arena.store.deliveries.end(
            claimed, Attempt(status=500, error="HTTP 500"), wait=None if wait is None else 0.0
        )
    (row,) = log(arena)
    assert (row.state, row.attempts, row.error, row.wait) == ("dead", 10, "HTTP 500", None)
    assert deliver(arena.store) == 0
    assert arena.subscriptions.retry([row.id], caller=OPERATOR) == 1
    server.statuses.clear()
    (row,) = until_settled(arena)
    assert (row.state, row.attempts) == ("delivered", 1)


def test_log_forgets_what_ended_long_ago(arena: Arena, receiver: Open) -> None:
    """A quarter of a year after its event a delivery leaves the log if it ended; what waits stays."""
    subscribe(arena, receiver().url)
    happen(arena, "old", "new")
    until_settled(arena)
    happen(arena, "waiting")
    with arena.store.database.begin() as connection:
        past = datetime.now(UTC) - timedelta(days=91)
        connection.execute(update(events).where(events.c.path != "/x?board=new").values(at=past))
    DeliveryService(arena.store).look_ahead()
    assert [row.state for row in log(arena)] == [DeliveryState.PENDING, DeliveryState.DELIVERED]
    with arena.store.database.begin() as connection:
        kept = connection.execute(select(events.c.path).order_by(events.c.id)).scalars().all()
    assert kept == ["/x?board=new", "/x?board=waiting"]


def test_waits_grow_and_differ(arena: Arena) -> None:
    """Waits grow fourfold from five seconds to half a day, a quarter more or less, and heed a server."""
    service = DeliveryService(arena.store)
    failed = Attempt(status=500, error="HTTP 500")
    for attempts, usual in ((1, 5.0), (2, 20.0), (3, 80.0), (9, 43_200.0)):
        waits = {service.wait_after(attempts, failed) for _ in range(20)}
        assert len(waits) > 1
        assert all(0.75 * usual <= (wait or 0) <= 1.25 * usual for wait in waits)
    assert service.wait_after(10, failed) is None
    assert service.wait_after(1, Attempt(status=429, error="HTTP 429", wait=600.0)) == 600.0


def test_who_is_gone_is_not_asked_again(arena: Arena, receiver: Open) -> None:
    """410 says that nobody listens any more: the message is dead at once."""
    subscribe(arena, receiver(statuses=[410]).url)
    happen(arena, "b")
    deliver(arena.store)
    (row,) = log(arena)
    assert (row.state, row.attempts, row.status) == ("dead", 1, 410)


@pytest.mark.long
def test_two_workers_send_each_message_once(arena: Arena, receiver: Open) -> None:
    """However many workers look at the queue, what is answered is sent once."""
    server = receiver()
    subscribe(arena, server.url)
    happen(arena, *(f"b{number}" for number in range(40)))
    stores = [Store.open(arena.settings.database_url) for _ in range(2)]
    workers = [threading.Thread(target=deliver, args=(store,)) for store in stores]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for store in stores:
        store.close()
    assert len(server.messages) == 40
    assert len({message.id for message in server.messages}) == 40
    assert {row.state for row in log(arena)} == {"delivered"}


def test_a_worker_that_died_is_replaced(arena: Arena, receiver: Open) -> None:
    """What a worker had taken when it was killed is sent by another, and the first can end it no more."""
    server = receiver()
    subscribe(arena, server.url)
    happen(arena, "b")
    lost = arena.store.deliveries.claim(3600.0)
    assert lost is not None
    assert deliver(arena.store) == 0, "it is the first worker's"
    with arena.store.database.begin() as connection:
        # As if the hour were over.
        connection.execute(update(deliveries).values(next_at=0.0))
    assert deliver(arena.store) == 1
    assert not arena.store.deliveries.end(lost, Attempt(error="too late"), wait=1.0)
    (row,) = log(arena)
    assert (row.state, row.attempts, row.error) == ("delivered", 2, "")


@pytest.mark.long
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0", "169.254.169.254", "10.0.0.1"])
def test_private_hosts_are_not_asked(arena: Arena, receiver: Open, host: str) -> None:
    """However an address of this network is spelled, nothing is sent to it unless that is allowed."""
    server = receiver()
    port = server.url.rpartition(":")[2]
    subscribe(arena, f"http://{host}:{port}/")
    happen(arena, "b")
    deliver(arena.store, private=False)
    (row,) = log(arena)
    assert row.state == "dead"
    assert row.error.endswith("has an address that is not public")
    assert not server.messages


def test_a_name_that_changes_its_meaning_leads_nowhere_else(
    arena: Arena, receiver: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address that was checked is the one that is asked: the name is not looked up again."""
    server = receiver()
    port = int(server.url.rpartition(":")[2])
    asked: list[str] = []
    usual = socket.getaddrinfo

    def look_up(host: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the library has it
        if host != "changing.example":
            return usual(host, *arguments, **options)
        asked.append(host)
        return usual("127.0.0.1" if len(asked) == 1 else "127.0.0.2", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(public_hosts, "is_public", lambda address: address == "127.0.0.1")
    subscribe(arena, f"http://changing.example:{port}/")
    happen(arena, "b")
    deliver(arena.store, private=False)
    (row,) = log(arena)
    assert (row.state, asked) == ("delivered", ["changing.example"])
    assert server.messages[0].headers["Host"] == f"changing.example:{port}"


@pytest.mark.long
def test_mail_and_slack_carry_the_sentence(
    arena: Arena, receiver: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apprise sends a sentence and a link by mail and Slack; what a name holds rings no bell there."""
    from apprise.plugins.slack import NotifySlack  # noqa: PLC0415 - an extra

    slack = receiver()
    monkeypatch.setattr(NotifySlack, "webhook_url", slack.url)
    options = {"public_url": "https://arena.example"}
    with mail_server() as (port, letters):
        address = f"mailto://127.0.0.1:{port}?from=arena@example.org&to=ops@example.org"
        subscribe(arena, address)
        subscribe(arena, "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops")
        happen(arena, "<!channel>")
        rows = until_settled(arena, **options)
    assert [(row.state, row.error) for row in rows] == [("delivered", "")] * 2
    (letter,) = letters
    assert "Subject: Answer Arena: board.published" in letter
    assert "https://arena.example/x?board=" in letter.replace("=\n", "").replace("=3D", "=")
    said = str(slack.messages[0].payload)
    assert "&lt;!channel&gt; was published" in said
    assert "<!channel>" not in said.replace("board=<!channel>", "")


def test_mail_to_a_private_host_is_refused(arena: Arena) -> None:
    """A mail server of this network is asked only where that is allowed."""
    subscribe(arena, "mailto://127.0.0.1:25?from=a@example.org&to=b@example.org")
    happen(arena, "b")
    deliver(arena.store, private=False)
    (row,) = log(arena)
    assert (row.state, row.error) == ("dead", "its host 127.0.0.1 has an address that is not public")


@pytest.mark.slow
def test_workers_send_beside_their_jobs_and_after_a_kill(
    make_arena: Callable[..., Arena], receiver: Open, start: Callable[..., Any], until: Callable[..., None]
) -> None:
    """Two worker processes send what happens, once each; after one was killed the other goes on."""
    arena, server = make_arena(), receiver()
    arena.subscriptions = SubscriptionService(arena.store, deliver=arena.deliveries.deliver, private=True)
    subscribe(arena, server.url)
    workers = [start(arena, "worker", ARENA_NOTIFY_HOSTS="any") for _ in range(2)]
    happen(arena, *(f"a{number}" for number in range(10)))
    until(lambda: len(server.messages) == 10)
    workers[0].kill()
    workers[0].wait()
    happen(arena, *(f"b{number}" for number in range(10)))
    until(lambda: {row.state for row in log(arena)} == {DeliveryState.DELIVERED})
    assert len({message.id for message in server.messages}) == 20
    assert len(server.messages) <= 20 + AT_ONCE, "only what was on its way at the kill may have come twice"
