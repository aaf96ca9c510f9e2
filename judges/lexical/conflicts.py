"""Facts of the reference that one answer of a battle contradicts and the other covers.

One answer rarely proves a contradiction, because a paraphrase also differs from the reference. If the other
answer agrees with the reference, then a different figure or name in the same place, or a denial, proves it.
"""

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise, permutations

from judges.lexical.ground_truth import LexicalGroundTruth, Point
from judges.lexical.reading import Sentence
from judges.lexical.scoring import Adjustment, AnswerAnalysis
from judges.lexical.settings import LexicalSettings
from judges.text.contradictions import Contradiction
from judges.text.languages import ENGLISH
from judges.text.quantities import MONTH
from judges.text.statements import Mark, MarkKind, Statement, poles_of, read_statement
from judges.text.tokens import is_measured, related, terms

DENIED = 0.4
"""Minimum share of the terms around a negation in the other text, in addition to the denied term."""
CONDITION = re.compile(
    r"\b(?:if|whether)\b.{0,120}?(?:\bnot\b|n['’]t\b)"
    r"|(?:\bnot?|n['’]t)(?: \w+){0,2} (?:more|fewer|less|longer|later) than\b",
    re.IGNORECASE,
)
"""Negations without a denial: in a condition, or before a limit."""
MAX_REPLACEMENT = 3
"""Maximum number of replacing terms."""
REPEATED, MOSTLY = 0.6, 0.7
"""Minimum share of a sentence's other terms in the fact; a lower share means a different subject."""
WORDING_STRENGTH = 0.5
"""Strength of a contradiction by a different word, which may be a synonym; 1 for a figure or name."""
MIN_GAIN = 2
"""Minimum gain in matching neighbour pairs when two terms of a sentence are swapped back."""
ALL = re.compile(r"\b(?:all|each|every(?! (?:\w+ )?\d)|every(?:body|one))\b", re.IGNORECASE)
SOME = re.compile(r"\b(?:few|half|mostly|most|often|partly|rarely|some|sometimes|usually)\b", re.IGNORECASE)
ASKS = re.compile(r"\b(?:\w++ )?(?:who|whom|whose|which|what|where)\b", re.IGNORECASE)
"""Openings of questions with a single answer: a different name is a different answer."""
TIMES = {"second", "minut", "hour", "day", "week", "month", "year", "daili", "weekli", "monthli", "yearli"}
"""Terms used like a figure: once a month, once a year."""
GUARDS = {Adjustment.ORDER, Adjustment.COPIES, Adjustment.NAMES}
MAX_PADDING = 0.9
"""Padding above which an answer copies whole passages, and so every fact."""
MAX_LOSS = 0.1
"""Maximum share of its score that an answer preferred for a fact may lose to guards."""


def conflicts(
    own: AnswerAnalysis,
    other: AnswerAnalysis,
    truth: LexicalGroundTruth,
    settings: LexicalSettings,
    among: Iterable[int] | None = None,
) -> Mapping[int, Contradiction]:
    """Return contradictions of facts (`among` them) that the other answer covers, by index of the fact."""
    sides = own.answer.sentences, other.answer.sentences
    if truth.reference is None or truth.language != ENGLISH or not all(sides):
        return {}
    known = frozenset(map(related, (*truth.reference.counts, *truth.topic, *other.answer.counts)))
    sentences = {sentence.text: sentence for sentence in own.answer.sentences}
    matches = {}
    for at in range(len(truth.points)) if among is None else among:
        point, reliable = truth.points[at], other.shares[at] >= settings.covered_from
        proven = (
            row
            for row in own.contradictions
            if row.against.text == point.sentence.text
            and _repeats(sentences[row.statement.text], point.sentence, REPEATED)
            and (row.kind is MarkKind.QUANTITY or point.sentence.live_set.isdisjoint(terms(row.word)))
        )
        conflict = next(proven, None) if reliable else None
        if conflict := conflict or _conflict(point, own, other, truth, known if reliable else None):
            matches[at] = conflict
    return matches


