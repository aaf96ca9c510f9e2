"""Public blind votes: who may open them, what visitors see, what counts, and what a flood can do."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC
from arena.services.people.blind_pairs import BlindPairs, leaks, places_of
from arena.services.people.public_votes import ADDRESS_HOUR, VISITOR_HOUR, PublicVotes, Visitor
from arena.services.people.round_votes import VoteSource
from data.errors import AccessError, ClosedError, ConflictError, InputError, NotFoundError, QuotaError
from data.records import Action, Preference
from data.tables.annotation import poll_pairs
from data.tables.questions import questions, submissions
from tests.arena.services.boards.test_corrected_boards import judge, publish, voted, write_votes
from tests.narrow import known

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
ANN = Visitor(word="ann", host="192.0.2.7")


@dataclass
class Clock:
    """The time, which goes on as a test says."""

    now: datetime = START
    step: timedelta = field(default=timedelta(seconds=20))

    def __call__(self) -> datetime:
        """The moment."""
        return self.now

    def wait(self) -> None:
        """Somebody reads."""
        self.now += self.step


@pytest.fixture
def clock() -> Clock:
    """A clock of the test's own."""
    return Clock()


@pytest.fixture
def arena(filled: Callable[..., Arena], database_url: str) -> Arena:
    """An arena with a published round named `tiny`, on either engine."""
    opened = judge(filled(database_url=database_url))
    publish(opened)
    return opened


@pytest.fixture
def votes(arena: Arena, clock: Clock) -> PublicVotes:
    """The service over it, with chance from a seed."""
    return PublicVotes(arena.store, clock=clock, lot=random.Random(3))


def give(votes: PublicVotes, clock: Clock, visitor: Visitor, count: int) -> Iterator[bool]:
    """Judge pairs as somebody who reads: gold rightly, else by chance; yields which are gold."""
    for _ in range(count):
        shown = votes.next("tiny", visitor)
        item = shown.question.id.removeprefix("q")
        fitting = [text.startswith(f"Item {item} ") for text in (shown.first, shown.second)]
        if fitting[0] is not fitting[1]:
            said = Preference.A if fitting[0] else Preference.B
        else:
            said = random.Random(f"{visitor.word} {item}").choice((Preference.A, Preference.B))
        clock.wait()
        yield votes.vote("tiny", shown.token, said, visitor).gold


def test_votes_are_off_until_an_organiser_opens_them(arena: Arena, votes: PublicVotes) -> None:
    """Nobody can vote on a set before, or after it is closed again; both are in the audit log."""
    with pytest.raises(NotFoundError):
        votes.next("tiny", ANN)
    with pytest.raises(AccessError):
        votes.open("tiny", caller=PUBLIC)
    votes.open("tiny")
    assert votes.next("tiny", ANN).token
    votes.close("tiny")
    with pytest.raises(ClosedError):
        votes.next("tiny", ANN)
    votes.open("tiny")
    assert [one.open for one in votes.polls()] == [True]
    log = {one.action for one in arena.store.audit.entries(limit=20)}
    assert {Action.VOTES_OPENED, Action.VOTES_CLOSED} <= log


def test_sets_whose_licence_forbids_showing_texts_are_refused(arena: Arena, votes: PublicVotes) -> None:
    """`public_texts = false`, or a licence that says so, keeps visitors out, also where votes were open."""
    votes.open("tiny")
    arena.policies.show_texts("tiny", public=False)
    with pytest.raises(InputError, match="not public"):
        votes.open("tiny")
    with pytest.raises(ClosedError):
        votes.next("tiny", ANN)


def test_a_set_file_says_whether_texts_are_public(make_arena: Callable[..., Arena], set_folder: Path) -> None:
    """[submissions] public_texts = false in set.toml is kept with the set; a licence's words count too."""
    head = set_folder / "set.toml"
    head.write_text(
        f'licence = "Proprietary, internal use"\n{head.read_text()}\n[submissions]\npublic_texts = false\n'
    )
    arena = make_arena()
    arena.sets.import_from(set_folder)
    assert not arena.policies.get("tiny").public_texts
    assert arena.policies.get("tiny").phases == ()
    with pytest.raises(InputError, match="public_texts"):
        arena.public_votes.open("tiny")
    arena.policies.show_texts("tiny", public=True)
    with pytest.raises(InputError, match="'proprietary'"):
        arena.public_votes.open("tiny")


def test_only_published_systems_are_shown(filled: Callable[..., Arena]) -> None:
    """Without a board of two systems there is nothing to judge."""
    with pytest.raises(ConflictError, match="Publish a round first"):
        filled().public_votes.open("tiny")


