"""Battles of a round: pairs, samples and missing answers.

Choices depend on the seed and the question's id only, so that a plan gives the same battles on every machine.
"""

import hashlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

from data.errors import InputError
from data.models import MissingRule, Outcome, PlannedBattle, Preference, Question, Submission, battle_id
from data.models.judgments import NOT_HANDED_IN
from data.models.questions import base_id

ALL, SYSTEMS, VERSUS = "all", "systems", "versus:"
COMPLETE = re.compile(r"complete:(\d+)")
SAMPLE = re.compile(r"(\d+)|(\d+(?:\.\d+)?)%")
PER_CENT = 100
UNDECIDABLE = "reference battles that the judge cannot decide"
FEWER = "battles of further answers, since one of the two systems gave fewer answers to the question"


class CannotDecide(Protocol):
    """See `judges.pairwise.forecast.cannot_decide`."""

    def __call__(self, question: Question, *, against_reference: bool, silent: bool) -> str:
        """Return the reason why the judge cannot decide a battle; empty if it can."""
        ...


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rule for the pairs of a round.

    `everything` pairs all on every question, `versus` each system with one system, `reference` each system
    with the reference; `complete` is the number of questions on which all systems are paired.
    """

    reference: bool = False
    complete: int = 0
    everything: bool = False
    versus: str = ""

    @classmethod
    def parse(cls, text: str) -> "Pairs":
        """Parse `reference`, `complete:K`, `reference,complete:K`, `versus:SYSTEM`, `systems` or `all`."""
        if text.startswith(VERSUS) and text != VERSUS:
            return cls(versus=text.removeprefix(VERSUS))
        parts = [part.strip() for part in text.split(",")]
        if parts == [ALL]:
            return cls(everything=True)
        if parts == [SYSTEMS]:
            return cls(complete=sys.maxsize)
        reference, complete = False, 0
        for part in parts:
            if part == "reference":
                reference = True
            elif (matched := COMPLETE.fullmatch(part)) and int(matched.group(1)) > 0:
                complete = int(matched.group(1))
            else:
                raise InputError(
                    f"{text!r} is not a rule for pairs.",
                    advice="Use reference, reference,complete:K, versus:SYSTEM or all.",
                )
        return cls(reference=reference, complete=complete)

    def __str__(self) -> str:
        if self.everything:
            return "all"
        if self.versus:
            return f"{VERSUS}{self.versus}"
        parts = ["reference"] if self.reference else []
        return ",".join([*parts, f"complete:{self.complete}"] if self.complete else parts)


@dataclass(frozen=True, slots=True)
class Sample:
    """Sample of questions: a number, a share or all."""

    number: int | None = None
    share: float | None = None

    @classmethod
    def parse(cls, text: str | None) -> "Sample":
        """Parse `K` or `P%`; None means every question."""
        if text is None:
            return cls()
        matched = SAMPLE.fullmatch(text.strip())
        if matched and matched.group(1) and int(text) > 0:
            return cls(number=int(text))
        if matched and matched.group(2) and 0 < float(matched.group(2)) <= PER_CENT:
            return cls(share=float(matched.group(2)) / PER_CENT)
        raise InputError(
            f"{text!r} is not a sample.", advice="Use a number of questions, or a share like 10%."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Input of a round's plan.

    Attributes:
        questions: Numbers and questions in the set's order.
        answered: Numbers of questions with a non-empty answer, by submission.
        silent: Numbers of questions with a declining answer, by submission.
        first: Question behind each copy for an additional answer, by number.
        missing: Result of a battle with one missing answer.
    """

    set_hash: str
    questions: Sequence[tuple[int, Question]]
    entrants: Sequence[Submission]
    reference: Submission
    answered: Mapping[int, frozenset[int]]
    missing: MissingRule = MissingRule.LOSE
    silent: Mapping[int, frozenset[int]] = field(default_factory=dict)
    first: Mapping[int, int] = field(default_factory=dict)

    def answers(self, number: int, *sides: Submission) -> bool:
        """Return whether all sides answer a question."""
        return all(number in self.answered[side.id] for side in sides)


@dataclass(slots=True)
class Plan:
    """Battles of a round, with counts of omitted and undecidable ones by reason."""

    battles: list[PlannedBattle] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    undecidable: Counter[str] = field(default_factory=Counter)

    @property
    def ended(self) -> Counter[Outcome | None]:
        """Counts of battles by initial outcome; None is to be judged."""
        return Counter(battle.outcome for battle in self.battles)

    @property
    def missing(self) -> int:
        """Number of battles skipped because an answer is missing."""
        return self.ended[Outcome.MISSING]

    @property
    def without_judge(self) -> int:
        """Number of battles lost because an answer is missing."""
        return self.ended[Outcome.JUDGED]


