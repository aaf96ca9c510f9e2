"""Blind pairs for visitors: drawn uniformly from a board's answers, without those that say whose they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from random import Random

from arena.services.rounds.models import entrants_of
from data.errors import ConflictError
from data.no_answer import is_no_answer
from data.records import Answer, Preference, Round, RoundState, Submission
from data.store import Store

TRIES = 60
SHORTEST_NAME = 3
WORD = re.compile(r"[^\W_]+")
MODELS = frozenset(
    (
        *("chatgpt", "gpt", "openai", "claude", "anthropic", "gemini", "gemma", "deepmind", "llama"),
        *("mistral", "mixtral", "qwen", "deepseek", "grok"),
    )
)
PREFIXES = {4: (32, 24), 6: (64, 48)}
"""How much of an address is one host, and how much one network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPair:
    """A pair of answers to a question; of a gold pair side b answers the question `decoy`."""

    question: str
    a: Submission
    b: Submission
    decoy: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """What a judge decided of a pair, and where its evidence is; the winner is empty where it was a tie."""

    board: str
    question: str
    battle: str
    judge: str
    winner: str


def places_of(host: str) -> tuple[str, str]:
    """The host and the network that a client's address is counted for: a host of IPv6 has many addresses."""
    try:
        address = ip_address(host)
    except ValueError:
        return host, host
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    own, wide = (str(ip_network((address, bits), strict=False)) for bits in PREFIXES[address.version])
    return own, wide


def leaks(text: str, names: Sequence[str]) -> bool:
    """Whether a text holds a name word for word, in any case: a system's, a team's or a model's."""
    words = [word.casefold() for word in WORD.findall(text)]
    if MODELS.intersection(words):
        return True
    joined = f" {' '.join(words)} "
    for name in names:
        parts = " ".join(word.casefold() for word in WORD.findall(name))
        if len(parts) >= SHORTEST_NAME and f" {parts} " in joined:
            return True
    return False


def names_of(*sides: Submission) -> tuple[str, ...]:
    """What must not stand in an answer that is shown blindly."""
    cards = (name for side in sides for name in (side.card.model, side.card.organisation))
    return tuple(filter(None, (*(side.system for side in sides), *(side.team for side in sides), *cards)))


class BlindPairs:
    """Draws pairs of the systems on the newest board of a set."""

    def __init__(self, store: Store, set_name: str) -> None:
        self._store = store
        self._set = set_name

    def entrants(self) -> tuple[Submission, ...]:
        """The systems whose answers are shown.

        Raises:
            ConflictError: No board of the set has two of them.
        """
        newest = self._newest_round()
        kept = () if newest is None else _shown(self._store, newest)
        if len(kept) <= 1:
            raise ConflictError(
                f"No published board of {self._set} has two systems.",
                advice="Publish a round first: visitors judge published systems alone.",
            )
        return kept

    def draw(self, lot: Random, *, gold: bool) -> DrawnPair:
        """A pair of both answers to a question; every question and pair of systems is as likely.

        Raises:
            ConflictError: None was found that hides its names.
        """
        entrants = self.entrants()
        for _ in range(TRIES):
            question = self._question(lot)
            a, b = lot.sample(entrants, 2)
            answers = self._store.submissions.to_question(self._set, question)
            if gold:
                other = self._question(lot)
                text = self._store.submissions.to_question(self._set, other).get(b.id)
                if question != other and _telling(answers.get(a.id), a, b) and _telling(text, a, b):
                    return DrawnPair(question=question, a=a, b=b, decoy=other)
            elif self.fits(a, b, answers):
                return DrawnPair(question=question, a=a, b=b, decoy=None)
        raise ConflictError(
            f"No pair of {self._set} can be shown blindly.",
            advice="Its answers are missing, or name the systems that wrote them.",
        )

    def fits(self, a: Submission, b: Submission, answers: Mapping[int, Answer]) -> bool:
        """Whether both answers are there, differ and name nobody."""
        first, second = answers.get(a.id), answers.get(b.id)
        if first is None or second is None or first.answer.strip() == second.answer.strip():
            return False
        return _usable(first, a, b) and _usable(second, a, b)

    def verdict(self, question: str, systems: Sequence[str]) -> JudgedPair | None:
        """What the judge of the newest board decided of two systems on a question; None where it did not."""
        newest = self._newest_round()
        if newest is None:
            return None
        for evidence in self._store.verdicts.of_question(newest.name, question):
            battle = evidence.battle
            if battle.preference is not None and {battle.system_a, battle.system_b} == set(systems):
                winners = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: ""}
                return JudgedPair(
                    board=newest.name,
                    question=question,
                    battle=battle.key,
                    judge=newest.judge_name,
                    winner=winners[battle.preference],
                )
        return None

    def _question(self, lot: Random) -> str:
        """The id of a question, every one as likely; positions count from 0."""
        summary = self._store.sets.summary(self._set)
        place = lot.randrange(summary.questions)
        ((_, question),) = self._store.sets.page(summary.id, after=place - 1, limit=1)
        return question.id

    def _newest_round(self) -> Round | None:
        for head in self._store.boards.heads():
            if head.round_name is None:
                continue
            round_ = self._store.rounds.get(head.round_name)
            if round_.set_name == self._set and round_.state is RoundState.PUBLISHED:
                return round_
        return None


def _shown(store: Store, round_: Round) -> tuple[Submission, ...]:
    live = {submission.id for submission in store.submissions.find(set_name=round_.set_name, newest=True)}
    return tuple(submission for submission in entrants_of(store, round_) if submission.id in live)


def _telling(answer: Answer | None, a: Submission, b: Submission) -> bool:
    """Whether an answer can be told to be to one question: silence fits every one."""
    return answer is not None and _usable(answer, a, b) and not is_no_answer(answer.answer)


def _usable(answer: Answer | None, a: Submission, b: Submission) -> bool:
    return answer is not None and bool(answer.answer.strip()) and not leaks(answer.answer, names_of(a, b))