def weighed(
    a: AnswerAnalysis, b: AnswerAnalysis, truth: LexicalGroundTruth, settings: LexicalSettings
) -> tuple[AnswerAnalysis, AnswerAnalysis]:
    """Lower the leading answer below the other if it contradicts a fact that the other covers.

    A lead of more than `settings.more_facts` facts overrides this. Either of two equal scores may lead.
    """
    return _weighed(a, b, truth, settings), _weighed(b, a, truth, settings)


def _weighed(
    own: AnswerAnalysis, other: AnswerAnalysis, truth: LexicalGroundTruth, settings: LexicalSettings
) -> AnswerAnalysis:
    ours = conflicts(own, other, truth, settings) if own.score >= other.score else {}
    if not ours or not _is_honest(other):
        return own
    theirs = conflicts(other, own, truth, settings)
    strengths = (math.fsum(row.strength for row in rows.values()) for rows in (ours, theirs))
    covered = [
        sum(share >= settings.covered_from and at not in rows for at, share in enumerate(side.shares))
        for side, rows in ((own, ours), (other, theirs))
    ]
    if next(strengths) <= next(strengths) or covered[0] - covered[1] > settings.more_facts:
        return own
    cost = own.score - other.score + settings.least_lead
    contradictions = tuple(dict.fromkeys((*own.contradictions, *ours.values())))
    adjustments = (*own.adjustments, (Adjustment.DENIED_FACTS, -cost))
    return replace(own, adjustments=adjustments, contradictions=contradictions)


def _is_honest(answer: AnswerAnalysis) -> bool:
    """Reject word lists and misplaced names, which would cover every fact."""
    lost = {kind: -amount for kind, amount in answer.adjustments if kind in GUARDS}
    if Adjustment.NAMES in lost or answer.padding > MAX_PADDING:
        return False
    return math.fsum(lost.values()) <= MAX_LOSS * answer.score


def _conflict(
    point: Point,
    own: AnswerAnalysis,
    other: AnswerAnalysis,
    truth: LexicalGroundTruth,
    known: Container[str] | None,
) -> Contradiction | None:
    """Return a contradiction of a fact; without `known`, only by opposites."""
    fact = point.sentence
    sentence, true = (
        max(side.answer.sentences, key=lambda candidate: truth.total(fact.live_set & candidate.live_set))
        for side in (own, other)
    )
    statement, against, agreeing = (
        read_statement(part.text, source)
        for part, source in ((sentence, ""), (fact, point.source), (true, ""))
    )
    opposed = _opposed(against, statement)
    if len(opposed) == 1 and opposed <= _axes(agreeing).keys() and not _opposed(against, agreeing):
        words = tuple(own_term for own_term in sentence.terms if poles_of(own_term))
        if _repeats(sentence, fact, REPEATED, words):
            return Contradiction(MarkKind.DIRECTION, " ".join(words), statement, against, 1.0)
    if known is None:
        return None
    if words := _replacement(fact, sentence, own, other, truth, known):
        certain = has_figure(words) or not own.answer.names.isdisjoint(words)
        if certain or (ASKS.match(truth.question) and _repeats(sentence, fact, 1.0, words)):
            strength = 1.0 if certain else WORDING_STRENGTH
            return Contradiction(MarkKind.WORDING, " ".join(words), statement, against, strength)
    mostly = _repeats(sentence, fact, MOSTLY)
    if mostly and _denied(against, statement) - _denied(against, agreeing):
        return Contradiction(MarkKind.NEGATION, "not", statement, against, 1.0)
    if mostly and (
        _exchanged(fact, sentence, other.answer.sentences) or _generalises(statement, against, agreeing)
    ):
        return Contradiction(MarkKind.WORDING, "", statement, against, 1.0)
    return None


def _axes(statement: Statement) -> Mapping[str, set[float]]:
    values: dict[str, set[float]] = {}
    for mark in statement.marks:
        if mark.kind is MarkKind.DIRECTION:
            values.setdefault(mark.axis, set()).add(mark.value)
    return values


def _opposed(a: Statement, b: Statement) -> set[str]:
    """Return the axes on which two statements have only opposite words."""
    ours, theirs = _axes(a), _axes(b)
    return {axis for axis in ours.keys() & theirs.keys() if ours[axis].isdisjoint(theirs[axis])}