def test_a_visitor_judges_blindly_and_then_sees_names(votes: PublicVotes, clock: Clock, arena: Arena) -> None:
    """A pair has no names until its vote; reloading shows the same pair; one vote a pair, by who saw it."""
    votes.open("tiny")
    shown = votes.next("tiny", ANN)
    assert votes.next("tiny", ANN) == shown
    assert shown.question.reference
    clock.wait()
    with pytest.raises(NotFoundError):
        votes.vote("tiny", shown.token, Preference.A, Visitor(word="bob", host="192.0.2.8"))
    told = votes.vote("tiny", shown.token, Preference.A, ANN)
    assert told.taken
    assert {told.first, told.second} < {"full", "short", "wrong"}
    texts = {one.system: one for one in arena.store.submissions.find(set_name="tiny", newest=True)}
    answers = arena.store.submissions.to_question("tiny", shown.question.id)
    if not told.gold:
        assert answers[texts[told.first].id].answer == shown.first
        assert answers[texts[told.second].id].answer == shown.second
    with pytest.raises(ConflictError, match="already"):
        votes.vote("tiny", shown.token, Preference.B, ANN)


def test_the_verdict_of_the_judge_comes_after_the_vote(
    votes: PublicVotes, clock: Clock, arena: Arena
) -> None:
    """Whoever voted reads whom the judge preferred and where its reasons are; of test pairs nothing."""
    votes.open("tiny")
    told_of = 0
    for _ in range(6):
        shown = votes.next("tiny", ANN)
        clock.wait()
        told = votes.vote("tiny", shown.token, Preference.TIE, ANN)
        if told.gold:
            assert told.judged is None
            continue
        judged = known(told.judged)
        battle = next(
            evidence.battle
            for evidence in arena.store.verdicts.of_question("tiny", shown.question.id)
            if evidence.battle.key == judged.battle
        )
        winners = {"a": battle.system_a, "b": battle.system_b, "tie": ""}
        assert {battle.system_a, battle.system_b} == {told.first, told.second}
        assert judged.winner == winners[str(battle.preference)]
        assert (judged.board, judged.question, judged.judge) == ("tiny", shown.question.id, "lexical")
        told_of += 1
    assert told_of >= 4


def test_one_pair_in_five_is_gold_and_never_counts(votes: PublicVotes, clock: Clock) -> None:
    """Each block of five pairs has one gold pair; the others count for whoever passes."""
    votes.open("tiny")
    gold = list(give(votes, clock, ANN, 10))
    assert sum(gold[:5]) == sum(gold[5:]) == 1
    board = votes.board("tiny")
    assert (board.given, board.gold, board.untried) == (10, 2, 0)
    assert (board.counted, board.over_cap, board.cap) == (1, 7, 1)


def test_hasty_votes_do_not_count(votes: PublicVotes, clock: Clock) -> None:
    """A vote that comes before both answers can be read is kept as rejected."""
    votes.open("tiny")
    shown = votes.next("tiny", ANN)
    clock.now += timedelta(seconds=1)
    assert not votes.vote("tiny", shown.token, Preference.A, ANN).taken
    board = votes.board("tiny")
    assert board.rejected == {"quick": 1, "leak": 0}


def test_answers_that_name_their_system_are_not_shown(
    filled: Callable[..., Arena], answers_file: Callable[..., Path], clock: Clock
) -> None:
    """A system that signs its answers is in no pair, and a model's name anywhere is a leak."""
    arena = filled()
    arena.submissions.add(answers_file("vain", "Says Vain: item {n} is {word}."), "tiny", system="vain")
    publish(judge(arena))
    votes = PublicVotes(arena.store, clock=clock, lot=random.Random(1))
    votes.open("tiny")
    for number in range(25):
        visitor = Visitor(word=str(number), host=f"198.51.100.{number}")
        shown = votes.next("tiny", visitor)
        assert "Vain" not in shown.first + shown.second
    assert leaks("As ChatGPT, I cannot say.", ())
    assert leaks("By team  Blue-Sky!", ("blue sky",))
    assert not leaks("A bluish sky.", ("blue sky", "sk"))


def test_silence_is_in_no_gold_pair(filled: Callable[..., Arena], answers_file: Callable[..., Path]) -> None:
    """A refusal to answer fits every question, so test pairs are made of answers alone."""
    arena = filled()
    arena.submissions.add(answers_file("mute", "I couldn't find an answer."), "tiny", system="mute")
    publish(judge(arena))
    pairs, lot = BlindPairs(arena.store, "tiny"), random.Random(5)
    gold = [pairs.draw(lot, gold=True) for _ in range(20)]
    assert all(one.decoy not in {None, one.question} for one in gold)
    assert "mute" not in {side.system for one in gold for side in (one.a, one.b)}
    shown = [pairs.draw(lot, gold=False) for _ in range(20)]
    assert "mute" in {side.system for one in shown for side in (one.a, one.b)}


