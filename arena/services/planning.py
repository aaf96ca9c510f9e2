"""Which battles a round has: pairs, samples, and what is left out or missing.

Every choice is derived from the seed and the question's id, so that the same plan gives the same
battles on every machine.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from data.errors import InputError
from data.records import JudgeKind, Outcome, PlannedBattle, Question, Submission, Yardstick, battle_id

COMPLETE = re.compile(r"complete:(\d+)")
SAMPLE = re.compile(r"(\d+)|(\d+(?:\.\d+)?)%")
PER_CENT = 100
LACKING = "battles that lack an answer"
UNDECIDABLE = "reference battles that the judge cannot decide"
MISSING = "One of the two answers is missing."


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which pairs a round asks for.

    `everything` is every pair on every question; else `reference` is each system against the
    reference, and `complete` the number of questions on which every pair of systems meets.
    """

    reference: bool = False
    complete: int = 0
    everything: bool = False

    @classmethod
    def parse(cls, text: str) -> Pairs:
        """Read `reference`, `complete:K`, `reference,complete:K` or `all`.

        Raises:
            InputError: It is something else.
        """
        parts = [part.strip() for part in text.split(",")]
        if parts == ["all"]:
            return cls(everything=True)
        reference, complete = False, 0
        for part in parts:
            if part == "reference":
                reference = True
            elif (matched := COMPLETE.fullmatch(part)) and int(matched.group(1)) > 0:
                complete = int(matched.group(1))
            else:
                raise InputError(
                    f"{text!r} names no pairs.", advice="Use reference, reference,complete:K or all."
                )
        return cls(reference=reference, complete=complete)

    def __str__(self) -> str:
        if self.everything:
            return "all"
        parts = ["reference"] if self.reference else []
        return ",".join([*parts, f"complete:{self.complete}"] if self.complete else parts)