def _denied(a: Statement, b: Statement) -> set[frozenset[str]]:
    return {
        mark.adjacent
        for denying, plain in ((a, b), (b, a))
        if not CONDITION.search(denying.text)
        for mark in denying.marks
        if _is_denial(mark)
        and mark.adjacent <= plain.terms
        and not any(map(_is_denial, plain.marks))
        and len(mark.around & plain.terms) >= max(len(mark.adjacent) + 1, DENIED * len(mark.around))
    }


def _is_denial(mark: Mark) -> bool:
    return mark.kind is MarkKind.NEGATION and mark.text != "without"


def _generalises(statement: Statement, against: Statement, agreeing: Statement) -> bool:
    if not ALL.search(statement.text) or SOME.search(statement.text):
        return False
    return bool(SOME.search(against.text) and SOME.search(agreeing.text))


def _replacement(
    fact: Sentence,
    sentence: Sentence,
    own: AnswerAnalysis,
    other: AnswerAnalysis,
    truth: LexicalGroundTruth,
    known: Container[str],
) -> tuple[str, ...]:
    """Return a sentence's terms that replace terms of the fact and the other answer; `known` are roots."""
    in_reference = truth.reference.counts if truth.reference else {}

    restated = {plain for term, plain in pairwise(fact.terms) if is_measured(term) and term in sentence.terms}

    def lacks(term: str) -> bool:
        return term not in restated and term not in sentence.terms and term in other.answer.live_counts

    places, end = ("", *fact.terms, ""), 0
    for is_missing, group in groupby(fact.terms, lacks):
        missing = tuple(group)
        end += len(missing)
        if not is_missing:
            continue
        is_lost = own.answer.live_counts.keys().isdisjoint(missing)
        for span in _between(("", *sentence.terms, ""), places[end - len(missing)], places[end + 1]):
            names = tuple(term for term in span if term in own.answer.names and term not in fact.terms)
            new = tuple(term for term in span if related(term) not in known)
            if is_lost and has_figure(missing):
                single = len(span) == len(missing) == 1
                new = tuple(
                    term for term in span if has_figure((term,)) and (single or term not in fact.terms)
                )
            elif names and (in_reference.keys() >= set(names) or is_lost):
                new = names
            elif not is_lost:
                new = ()
            if new and _repeats(sentence, fact, REPEATED, span):
                return new
    return ()


def _between(places: tuple[str, ...], before: str, after: str) -> Iterator[tuple[str, ...]]:
    for at, term in enumerate(places):
        span = places[at + 1 : at + 2 + MAX_REPLACEMENT]
        if term == before and after in span and (inner := span[: span.index(after)]):
            yield inner


def has_figure(bag: Iterable[str]) -> bool:
    """Return whether terms contain a figure, a month or a word such as "yearly"."""
    return any(term[0] == "#" or term in TIMES or term.startswith(MONTH) for term in bag)


def _repeats(sentence: Sentence, fact: Sentence, minimum: float, excluded: Iterable[str] = ()) -> bool:
    rest = [term for term in sentence.terms if term not in excluded]
    return sum(term in fact.terms for term in rest) >= minimum * len(rest)


def _exchanged(fact: Sentence, sentence: Sentence, true: Sequence[Sentence]) -> bool:
    if (" by " in sentence.text) is not (" by " in fact.text):
        return False
    order, wrong = ({term: part.terms.index(term) for term in part.terms} for part in (fact, sentence))
    pairs = set(pairwise(fact.terms))
    same = len(pairs.intersection(pairwise(sentence.terms)))
    for first, second in permutations(order.keys() & wrong.keys(), 2):
        # Inflection swaps neighbours: "salt is added", "add salt".
        if min(order[second] - order[first], wrong[first] - wrong[second]) > 1:
            swap = {first: second, second: first}
            restored = pairwise([swap.get(term, term) for term in sentence.terms])
            if len(pairs.intersection(restored)) >= same + MIN_GAIN and any(
                first in part.live_set and second in part.terms[part.terms.index(first) :] for part in true
            ):
                return True
    return False
