"""Public blind votes: opened by organisers for a set, given by visitors, counted apart from every judge."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random, SystemRandom

from arena.models.sets import VoteBoard
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, require
from arena.services.accounts.set_access import SetAccess
from arena.services.people.blind_pairs import BlindPairs, JudgedPair, leaks, names_of, places_of
from arena.services.people.vote_board import board_of, votes_file
from data.errors import ClosedError, ConflictError, InputError, NotFoundError, QuotaError
from data.records import Action, Preference, Question, Submission, TokenScope
from data.records.public_votes import NewPollPair, Poll, PollPair, Rejection
from data.store import Store

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
VISITOR_HOUR, ADDRESS_HOUR, ADDRESS_DAY = 60, 120, 400
"""Pairs that one visitor, and one address, is shown at most."""
BLOCK = 5
"""Of so many pairs one is gold, at a place drawn for each visitor."""
QUICKEST, WORDS_A_SECOND = 2.0, 25.0
"""A vote needs so many seconds, or as many as reading both answers at this pace; nobody reads so fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who votes: the word of their cookie, and the address they come from; only salted hashes are kept."""

    word: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPair:
    """A pair as a visitor sees it, without names."""

    token: str
    question: Question
    first: str
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed:
    """What a visitor is told after the vote: whose the answers were, and whether it is taken.

    `judged` is what the judge decided of the two; None for test pairs, and where it did not.
    """

    first: str
    second: str
    gold: bool
    taken: bool
    judged: JudgedPair | None = None


class PublicVotes:
    """Use cases around public blind votes."""

    def __init__(
        self, store: Store, *, clock: Callable[[], datetime] | None = None, lot: Random | None = None
    ) -> None:
        self._store = store
        self._now = clock or (lambda: datetime.now(UTC))
        self._lot = lot or SystemRandom()

    def open(self, set_name: str, *, caller: Caller = OPERATOR) -> Poll:
        """Let visitors vote on the published systems of a set.

        Raises:
            ForbiddenError: Only organisers may.
            NotFoundError: There is no such set.
            InputError: Its licence forbids showing its texts.
            ConflictError: No board of it has two systems.
        """
        require(caller, TokenScope.ORGANISE)
        self._require_shown(set_name)
        BlindPairs(self._store, set_name).entrants()
        with self._store.audit.audited() as notes:
            poll = self._store.public_votes.open(
                set_name, salt=f"{self._lot.getrandbits(128):032x}", at=self._now()
            )
            notes.take(caller.note(Action.VOTES_OPENED, f"set {set_name}"))
        return poll

    def close(self, set_name: str, *, caller: Caller = OPERATOR) -> Poll:
        """Take no more votes on a set; those given stay.

        Raises:
            ForbiddenError: Only organisers may.
            NotFoundError: Votes on it were never opened.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.audit.audited() as notes:
            self._store.public_votes.close(self._poll(set_name), self._now())
            notes.take(caller.note(Action.VOTES_CLOSED, f"set {set_name}"))
        return self._poll(set_name)

    def polls(self) -> tuple[Poll, ...]:
        """Every poll by set, closed ones too."""
        return self._store.public_votes.all()

    def state(self, set_name: str) -> Poll | None:
        """The poll of a set; None where it was never opened."""
        return self._store.public_votes.of_set(set_name)

    def open_for_round(self, round_name: str) -> str:
        """The set of a round where visitors vote on it; empty where they do not.

        Raises:
            NotFoundError: There is no such round.
        """
        set_name = self._store.rounds.get(round_name).set_name
        poll = self._store.public_votes.of_set(set_name)
        return set_name if poll is not None and poll.open else ""

    def next(self, set_name: str, visitor: Visitor) -> ShownPair:
        """A blind pair for a visitor: the one that waits for their vote, else another.

        Raises:
            NotFoundError: Votes on the set were never opened.
            ClosedError: They are closed, or the licence forbids it since.
            QuotaError: The visitor or the address was shown as many as it may be.
            ConflictError: No pair can be shown.
        """
        poll = self._require_open(set_name)
        moment = self._now()
        who, address, network = _pseudonyms(poll, visitor)
        found = self._store.public_votes.waiting(poll, who, since=moment - HOUR)
        if found is not None:
            return self._shown(poll, found)
        served = self._store.public_votes.served
        within = (
            (served(poll, since=moment - HOUR, visitor=who), VISITOR_HOUR),
            (served(poll, since=moment - HOUR, address=address), ADDRESS_HOUR),
            (served(poll, since=moment - DAY, address=address), ADDRESS_DAY),
        )
        if any(count >= most for count, most in within):
            raise QuotaError("You have judged as many pairs as one may.", advice="Come back in some hours.")
        before = served(poll, since=poll.opened_at - DAY, visitor=who)
        drawn = BlindPairs(self._store, set_name).draw(self._lot, gold=_is_gold(poll, who, before))
        new = NewPollPair(
            token=secrets.token_urlsafe(24),
            question=drawn.question,
            a_id=drawn.a.id,
            b_id=drawn.b.id,
            decoy=drawn.decoy,
            b_first=self._lot.random() < 0.5,  # noqa: PLR2004 - a coin
            visitor=who,
            address=address,
            network=network,
            served_at=moment,
        )
        return self._shown(poll, self._store.public_votes.serve(poll, new))

    def vote(self, set_name: str, token: str, shown: Preference, visitor: Visitor) -> Revealed:
        """Keep a visitor's vote and say whose the answers were.

        `shown` is of the places on the page: `A` for the first. A vote that comes too quickly, or on texts
        that say whose they are, is kept and never counts.

        Raises:
            NotFoundError: The visitor was shown no such pair.
            ClosedError: Votes are closed.
            ConflictError: The pair has a vote already.
        """
        poll = self._require_open(set_name)
        pair = self._store.public_votes.pair(poll, token)
        if pair is None or pair.visitor != _pseudonyms(poll, visitor)[0]:
            raise NotFoundError("This pair is not yours to judge.", advice="Load the page again.")
        texts, sides = self._texts(poll, pair), self._sides(poll, pair)
        rejection = self._rejection(pair, texts, sides)
        preference = shown.flipped if pair.b_first else shown
        if not self._store.public_votes.vote(pair, preference, rejection, self._now()):
            raise ConflictError("You have judged this pair already.", advice="Go on with the next one.")
        names = (pair.system_a, pair.system_b)
        first, second = reversed(names) if pair.b_first else names
        judged = None if pair.gold else BlindPairs(self._store, set_name).verdict(pair.question, names)
        return Revealed(first=first, second=second, gold=pair.gold, taken=rejection is None, judged=judged)

    def board(self, set_name: str) -> VoteBoard:
        """The public votes' own board.

        Raises:
            NotFoundError: Votes on the set were never opened.
        """
        poll = self._poll(set_name)
        return board_of(poll, self._store.public_votes.votes(poll))

    def export(self, set_name: str, *, caller: Caller = OPERATOR) -> str:
        """The votes that count as a votes file, JSON Lines; annotators are pseudonyms.

        Raises:
            ForbiddenError: Only organisers may.
            NotFoundError: Votes on the set were never opened.
        """
        require(caller, TokenScope.ORGANISE)
        poll = self._poll(set_name)
        return votes_file(poll, self._store.public_votes.votes(poll))

    def _poll(self, set_name: str) -> Poll:
        poll = self._store.public_votes.of_set(set_name)
        if poll is None:
            raise NotFoundError(
                f"Visitors cannot vote on {set_name!r}.", advice="Organisers open votes for a set."
            )
        return poll

    def _require_open(self, set_name: str) -> Poll:
        poll = self._poll(set_name)
        if not poll.open or self._forbidden(set_name):
            raise ClosedError(f"Votes on {set_name} are closed.", advice="Its board of votes stays.")
        return poll

    def _require_shown(self, set_name: str) -> None:
        if why := self._forbidden(set_name):
            raise InputError(
                f"Visitors cannot vote on {set_name}: {why}.",
                advice="Its texts may be shown to nobody but those whom its licence names.",
            )

    def _forbidden(self, set_name: str) -> str:
        """Why the texts of a set may not be shown to everybody; empty where they may."""
        return SetAccess(self._store, PUBLIC, set_name).withheld

    def _shown(self, poll: Poll, pair: PollPair) -> ShownPair:
        question = self._store.sets.question(poll.set_name, pair.question)
        texts = self._texts(poll, pair)
        first, second = reversed(texts) if pair.b_first else texts
        return ShownPair(
            token=pair.token,
            question=SetAccess(self._store, PUBLIC, poll.set_name).question(question),
            first=first,
            second=second,
        )

    def _texts(self, poll: Poll, pair: PollPair) -> tuple[str, str]:
        """The texts of side a and side b."""
        to = self._store.submissions.to_question
        answers = to(poll.set_name, pair.question)
        others = answers if pair.decoy is None else to(poll.set_name, pair.decoy)
        a, b = answers.get(pair.a_id), others.get(pair.b_id)
        if a is None or b is None:
            raise ConflictError("An answer of this pair was withdrawn.", advice="Load the page again.")
        return a.answer, b.answer

    def _sides(self, poll: Poll, pair: PollPair) -> Sequence[Submission]:
        submissions = self._store.submissions.find(set_name=poll.set_name)
        return [submission for submission in submissions if submission.id in {pair.a_id, pair.b_id}]

    def _rejection(
        self, pair: PollPair, texts: tuple[str, str], sides: Sequence[Submission]
    ) -> Rejection | None:
        words = sum(len(text.split()) for text in texts)
        least = max(QUICKEST, words / WORDS_A_SECOND)
        if (self._now() - pair.served_at).total_seconds() < least:
            return Rejection.QUICK
        return Rejection.LEAK if any(leaks(text, names_of(*sides)) for text in texts) else None


def _pseudonyms(poll: Poll, visitor: Visitor) -> tuple[str, str, str]:
    """Visitor, address and network as salted hashes."""
    host, network = places_of(visitor.host)
    return (
        _hashed(poll, "visitor", visitor.word),
        _hashed(poll, "address", host),
        _hashed(poll, "network", network),
    )


def _hashed(poll: Poll, kind: str, text: str) -> str:
    return hashlib.sha256(f"{poll.salt}\x1f{kind}\x1f{text}".encode()).hexdigest()


def _is_gold(poll: Poll, who: str, before: int) -> bool:
    """Whether a visitor's next pair is gold: one in each block, at a place that they cannot know."""
    block, place = divmod(before, BLOCK)
    return int(_hashed(poll, f"gold {block}", who), 16) % BLOCK == place
