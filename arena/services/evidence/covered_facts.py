"""Which facts each of two answers covers, as far as metrics and the judge recorded it: both, one, neither.

Kinds of facts: nuggets, sub-questions, statements of the passages, aspects, sentences of the reference. Each
kind comes from one recorded score or judgment; where there is none, it says why and how to get it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arena.services.boards.metric_columns import HAS
from arena.services.evidence.highlights import REFERENCE
from arena.services.evidence.questions import AnswerView, QuestionView
from arena.services.evidence.reasons import (
    CONTRADICTS,
    COVERS,
    MISSES,
    Fact,
    Reasons,
    Side,
    read_reasons,
)
from data.plugins import described
from data.store.boards.scores import ScoredAnswer
from judges.metrics.registry import Facts, metrics, own_metrics

OF_REFERENCE = "sentences of the reference"
OF_PASSAGES = "statements of the passages"
UNSEEN = "What is recorded of them quotes texts that are not shown."


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A fact, and whether each of two answers covers it; `notes` say what more is known of each."""

    fact: Fact
    first: bool
    second: bool
    notes: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDiff:
    """The facts of one kind by which of two answers cover them.

    Attributes:
        kind: What they are.
        source: What recorded it: a metric and who scored, or the judge.
        facts: Each fact of which both sides are known.
        unknown: How many are left out, as one side of them was not recorded.
        missing: Why nothing is known, and how to get it; empty where something is.
    """

    kind: str
    source: str = ""
    facts: tuple[Covered, ...] = ()
    unknown: int = 0
    missing: str = ""

    def by(self, *, first: bool, second: bool) -> tuple[Covered, ...]:
        """The facts that are covered by these sides."""
        return tuple(fact for fact in self.facts if (fact.first, fact.second) == (first, second))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What one answer does with a fact."""

    fact: Fact
    covers: bool
    note: str = ""


Readings = Mapping[str, _Reading]
"""By the text of the fact."""


def fact_diffs(view: QuestionView, first: str, second: str) -> tuple[FactDiff, ...]:
    """The facts that two answers to a question cover, a kind each; those of which something is known first.

    Nothing where one of the answers is not there, or not shown.
    """
    answers = {answer.system: answer for answer in view.answers}
    if first not in answers or second not in answers:
        return ()
    pair = answers[first], answers[second]
    found = [
        _by_metric(info.name, info.facts, pair) or _missing(view, info.name, info.facts, pair)
        for info in reversed(metrics())
        if info.facts is not None
    ]
    found.append(_of_reference(view, first, second))
    return tuple(sorted(found, key=lambda diff: bool(diff.missing)))


def own_facts(first: str, diffs: Mapping[str, Sequence[FactDiff]]) -> Mapping[str, frozenset[str]]:
    """By system, the texts of facts that it covers and the one it is compared with does not.

    `diffs` are of `first` with each other system.
    """
    own: dict[str, set[str]] = {first: set(), **{other: set() for other in diffs}}
    for other, found in diffs.items():
        for diff in found:
            own[first] |= {covered.fact.text for covered in diff.by(first=True, second=False)}
            own[other] |= {covered.fact.text for covered in diff.by(first=False, second=True)}
    return {system: frozenset(texts) for system, texts in own.items()}


def reasons_diff(reasons: Reasons) -> FactDiff:
    """The facts of a judgment's reasons by which side covers them; a judge lists only the first of each."""
    return _compared(
        OF_REFERENCE if reasons.ground_truth == REFERENCE else OF_PASSAGES,
        f"the judge, against the {reasons.ground_truth}",
        _side(reasons.a),
        _side(reasons.b),
    )


def _compared(kind: str, source: str, first: Readings, second: Readings) -> FactDiff:
    both = [text for text in first if text in second]
    return FactDiff(
        kind=kind,
        source=source,
        facts=tuple(
            Covered(
                fact=first[text].fact,
                first=first[text].covers,
                second=second[text].covers,
                notes=(first[text].note, second[text].note),
            )
            for text in both
        ),
        unknown=len({*first, *second}) - len(both),
    )


def _by_metric(name: str, facts: Facts, pair: tuple[AnswerView, AnswerView]) -> FactDiff | None:
    """The facts by the first metric of its kind that both answers have a score of, embedded ones first."""
    of_second = {(score.metric, score.judge): score for score in _details(pair[1], name, facts)}
    for score in sorted(_details(pair[0], name, facts), key=lambda score: (score.judge, score.metric)):
        other = of_second.get((score.metric, score.judge))
        if other is not None:
            source = f"{score.metric}, {score.judge or 'embedded'}"
            try:
                return _compared(facts.kind, source, _read(facts, score), _read(facts, other))
            except Exception as error:
                if name in own_metrics():
                    raise
                why = f"The plugin metric {name} cannot read them: {described(error)}."
                return FactDiff(kind=facts.kind, missing=why)
    return None


def _read(facts: Facts, score: ScoredAnswer) -> Readings:
    return {
        one.text: _Reading(fact=Fact(text=one.text, passages=one.passages), covers=one.covered, note=one.note)
        for one in facts.read(score.details)
    }


def _details(answer: AnswerView, name: str, facts: Facts) -> list[ScoredAnswer]:
    return [
        score
        for score in answer.scores
        if _tells(name, facts, score.metric) and score.score is not None and score.details
    ]


def _tells(name: str, facts: Facts, metric: str) -> bool:
    """Whether the scores of a metric hold the facts of this one's kind."""
    return metric.startswith(facts.begins) if facts.begins else metric == name


def _missing(view: QuestionView, name: str, facts: Facts, pair: tuple[AnswerView, AnswerView]) -> FactDiff:
    """Why nothing is known of a kind of facts, and how to get it."""
    given = facts.given
    scored = [score for answer in pair for score in answer.scores if _tells(name, facts, score.metric)]
    if any(score.score is not None and not score.details for score in scored):
        why = UNSEEN
    elif given in HAS and not HAS[given](view.question):
        why = f"This question comes without {given}: they are brought with its set."
    else:
        why = f"Not recorded for both answers: `arena metrics run --set {view.set_name} --metric {name}`."
    return FactDiff(kind=facts.kind, missing=why)


def _side(side: Side) -> Readings:
    """What a judge lists of one side; what it contradicts it does not cover."""
    found = {fact.text: _Reading(fact=fact, covers=True) for fact in side.of(COVERS)}
    found |= {fact.text: _Reading(fact=fact, covers=False) for fact in side.of(MISSES)}
    for fact in side.of(CONTRADICTS):
        found[fact.text] = _Reading(fact=fact, covers=False, note="contradicts it")
    return found


def _of_reference(view: QuestionView, first: str, second: str) -> FactDiff:
    """The reference's sentences, as a judge held the two against it in their own battle."""
    for evidence in view.battles:
        battle = evidence.battle
        if {battle.system_a, battle.system_b} != {first, second}:
            continue
        for judgment in evidence.judgments:
            reasons = read_reasons(judgment.rationale)
            if reasons is not None and reasons.ground_truth == REFERENCE:
                diff = reasons_diff(reasons)
                return diff if battle.system_a == first else _swapped(diff)
    why = UNSEEN if view.notice else "No judgment of these two lists them; the lexical judge does."
    return FactDiff(kind=OF_REFERENCE, missing=why)


def _swapped(diff: FactDiff) -> FactDiff:
    facts = tuple(
        replace(fact, first=fact.second, second=fact.first, notes=(fact.notes[1], fact.notes[0]))
        for fact in diff.facts
    )
    return replace(diff, facts=facts)