def make_plan(scope: Scope, *, pairs: Pairs, sample: Sample, seed: int, cannot: CannotDecide) -> Plan:
    """Plan the battles of a round.

    Undecidable battles against the reference are left out with `all`, and planned with `reference`.
    """
    plan = Plan()
    if pairs.versus and pairs.versus not in {entrant.system for entrant in scope.entrants}:
        names = ", ".join(entrant.system for entrant in scope.entrants) or "none"
        raise InputError(f"Unknown system {pairs.versus!r}.", advice=f"The systems are: {names}.")
    questions = sampled(scope.questions, sample, seed)
    complete = {number for number, _ in evenly(questions, pairs.complete, seed)} if pairs.complete else set()
    for number, question in questions:
        if pairs.reference or pairs.everything:
            undecidable = pairs.everything and cannot(question, against_reference=True, silent=False)
            # A missing reference answer is not a missing answer of a system.
            opponents = scope.entrants if scope.answers(number, scope.reference) else ()
            for entrant in opponents:
                if undecidable:
                    plan.left_out[UNDECIDABLE] += 1
                else:
                    _add(plan, scope, number, question, entrant, scope.reference)
        if pairs.everything or number in complete:
            for first, second in combinations(scope.entrants, 2):
                _add(plan, scope, number, question, first, second)
        for first, second in combinations(scope.entrants, 2):
            if pairs.versus in {first.system, second.system}:
                _add(plan, scope, number, question, first, second)
    plan.undecidable.update(_undecidable(plan.battles, scope, cannot))
    return plan


def left_out_of(plan: Plan) -> str:
    """Describe omitted battles, as the end of a sentence."""
    return "".join(f"; left out: {number:,} {what}" for what, number in plan.left_out.items())


def _undecidable(battles: Sequence[PlannedBattle], scope: Scope, cannot: CannotDecide) -> Iterator[str]:
    questions = dict(scope.questions)
    for battle in battles:
        silent = any(battle.question in scope.silent.get(side, ()) for side in (battle.a, battle.b))
        reason = cannot(
            questions[battle.question], against_reference=battle.b == scope.reference.id, silent=silent
        )
        if reason and battle.outcome is None:
            yield reason


def sampled(
    questions: Sequence[tuple[int, Question]], sample: Sample, seed: int
) -> Sequence[tuple[int, Question]]:
    """Return the questions of a sample, with all answers to each."""
    if sample.number is None and sample.share is None:
        return questions
    firsts = [entry for entry in questions if base_id(entry[1].id) == entry[1].id]
    count = sample.number or max(1, round((sample.share or 0) * len(firsts)))
    chosen = {question.id for _, question in proportionally(firsts, count, seed)}
    return [entry for entry in questions if base_id(entry[1].id) in chosen]


def _add(
    plan: Plan, scope: Scope, number: int, question: Question, first: Submission, second: Submission
) -> None:
    answers = [scope.answers(number, side) for side in (first, second)]
    if not any(answers):
        return
    if not all(answers) and number in scope.first and scope.answers(scope.first[number], first, second):
        plan.left_out[FEWER] += 1
        return
    outcome = preference = None
    if not all(answers) and scope.missing is MissingRule.SKIP:
        outcome = Outcome.MISSING
    elif not all(answers):
        outcome, preference = Outcome.JUDGED, Preference.A if answers[0] else Preference.B
    plan.battles.append(
        PlannedBattle(
            key=battle_id(scope.set_hash, question.id, _label(first), _label(second)),
            question=number,
            a=first.id,
            b=second.id,
            outcome=outcome,
            preference=preference,
            detail="" if outcome is None else NOT_HANDED_IN,
        )
    )


def _label(side: Submission) -> str:
    return f"{side.system}@{side.version}"


def evenly(questions: Sequence[tuple[int, Question]], count: int, seed: int) -> list[tuple[int, Question]]:
    """Sample `count` questions as evenly over the domains as their sizes allow."""
    shuffled = _by_domain(questions, seed)
    counts: Counter[str] = Counter()
    remaining = min(count, len(questions))
    while remaining:
        for domain in sorted(shuffled):
            if remaining and counts[domain] < len(shuffled[domain]):
                counts[domain] += 1
                remaining -= 1
    return _in_order(questions, shuffled, counts)


def proportionally(
    questions: Sequence[tuple[int, Question]], count: int, seed: int
) -> list[tuple[int, Question]]:
    """Sample `count` questions in proportion to the domains' sizes (largest remainders)."""
    shuffled = _by_domain(questions, seed)
    count = min(count, len(questions))
    quotas = {domain: count * len(entries) / len(questions) for domain, entries in shuffled.items()}
    counts = Counter({domain: int(quota) for domain, quota in quotas.items()})
    by_remainder = sorted(quotas, key=lambda domain: (counts[domain] - quotas[domain], domain))
    for domain in by_remainder[: count - counts.total()]:
        counts[domain] += 1
    return _in_order(questions, shuffled, counts)


def _by_domain(
    questions: Sequence[tuple[int, Question]], seed: int
) -> Mapping[str, list[tuple[int, Question]]]:
    def order(entry: tuple[int, Question]) -> str:
        return hashlib.sha256(f"{seed}\x1f{entry[1].id}".encode()).hexdigest()

    by_domain: dict[str, list[tuple[int, Question]]] = defaultdict(list)
    for entry in questions:
        by_domain[entry[1].domain].append(entry)
    return {domain: sorted(entries, key=order) for domain, entries in by_domain.items()}


def _in_order(
    questions: Sequence[tuple[int, Question]],
    shuffled: Mapping[str, list[tuple[int, Question]]],
    counts: Mapping[str, int],
) -> list[tuple[int, Question]]:
    chosen = {number for domain in shuffled for number, _ in shuffled[domain][: counts[domain]]}
    return [entry for entry in questions if entry[0] in chosen]