@pytest.mark.long
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_visitors_and_addresses_have_limits(votes: PublicVotes, clock: Clock) -> None:
    """One visitor, and one address under many names, are shown a limited number of pairs an hour."""
    clock.step = timedelta(seconds=3)
    votes.open("tiny")
    list(give(votes, clock, ANN, VISITOR_HOUR))
    with pytest.raises(QuotaError):
        votes.next("tiny", ANN)
    for number in range(ADDRESS_HOUR - VISITOR_HOUR):
        votes.next("tiny", Visitor(word=f"w{number}", host=ANN.host))
    with pytest.raises(QuotaError):
        votes.next("tiny", Visitor(word="fresh", host=ANN.host))
    assert votes.next("tiny", Visitor(word="fresh", host="203.0.113.5")).token
    clock.now += timedelta(hours=1, minutes=1)
    assert votes.next("tiny", ANN).token


def test_a_host_of_ipv6_is_counted_by_its_network() -> None:
    """Addresses of one host count as one, and hosts of one provider's customer as one network."""
    assert (
        places_of("2001:db8:1:2:3::4")
        == places_of("2001:db8:1:2::9")
        == ("2001:db8:1:2::/64", "2001:db8:1::/48")
    )
    assert places_of("::ffff:192.0.2.7") == places_of("192.0.2.7") == ("192.0.2.7/32", "192.0.2.0/24")
    assert places_of("testclient") == ("testclient", "testclient")


@pytest.mark.long
def test_votes_are_exported_as_a_votes_file(
    votes: PublicVotes, clock: Clock, arena: Arena, tmp_path: Path
) -> None:
    """What counts is a votes file under pseudonyms, which corrects a board; nothing else mixes the two."""
    votes.open("tiny")
    for number in range(12):
        list(give(votes, clock, Visitor(word=f"v{number}", host=f"10.{number}.0.1"), 5))
    text = votes.export("tiny")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == votes.board("tiny").counted == 12
    assert {row["annotator"][:8] for row in rows} == {"visitor-"}
    assert "10." not in text
    path = tmp_path / "public.jsonl"
    path.write_text(text, encoding="utf-8")
    before = arena.boards.get("tiny")
    board, changed = publish(arena, VoteSource.read(str(path)))
    assert changed
    assert board.standings["lines"] == before.standings["lines"]
    with pytest.raises(AccessError):
        votes.export("tiny", caller=PUBLIC)


@pytest.mark.long
def test_a_flood_moves_no_rating(arena: Arena, votes: PublicVotes, tmp_path: Path) -> None:
    """5,000 forged votes for one system move the votes' own rating by 10 points at most, and no other rating.

    They are patient and right on gold, of 1,000 visitors on three networks, beside 600 honest visitors.
    """
    corrected, _ = publish(arena, voted(write_votes(tmp_path / "votes.jsonl")))
    votes.open("tiny")
    chance = random.Random(11)
    write(arena, votes, chance, [(f"h{n}", f"net{n}") for n in range(600)], forged_for=None)
    before = votes.board("tiny")
    write(arena, votes, chance, [(f"x{n}", f"evil{n % 3}") for n in range(1000)], forged_for="wrong")
    after = votes.board("tiny")
    assert after.given - before.given == 6000
    old = {row["system"]: row["rating"] for row in before.ratings}
    moved = {row["system"]: abs(row["rating"] - old[row["system"]]) for row in after.ratings}
    assert max(moved.values()) <= 10
    assert moved["wrong"] > 0
    again, changed = publish(arena, voted(tmp_path / "votes.jsonl"))
    assert not changed
    assert again.standings == corrected.standings


def write(
    arena: Arena,
    votes: PublicVotes,
    chance: random.Random,
    people: list[tuple[str, str]],
    *,
    forged_for: str | None,
) -> None:
    """Five votes and a rightly answered gold pair of each visitor, as the service keeps them."""
    poll = votes.state("tiny")
    assert poll is not None
    worth = {"full": 0.8, "short": 0.0, "wrong": -0.8}
    with arena.store.database.begin() as connection:
        systems = {
            row.system: row.id
            for row in connection.execute(select(submissions.c.system, submissions.c.id))
            if row.system in worth
        }
        asked = [row.id for row in connection.execute(select(questions.c.id))]
        rows = []
        for visitor, network in people:
            for place in range(6):
                a, b = chance.sample(sorted(systems), 2)
                gold = place == 0
                odds = 1 / (1 + 2.718 ** (worth[b] - worth[a]))
                said = Preference.A if gold or chance.random() < odds else Preference.B
                if forged_for in {a, b} and not gold:
                    said = Preference.A if a == forged_for else Preference.B
                rows.append(
                    {
                        "poll_id": poll.id,
                        "token": f"{visitor}-{place}",
                        "question_id": asked[0] if gold else chance.choice(asked),
                        "a_id": systems[a],
                        "b_id": systems[b],
                        "decoy_id": asked[1] if gold else None,
                        "b_first": chance.random() < 0.5,
                        "visitor": visitor,
                        "address": visitor,
                        "network": network,
                        "served_at": START,
                        "preference": said,
                        "rejection": None,
                        "voted_at": START,
                    }
                )
        connection.execute(insert(poll_pairs), rows)
