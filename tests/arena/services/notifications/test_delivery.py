"""Messages over real HTTP and SMTP: what they hold, failures, restarts, workers, hosts that are not asked."""

from __future__ import annotations

import resource
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
from arena.services.notifications import channels
from arena.settings import PageHosts
from arena.workers.worker import LANES, Worker
from data import public_hosts
from data.errors import ArenaError, InputError
from data.records import Job, JobKind, WorkerId
from data.records.notifications import EventKind, NewEvent, Subscription
from data.store.notifications.outbox import MOST_ATTEMPTS
from data.tables.jobs import jobs
from data.tables.notifications import events
from tests.webhook_receiver import Receiver, mail_server

Open = Callable[..., Receiver]
ME = WorkerId(name="w", place="", pid=1, started="")


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


def subscribe(arena: Arena, url: str) -> int:
    """Subscribe to everything."""
    return arena.subscriptions.add("x", url, caller=OPERATOR).id


def happen(arena: Arena, *names: str) -> None:
    """Let boards be published."""
    for name in names:
        arena.store.outbox.record(
            NewEvent(kind=EventKind.BOARD_PUBLISHED, data={"board": name}, path=f"/x?board={name}")
        )


def work(arena: Arena) -> None:
    """Let a worker send what is due."""
    Worker(arena, ME).run(once=True)


def work_again(arena: Arena) -> None:
    """The same, as if the waits of what failed were over."""
    with arena.store.database.begin() as connection:
        connection.execute(update(jobs).values(not_before=0.0))
    work(arena)


def messages(arena: Arena) -> tuple[Job, ...]:
    """The messages of the queue, the newest first."""
    return arena.store.jobs.all(kind=JobKind.NOTIFY)


def listed(arena: Arena) -> tuple[Subscription, ...]:
    """The subscriptions as organisers see them."""
    return arena.subscriptions.all(caller=OPERATOR)


def test_a_message_says_what_happened(arena: Arena, receiver: Open) -> None:
    """A webhook gets the event's kind, moment and data with a link, and a sentence."""
    server = receiver()
    subscribe(arena, f"{server.url}/ho%2Fok?key=1&format=x&key=2")
    happen(arena, "b")
    work(arena)
    (message,) = server.messages
    assert message.path == "/ho%2Fok?key=1&key=2&format=x"
    assert message.type == "board.published"
    assert message.payload["data"] == {"board": "b", "url": "https://arena.example/x?board=b"}
    assert message.payload["message"] == "The board b was published.\nhttps://arena.example/x?board=b"
    assert datetime.fromisoformat(message.payload["timestamp"]).tzinfo is not None
    assert "attachments" not in message.payload
    (row,) = listed(arena)
    assert (row.delivered, row.failed, row.error) == (1, 0, "")


def test_a_password_in_an_address_is_sent_and_not_shown(arena: Arena, receiver: Open) -> None:
    """A user and password go along as HTTP's own; lists, errors and the audit log have no secret."""
    server = receiver(statuses=[200, 500])
    host = server.url.removeprefix("http://")
    number = subscribe(arena, f"http://someone:hid%2Dden@{host}/secret-path?k=secret-key")
    arena.subscriptions.send_test(number, caller=OPERATOR)
    assert server.messages[0].headers["Authorization"] == "Basic c29tZW9uZTpoaWQtZGVu"
    with pytest.raises(InputError) as failed:
        arena.subscriptions.send_test(number, caller=OPERATOR)
    (row,) = listed(arena)
    assert row.place == f"http://{host}/…"
    shown = repr((row, row.place, str(failed.value), arena.store.audit.entries(limit=10)))
    for secret in ("hid", "someone", "secret-path", "secret-key"):
        assert secret not in shown


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
    work(arena)
    assert [message.payload["data"]["board"] for message in server.messages] == ["kept"]


@pytest.mark.long
def test_failures_are_tried_again_and_counted(arena: Arena, receiver: Open) -> None:
    """After errors of the server the same message comes again under the same id until it is taken."""
    server = receiver(statuses=[500, 503])
    subscribe(arena, server.url)
    happen(arena, "b")
    work(arena)
    (job,) = messages(arena)
    assert (job.state, job.attempts) == ("queued", 1)
    work(arena)
    assert len(server.messages) == 1, "it waits"
    work_again(arena)
    work_again(arena)
    (row,) = listed(arena)
    assert (row.delivered, row.failed) == (1, 2)
    assert "503" in row.error
    assert row.failed_at is not None
    assert len({message.id for message in server.messages}) == 1
    assert [job.state for job in messages(arena)] == ["done"]


