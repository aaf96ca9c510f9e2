"""What is told, to whom: every event as it happens, nothing private in any, and each team its own alone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, Caller, CallerKind
from arena.services.notifications.service import MOST_OF_A_TEAM, SENTENCES
from arena.services.rounds.models import RoundRequest
from arena.settings import PageHosts
from arena.workers.worker import Worker
from data.errors import ConflictError, ForbiddenError, InputError, InvalidFileError, NotFoundError
from data.records import JobKind, Phase, Role, RoundState, SystemCard, TokenScope, WorkerId
from data.records.notifications import EventKind
from tests.arena.conftest import write_answers
from tests.webhook_receiver import Receiver

EVERYTHING = [kind for kind in EventKind if kind is not EventKind.TEST]
CANARIES = (
    "CANARY-ANSWER",
    "CANARY-CONTACT",
    "canary@example.org",
    "aa_CANARY",
    "It weighs",
    "CANARY-NOTICE",
)


def member(team: str, role: Role = Role.OWNER) -> Caller:
    """Somebody of a team."""
    return Caller(kind=CallerKind.TOKEN, name=team, roles=((team, role),), scopes=frozenset(TokenScope))


@pytest.fixture
def arena(make_arena: Callable[..., Arena], set_folder: Path, database_url: str) -> Arena:
    """An arena with the tiny set and two teams, which may notify this machine."""
    opened = make_arena(database_url=database_url, notify_hosts=PageHosts.ANY)
    opened.sets.import_from(set_folder)
    for team in ("ours", "theirs"):
        opened.teams.add(team, contact="canary@example.org", caller=OPERATOR)
    return opened


def add(arena: Arena, folder: Path, system: str, team: str = "ours", *, text: str = "CANARY-ANSWER") -> int:
    """Submit answers."""
    path = write_answers(folder / f"{system}.jsonl", (f"Item {{n}} is {{word}} {text}.", "{word}."), 12)
    card = SystemCard(contact="CANARY-CONTACT", notes="aa_CANARY")
    return arena.submissions.add(path, "tiny", system=system, team=team, card=card).submission.id


def work(arena: Arena) -> None:
    """Let a worker do what there is."""
    Worker(arena, WorkerId(name="w", place="", pid=1, started="")).run(once=True)


def kinds(arena: Arena, team: str | None = None) -> list[str]:
    """The events of the messages to subscribers, or to those of a team, in order."""
    numbers = {row.id for row in arena.store.subscriptions.all(None if team is None else [team])}
    messages = reversed(arena.store.jobs.all(kind=JobKind.NOTIFY))
    mine = [job.payload["event"] for job in messages if job.payload["subscription"] in numbers]
    return [arena.store.outbox.event(number).kind for number in mine]


@pytest.mark.long
def test_a_season_is_told_without_a_private_word(arena: Arena, tmp_path: Path) -> None:
    """From a refused file to a retracted board each event is sent once, none with a private text."""
    server = Receiver()
    with server.running():
        arena.subscriptions.add("all", f"{server.url}/aa_CANARY", caller=OPERATOR)
        arena.subscriptions.add("ours", server.url, team="ours", caller=member("ours"))
        broken = tmp_path / "broken.jsonl"
        broken.write_text('{"question_id": "q0", "answer": "CANARY-ANSWER"}\n{"question_id": "no"}\n')
        for _ in range(2):
            with pytest.raises(InvalidFileError):
                arena.submissions.add(broken, "tiny", system="one", team="ours")
        add(arena, tmp_path, "one")
        add(arena, tmp_path, "two", "theirs", text="CANARY-ANSWER too")
        arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
        arena.rounds.pause("r")
        arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
        arena.boards.publish("r", report=lambda _line: None, score=False)
        arena.boards.retract("r", "CANARY-NOTICE")
        closing = Phase(name="main", closes_at=datetime.now(UTC) + timedelta(hours=20))
        arena.policies.put_phase("tiny", closing)
        for _ in range(2):
            work(arena)
    to_all = [message for message in server.messages if message.path == "/aa_CANARY"]
    assert [message.type for message in sorted(to_all, key=lambda message: message.payload["timestamp"])] == [
        "submission.refused",
        "submission.accepted",
        "submission.accepted",
        "round.paused",
        "submission.judged",
        "submission.judged",
        "board.published",
        *["submission.on_board"] * 2,
        "board.retracted",
        *["submission.on_board"] * 2,
        "phase.closing",
    ]
    to_us = [message.type for message in server.messages if message.path == "/"]
    assert sorted(to_us) == [
        "submission.accepted",
        "submission.judged",
        "submission.on_board",
        "submission.on_board",
        "submission.refused",
    ]
    sent = "".join(message.body.decode() for message in server.messages)
    assert not [canary for canary in CANARIES if canary in sent]
    assert '"round": "r"' in sent
    (refused,) = (message for message in to_all if message.type == "submission.refused")
    assert refused.payload["data"]["problems"]["unknown-question"] == 1


def test_team_is_told_of_its_own_submissions_alone(arena: Arena, tmp_path: Path) -> None:
    """A team sees no other team's events or subscriptions, and nothing of rounds and boards."""
    for team in ("ours", "theirs"):
        arena.subscriptions.add(team, "https://example.org/", team=team, caller=member(team))
    arena.subscriptions.add("all", "https://example.org/", caller=OPERATOR)
    add(arena, tmp_path, "one")
    assert kinds(arena, "ours") == ["submission.accepted"]
    assert kinds(arena, "theirs") == []
    assert kinds(arena) == ["submission.accepted"] * 2
    service = arena.subscriptions
    assert [row.name for row in service.all(caller=member("theirs"))] == ["theirs"]
    assert [row.name for row in service.all(caller=OPERATOR)] == ["ours", "theirs", "all"]
    for attempt in (
        lambda: service.all(team="ours", caller=member("theirs")),
        lambda: service.add("x", "https://example.org/", team="ours", caller=member("theirs")),
        lambda: service.add("x", "https://example.org/", caller=member("ours")),
        lambda: service.add("x", "https://example.org/", team="ours", caller=member("ours", Role.MEMBER)),
        lambda: service.remove(1, caller=member("ours", Role.MEMBER)),
    ):
        with pytest.raises(ForbiddenError):
            attempt()
    with pytest.raises(NotFoundError):
        service.remove(1, caller=member("theirs"))
    with pytest.raises(NotFoundError):
        service.send_test(3, caller=member("theirs"))
    assert service.remove(1, caller=member("ours")).name == "ours"
    assert [row.name for row in service.all(caller=OPERATOR)] == ["theirs", "all"]