@dataclass(frozen=True, slots=True)
class Sample:
    """How many questions a round takes: a number, a share, or all of them."""

    number: int | None = None
    share: float | None = None

    @classmethod
    def parse(cls, text: str | None) -> Sample:
        """Read `K` or `P%`; None takes every question.

        Raises:
            InputError: It is something else.
        """
        if text is None:
            return cls()
        matched = SAMPLE.fullmatch(text.strip())
        if matched and matched.group(1) and int(text) > 0:
            return cls(number=int(text))
        if matched and matched.group(2) and 0 < float(matched.group(2)) <= PER_CENT:
            return cls(share=float(matched.group(2)) / PER_CENT)
        raise InputError(f"{text!r} is no sample.", advice="Use a number of questions, or a share like 10%.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Everything that decides a round's battles.

    Attributes:
        questions: The store's number and the question, in the set's order.
        entrants: The submissions that take part.
        reference: The set's reference.
        answered: Numbers of the questions that each submission answers.
        named: Whether the entrants were asked for by name, so that lacking answers count as missing.
    """

    set_hash: str
    questions: Sequence[tuple[int, Question]]
    entrants: Sequence[Submission]
    reference: Submission
    answered: Mapping[int, frozenset[int]]
    named: bool

    def answers(self, number: int, *sides: Submission) -> bool:
        """Whether all of some sides answer a question."""
        return all(number in self.answered[side.id] for side in sides)


@dataclass(slots=True)
class Plan:
    """The battles of a round, with what is left out and why."""

    battles: list[PlannedBattle] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def missing(self) -> int:
        """Battles that were asked for by name and lack an answer."""
        return sum(battle.outcome is Outcome.MISSING for battle in self.battles)


def make_plan(
    scope: Scope, *, pairs: Pairs, sample: Sample, seed: int, judge: JudgeKind, yardstick: Yardstick
) -> Plan:
    """Lay out the battles of a round.

    With `all`, battles against the reference that the judge cannot decide are left out and counted.
    Asked for as `reference`, they are planned, and the judge will say that it cannot decide them.
    """
    plan = Plan()
    asked = _sampled(scope.questions, sample, seed)
    complete = {number for number, _ in evenly(asked, pairs.complete, seed)} if pairs.complete else set()
    for number, question in asked:
        if pairs.reference or pairs.everything:
            undecidable = pairs.everything and not decides_reference(judge, yardstick, question)
            for entrant in scope.entrants:
                if undecidable and scope.answers(number, entrant, scope.reference):
                    plan.left_out[UNDECIDABLE] += 1
                else:
                    _add(plan, scope, number, question, entrant, scope.reference)
        if pairs.everything or number in complete:
            for one, other in combinations(scope.entrants, 2):
                _add(plan, scope, number, question, one, other)
    return plan


def decides_reference(judge: JudgeKind, yardstick: Yardstick, question: Question) -> bool:
    """Whether a judge can decide battles against the reference of this question."""
    if judge is JudgeKind.LEXICAL:
        return bool(question.passages)
    return yardstick is not Yardstick.REFERENCE


def evenly(questions: Sequence[tuple[int, Question]], count: int, seed: int) -> list[tuple[int, Question]]:
    """Sample `count` questions as evenly over the domains as their sizes allow."""
    shuffled = _by_domain(questions, seed)
    taken: Counter[str] = Counter()
    left = min(count, len(questions))
    while left:
        for domain in sorted(shuffled):
            if left and taken[domain] < len(shuffled[domain]):
                taken[domain] += 1
                left -= 1
    return _in_order(questions, shuffled, taken)


def proportionally(
    questions: Sequence[tuple[int, Question]], count: int, seed: int
) -> list[tuple[int, Question]]:
    """Sample `count` questions in proportion to the domains' sizes (largest remainders)."""
    shuffled = _by_domain(questions, seed)
    count = min(count, len(questions))
    quotas = {domain: count * len(found) / len(questions) for domain, found in shuffled.items()}
    taken = Counter({domain: int(quota) for domain, quota in quotas.items()})
    by_remainder = sorted(quotas, key=lambda domain: (taken[domain] - quotas[domain], domain))
    for domain in by_remainder[: count - taken.total()]:
        taken[domain] += 1
    return _in_order(questions, shuffled, taken)


def _sampled(
    questions: Sequence[tuple[int, Question]], sample: Sample, seed: int
) -> Sequence[tuple[int, Question]]:
    if sample.number is not None:
        return proportionally(questions, sample.number, seed)
    if sample.share is not None:
        return proportionally(questions, max(1, round(sample.share * len(questions))), seed)
    return questions


def _by_domain(
    questions: Sequence[tuple[int, Question]], seed: int
) -> Mapping[str, list[tuple[int, Question]]]:
    def order(entry: tuple[int, Question]) -> str:
        return hashlib.sha256(f"{seed}\x1f{entry[1].id}".encode()).hexdigest()

    found: dict[str, list[tuple[int, Question]]] = defaultdict(list)
    for entry in questions:
        found[entry[1].domain].append(entry)
    return {domain: sorted(entries, key=order) for domain, entries in found.items()}


def _in_order(
    questions: Sequence[tuple[int, Question]],
    shuffled: Mapping[str, list[tuple[int, Question]]],
    taken: Mapping[str, int],
) -> list[tuple[int, Question]]:
    chosen = {number for domain in shuffled for number, _ in shuffled[domain][: taken[domain]]}
    return [entry for entry in questions if entry[0] in chosen]


def _add(
    plan: Plan, scope: Scope, number: int, question: Question, one: Submission, other: Submission
) -> None:
    key = battle_id(scope.set_hash, question.id, _label(one), _label(other))
    if scope.answers(number, one, other):
        plan.battles.append(PlannedBattle(key=key, question=number, a=one.id, b=other.id))
    elif scope.named:
        plan.battles.append(
            PlannedBattle(
                key=key, question=number, a=one.id, b=other.id, outcome=Outcome.MISSING, detail=MISSING
            )
        )
    else:
        plan.left_out[LACKING] += 1


def _label(side: Submission) -> str:
    return f"{side.system}@{side.version}"