@pytest.mark.long
def test_every_failure_is_named(arena: Arena, receiver: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list says of each subscription why its last failure was one; redirects are not followed."""
    monkeypatch.setattr(channels, "SECONDS", 6.0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        elsewhere = receiver()
        leading = receiver(statuses=[302], answer_headers={"Location": elsewhere.url})
        dripping = receiver(drip=True)
        for server in (leading.url, dripping.url, nobody, "http://nowhere.invalid"):
            subscribe(arena, server)
        happen(arena, "b")
        work(arena)
        dripping.drip = False
    reasons = [row.error for row in listed(arena)]
    for reason, words in zip(
        reasons, ("302", "no answer within 6 s", "onnection", "nowhere.invalid is not known"), strict=True
    ):
        assert words in reason
    assert not elsewhere.messages
    assert {job.state for job in messages(arena)} == {"queued"}


@pytest.mark.long
def test_one_that_is_silent_does_not_keep_others_waiting(arena: Arena, receiver: Open) -> None:
    """Messages for others are sent while one subscriber does not answer."""
    subscribe(arena, receiver(silence=3.0).url)
    quick = receiver()
    subscribe(arena, quick.url)
    happen(arena, *"abc")
    sending = threading.Thread(target=work, args=(arena,))
    sending.start()
    ends = time.monotonic() + 60
    while not quick.messages and time.monotonic() < ends:
        time.sleep(0.02)
    waits = sending.is_alive()
    sending.join()
    assert quick.messages
    assert waits


def test_what_never_arrives_is_given_up(arena: Arena, receiver: Open) -> None:
    """After its last attempt a message is given up, and its job says why."""
    subscribe(arena, receiver(statuses=[500]).url)
    happen(arena, "b")
    with arena.store.database.begin() as connection:
        connection.execute(update(jobs).values(attempts=MOST_ATTEMPTS - 1))
    work(arena)
    (job,) = messages(arena)
    assert job.state == "failed"
    assert f"given up after {MOST_ATTEMPTS} attempts" in job.error
    assert arena.jobs.recent() == (), "messages are not among the jobs that organisers list"


def test_removed_subscription_gets_nothing_more(arena: Arena, receiver: Open) -> None:
    """What waits for a removed subscription is not sent, neither to it nor to the one that is added next."""
    server = receiver()
    number = subscribe(arena, server.url)
    happen(arena, "b")
    arena.subscriptions.remove(number, caller=OPERATOR)
    assert subscribe(arena, server.url) > number
    work(arena)
    assert not server.messages


def test_what_no_worker_sent_in_all_that_time_is_given_up(arena: Arena, receiver: Open) -> None:
    """A message whose event is forgotten fails at once, and its job says why."""
    server = receiver()
    subscribe(arena, server.url)
    happen(arena, "b")
    with arena.store.database.begin() as connection:
        connection.execute(update(events).values(at=datetime.now(UTC) - timedelta(days=91)))
    work(arena)
    (job,) = messages(arena)
    assert (job.state, "is older than 90 days" in job.error) == ("failed", True)
    assert not server.messages


def test_what_ended_long_ago_is_forgotten(arena: Arena, receiver: Open) -> None:
    """After 90 days messages that ended and their events go; keys stay, so nothing comes twice."""
    subscribe(arena, receiver().url)
    happen(arena, "old")
    keyed = NewEvent(kind=EventKind.BOARD_PUBLISHED, data={"board": "k"}, path="/k", key="k")
    arena.store.outbox.record(keyed)
    work(arena)
    with arena.store.database.begin() as connection:
        past = datetime.now(UTC) - timedelta(days=91)
        connection.execute(update(events).values(at=past))
        connection.execute(update(jobs).values(finished_at=past))
    happen(arena, "new")
    arena.store.outbox.forget()
    arena.store.outbox.record(keyed)
    assert [job.state for job in messages(arena)] == ["queued"]
    with arena.store.database.begin() as connection:
        paths = connection.execute(select(events.c.path).order_by(events.c.id)).scalars().all()
    assert paths == ["/k", "/x?board=new"]


@pytest.mark.long
def test_two_workers_send_each_message_once(arena: Arena, receiver: Open) -> None:
    """However many workers look at the queue, what is answered is sent once."""
    server = receiver()
    subscribe(arena, server.url)
    happen(arena, *(f"b{number}" for number in range(20)))
    arenas = [Arena(arena.settings) for _ in range(2)]
    workers = [threading.Thread(target=work, args=(each,)) for each in arenas]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for each in arenas:
        each.close()
    assert len({message.id for message in server.messages}) == len(server.messages) == 20
    assert {job.state for job in messages(arena)} == {"done"}


def test_a_worker_that_died_is_replaced(arena: Arena, receiver: Open) -> None:
    """What a worker had taken when it was killed is sent by another; no subscriber is told of that worker."""
    server = receiver()
    subscribe(arena, server.url)
    happen(arena, "b")
    assert arena.store.leases.take(ME, lease=60.0, gone=lambda _worker: False) is None, "it is no other job"
    assert arena.store.leases.take(ME, lease=60.0, gone=lambda _worker: False, messages=True)
    assert arena.store.leases.callers() == 0, "messages leave the limits of endpoints to judges"
    assert arena.store.leases.give_up(lambda _worker: True) == 1
    work_again(arena)
    assert [message.type for message in server.messages] == ["board.published"]


@pytest.mark.long
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0", "169.254.169.254", "10.0.0.1"])
def test_private_hosts_are_not_asked(receiver: Open, host: str) -> None:
    """However an address of this network is spelled, nothing is sent to it, and it is not tried again."""
    server = receiver()
    port = server.url.rpartition(":")[2]
    with pytest.raises(InputError, match="has an address that is not public"):
        channels.send(f"https://{host}:{port}/", "t", "b", {}, private=False)
    assert not server.messages


def test_a_name_that_changes_its_address_leads_nowhere_else(
    receiver: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message goes to the address that was checked, whatever the name means a moment later."""
    server = receiver()
    port = int(server.url.rpartition(":")[2])
    real, answers = socket.getaddrinfo, ["127.0.0.1", "127.0.0.3", "127.0.0.3"]

    def changing(name: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - those of the library
        return real(answers.pop(0) if name == "hooks.example" else name, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    monkeypatch.setattr(public_hosts, "is_public", lambda address: address == "127.0.0.1")
    channels.send_here(f"http://hooks.example:{port}/", "t", "b", {}, private=False)
    assert len(server.messages) == 1
    assert len(answers) == 2


def test_certificates_are_always_checked_for_strangers() -> None:
    """Options of an address neither spare a certificate nor let a redirect be followed."""
    plugin = channels._plugin("https://h.example/?verify=no&redirect=yes", {}, private=False)
    assert (plugin.verify_certificate, plugin.redirects, plugin.secure) == (True, False, True)
    mail = channels._plugin("mailtos://u:p@h.example?to=a@h.example&verify=no", {}, private=False)
    assert mail.verify_certificate is True


@pytest.mark.long
def test_mail_and_slack_carry_the_sentence(receiver: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence and a link go by mail and Slack; what a name holds rings no bell there."""
    from apprise.plugins.slack import NotifySlack  # noqa: PLC0415 - loads apprise

    slack = receiver()
    monkeypatch.setattr(NotifySlack, "webhook_url", slack.url)
    title, body = (
        "Answer Arena: board.published",
        "The board <!channel> was published.\nhttps://arena.example/x",
    )
    with mail_server() as (port, letters):
        address = f"mailto://127.0.0.1:{port}?from=arena@example.org&to=ops@example.org"
        channels.send(address, title, body, {}, private=True)
    channels.send_here(
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops", title, body, {}, private=True
    )
    (letter,) = letters
    assert "Subject: Answer Arena: board.published" in letter
    assert "https://arena.example/x" in letter.replace("=\n", "").replace("=3D", "=")
    assert "&lt;!channel&gt; was published" in str(slack.messages[0].payload)
    assert "<!channel>" not in str(slack.messages[0].payload)


def test_a_process_that_sent_takes_other_work_as_before(receiver: Open) -> None:
    """The cap on memory holds while a message is sent, not for what the process does afterwards."""
    limits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    channels.send_here(receiver().url, "t", "b", {}, private=True)
    assert [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)] == limits


def test_mail_to_a_private_host_is_refused() -> None:
    """A mail server of this network is asked only where that is allowed."""
    with pytest.raises(ArenaError, match=r"its host 127\.0\.0\.1 has an address that is not public"):
        channels.send(
            "mailto://127.0.0.1:25?from=a@example.org&to=b@example.org", "t", "b", {}, private=False
        )


@pytest.mark.slow
def test_workers_send_beside_their_jobs_and_after_a_kill(
    make_arena: Callable[..., Arena], receiver: Open, start: Callable[..., Any], until: Callable[..., None]
) -> None:
    """Two worker processes send what happens, once each; after one was killed the other goes on."""
    arena, server = make_arena(notify_hosts=PageHosts.ANY), receiver()
    subscribe(arena, server.url)
    workers = [start(arena, "worker", ARENA_NOTIFY_HOSTS="any") for _ in range(2)]
    happen(arena, *(f"a{number}" for number in range(10)))
    until(lambda: len(server.messages) == 10)
    workers[0].kill()
    workers[0].wait()
    happen(arena, *(f"b{number}" for number in range(10)))
    until(lambda: {job.state for job in messages(arena)} == {"done"})
    assert len({message.id for message in server.messages}) == 20
    assert len(server.messages) <= 20 + LANES, "only what was on its way at the kill may have come twice"