def test_what_cannot_be_subscribed_to_is_refused_in_words(arena: Arena) -> None:
    """Bad addresses, other people's events, mail for teams and too many are refused with what to do."""
    add_ = arena.subscriptions.add
    for address, why in (
        ("example.org", "cannot be notified"),
        ("ftp://example.org/", "cannot be notified"),
        ("https://example.org:99999/", "cannot be read"),
        ("https://exa mple.org/", "spaces"),
        (f"https://example.org/{'x' * 2000}", "too long"),
        ("slack://x", "cannot be read by apprise"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template=/etc/passwd", "no options"),
        ("json://127.0.0.1/", "cannot be notified"),
    ):
        with pytest.raises(InputError, match=why):
            add_("x", address, caller=OPERATOR)
    with pytest.raises(InputError, match="mail is for organisers"):
        add_("x", "mailto://h?to=a@example.org", team="ours", caller=member("ours"))
    with pytest.raises(InputError, match=r"A team cannot be told of round\.paused"):
        add_("x", "https://h.example/", team="ours", kinds=[EventKind.ROUND_PAUSED], caller=member("ours"))
    for number in range(MOST_OF_A_TEAM):
        add_(f"s{number}", "https://h.example/", team="ours", caller=member("ours"))
    with pytest.raises(ConflictError, match="the most that a team may have"):
        add_("x", "https://h.example/", team="ours", caller=member("ours"))


def test_an_address_that_is_refused_is_not_logged(arena: Arena) -> None:
    """What apprise logs of an address that it cannot read stays out of our logs."""
    written = StringIO()
    handler = logging.StreamHandler(written)
    logging.getLogger().addHandler(handler)
    try:
        with pytest.raises(InputError):
            arena.subscriptions.add("x", "slack://CANARYTOKEN/", caller=OPERATOR)
    finally:
        logging.getLogger().removeHandler(handler)
    assert not written.getvalue()


def test_private_addresses_are_refused_at_once(make_arena: Callable[..., Arena]) -> None:
    """Unless the setting allows them, addresses of this network and those without TLS cannot be named."""
    arena = make_arena()
    for address, why in (
        ("https://127.0.0.1/", "not public"),
        ("https://[::ffff:10.0.0.1]/", "not public"),
        ("http://example.org/", "begins with http://"),
    ):
        with pytest.raises(InputError, match=why):
            arena.subscriptions.add("x", address, caller=OPERATOR)


def test_subscriber_chooses_its_events(arena: Arena, tmp_path: Path) -> None:
    """Whoever names events is told of those alone."""
    arena.subscriptions.add("x", "https://h.example/", kinds=[EventKind.SUBMISSION_JUDGED], caller=OPERATOR)
    add(arena, tmp_path, "one")
    assert kinds(arena) == []


def test_lost_workers_and_what_they_leave_are_told(arena: Arena, tmp_path: Path) -> None:
    """A worker that ended without a word is told of, and so is the round that failed and is paused."""
    arena.subscriptions.add("x", "https://h.example/", caller=OPERATOR)
    add(arena, tmp_path, "one")
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    arena.jobs.judge("r")
    leases = arena.store.leases
    for _ in range(3):
        worker = WorkerId(name="lost", place="", pid=1, started="")
        job, _ = leases.take(worker, lease=30.0, gone=lambda _worker: False) or pytest.fail("no job")
        arena.store.rounds.move("r", to=RoundState.RUNNING, allowed=(RoundState.PLANNED, RoundState.RUNNING))
        assert leases.give_up(lambda _worker: True) == 1
    assert job.round_name == "r"
    assert kinds(arena) == ["submission.accepted", *["worker.lost"] * 3, "round.paused"]


def test_round_that_runs_out_of_money_is_told(
    arena: Arena, tmp_path: Path, scripted_llm: Callable[..., Any]
) -> None:
    """A round that ends with battles which its cap left out is told of, once for each cap."""
    server = scripted_llm(rule="hash")
    arena.subscriptions.add("x", "https://h.example/", kinds=[EventKind.ROUND_OUT_OF_BUDGET], caller=OPERATOR)
    add(arena, tmp_path, "one")
    request = RoundRequest(
        set_name="tiny", judge="reference-free", pairs="all", name="r", budget_usd=0.002, canaries=0
    )
    twin = Arena(replace(arena.settings, endpoint=server.url))
    twin.rounds.create(request)
    twin.rounds.run("r", concurrency=2, report=lambda _progress: None)
    assert twin.rounds.status("r")[1].skipped > 0
    twin.rounds.retry("r")
    twin.rounds.run("r", concurrency=2, report=lambda _progress: None)
    twin.close()
    assert kinds(arena) == ["round.out_of_budget"]


def test_every_event_has_a_sentence() -> None:
    """There are words for each event."""
    assert set(SENTENCES) == set(EventKind)
    assert len(EVERYTHING) == 15
