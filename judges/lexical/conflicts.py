"""Facts of the reference that one answer of a battle contradicts and the other covers.

One answer seldom proves a contradiction, since a paraphrase differs from the reference as well. Where the
other answer agrees with the reference, a different figure or name in the same place, or a denial, proves it.
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
from judges.text.statements import Mark, MarkKind, Statement, read_statement
from judges.text.tokens import related, terms

DENIED = 0.4
"""Share of the terms around a negation that the other text must have, beside what is denied."""
CONDITION = re.compile(
    r"\b(?:if|whether)\b.{0,120}?(?:\bnot\b|n['’]t\b)"
    r"|(?:\bnot?|n['’]t)(?: \w+){0,2} (?:more|fewer|less|longer|later) than\b",
    re.IGNORECASE,
)
"""Negations that deny nothing: in a condition, or before a limit."""
INSTEAD = 3
"""Maximum number of terms that replace others."""
REPEATED, MOSTLY = 0.6, 0.7
"""Share of a sentence's other terms that the fact must have: with less, the sentence has another subject."""
WORDING_STRENGTH = 0.5
"""Strength of a contradiction by a different word, which may be a synonym; by a figure or name it is 1."""
MENDED = 2
"""Pairs of neighbours that a sentence must gain from the fact when two of its terms are swapped back."""
ALL = re.compile(r"\b(?:all|each|every(?! (?:\w+ )?\d)|every(?:body|one))\b", re.IGNORECASE)
SOME = re.compile(r"\b(?:few|half|mostly|most|often|partly|rarely|some|sometimes|usually)\b", re.IGNORECASE)
ASKS = re.compile(r"\b(?:\w++ )?(?:who|whom|whose|which|what|where)\b", re.IGNORECASE)
"""Openings of questions that ask for one thing: naming another is a different answer."""
TIMES = {"second", "minut", "hour", "day", "week", "month", "year", "daili", "weekli", "monthli", "yearli"}
"""Terms that stand for a figure: once a month, once a year."""
GUARDS = {Adjustment.ORDER, Adjustment.COPIES, Adjustment.NAMES}
MOST_PADDING = 0.9
"""Padding above which an answer is a copy of whole passages, which state every fact."""
MOST_LOST = 0.1
"""Share of its score that guards may take from an answer that is preferred for a fact."""


def conflicts(
    own: AnswerAnalysis, other: AnswerAnalysis, truth: LexicalGroundTruth, settings: LexicalSettings
) -> Mapping[int, Contradiction]:
    """Return the facts that an answer contradicts and the other covers, by their place."""
    if truth.reference is None or truth.language != ENGLISH:
        return {}
    if not (own.answer.sentences and other.answer.sentences):
        return {}
    known = frozenset(map(related, (*truth.reference.counts, *truth.topic, *other.answer.counts)))
    said = {sentence.text: sentence for sentence in own.answer.sentences}
    found = {}
    for at, point in enumerate(truth.points):
        if other.shares[at] >= settings.covered_from:
            alone = (
                each
                for each in own.contradictions
                if each.against.text == point.sentence.text
                and _repeats(said[each.statement.text], point.sentence, REPEATED)
                and (each.kind is MarkKind.QUANTITY or point.sentence.said.isdisjoint(terms(each.word)))
            )
            if conflict := next(alone, None) or _conflict(point, own, other, truth, known):
                found[at] = conflict
    return found


def weighed(
    a: AnswerAnalysis, b: AnswerAnalysis, truth: LexicalGroundTruth, settings: LexicalSettings
) -> tuple[AnswerAnalysis, AnswerAnalysis]:
    """Let a fact that the leading answer contradicts and the other covers outweigh length and style.

    It does not where the leading answer covers more facts by more than `settings.more_facts`. Either of two
    equal scores may lead.
    """
    return _weighed(a, b, truth, settings), _weighed(b, a, truth, settings)


def _weighed(
    own: AnswerAnalysis, other: AnswerAnalysis, truth: LexicalGroundTruth, settings: LexicalSettings
) -> AnswerAnalysis:
    of_own = conflicts(own, other, truth, settings) if own.score >= other.score else {}
    if not of_own or not _is_honest(other):
        return own
    of_other = conflicts(other, own, truth, settings)
    strengths = (math.fsum(each.strength for each in found.values()) for found in (of_own, of_other))
    covered = [
        sum(share >= settings.covered_from and at not in found for at, share in enumerate(side.shares))
        for side, found in ((own, of_own), (other, of_other))
    ]
    if next(strengths) <= next(strengths) or covered[0] - covered[1] > settings.more_facts:
        return own
    cost = own.score - other.score + settings.least_lead
    listed = dict.fromkeys((*own.contradictions, *of_own.values()))
    return replace(
        own, adjustments=(*own.adjustments, (Adjustment.DENIED_FACTS, -cost)), contradictions=tuple(listed)
    )


def _is_honest(answer: AnswerAnalysis) -> bool:
    """Return whether an answer is prose with its names in place: lists of words cover every fact."""
    lost = {kind: -amount for kind, amount in answer.adjustments if kind in GUARDS}
    if Adjustment.NAMES in lost or answer.padding > MOST_PADDING:
        return False
    return math.fsum(lost.values()) <= MOST_LOST * answer.score


def _conflict(
    point: Point, own: AnswerAnalysis, other: AnswerAnalysis, truth: LexicalGroundTruth, known: Container[str]
) -> Contradiction | None:
    fact = point.sentence
    sentence, true = (
        max(side.answer.sentences, key=lambda each: truth.total(fact.said & each.said))
        for side in (own, other)
    )
    statement, against, agreeing = (
        read_statement(each.text, source)
        for each, source in ((sentence, ""), (fact, point.source), (true, ""))
    )
    if put := _instead(fact, sentence, own, other, truth, known):
        surely = _has_figure(put) or not own.answer.names.isdisjoint(put)
        if surely or (ASKS.match(truth.question) and _repeats(sentence, fact, 1.0, put)):
            strength = 1.0 if surely else WORDING_STRENGTH
            return Contradiction(MarkKind.WORDING, " ".join(put), statement, against, strength)
    if not _repeats(sentence, fact, MOSTLY):
        return None
    if _denied(against, statement) - _denied(against, agreeing):
        return Contradiction(MarkKind.NEGATION, "not", statement, against, 1.0)
    if _exchanged(fact, sentence, other.answer.sentences) or _generalises(statement, against, agreeing):
        return Contradiction(MarkKind.WORDING, "", statement, against, 1.0)
    return None


def _denied(one: Statement, other: Statement) -> set[frozenset[str]]:
    return {
        mark.beside
        for denying, plain in ((one, other), (other, one))
        if not CONDITION.search(denying.text)
        for mark in denying.marks
        if _is_denial(mark)
        and mark.beside <= plain.terms
        and not any(map(_is_denial, plain.marks))
        and len(mark.around & plain.terms) >= max(len(mark.beside) + 1, DENIED * len(mark.around))
    }


def _is_denial(mark: Mark) -> bool:
    return mark.kind is MarkKind.NEGATION and mark.text != "without"


def _generalises(statement: Statement, against: Statement, agreeing: Statement) -> bool:
    if not ALL.search(statement.text) or SOME.search(statement.text):
        return False
    return all(SOME.search(each.text) for each in (against, agreeing))


def _instead(
    fact: Sentence,
    sentence: Sentence,
    own: AnswerAnalysis,
    other: AnswerAnalysis,
    truth: LexicalGroundTruth,
    known: Container[str],
) -> tuple[str, ...]:
    """Return a sentence's terms that replace terms of the fact and the other answer; `known` are roots."""
    told = truth.reference.counts if truth.reference else {}

    def lacks(term: str) -> bool:
        return term not in sentence.terms and term in other.answer.said

    places, end = ("", *fact.terms, ""), 0
    for is_gone, group in groupby(fact.terms, lacks):
        gone = tuple(group)
        end += len(gone)
        if not is_gone:
            continue
        is_lost = own.answer.said.keys().isdisjoint(gone)
        for put in _between(("", *sentence.terms, ""), places[end - len(gone)], places[end + 1]):
            names = tuple(term for term in put if term in own.answer.names and term not in fact.terms)
            new = tuple(term for term in put if related(term) not in known)
            if is_lost and _has_figure(gone):
                single = len(put) == len(gone) == 1
                new = tuple(
                    term for term in put if _has_figure((term,)) and (single or term not in fact.terms)
                )
            elif names and (told.keys() >= set(names) or is_lost):
                new = names
            elif not is_lost:
                new = ()
            if new and _repeats(sentence, fact, REPEATED, put):
                return new
    return ()


def _between(places: tuple[str, ...], before: str, after: str) -> Iterator[tuple[str, ...]]:
    for at, term in enumerate(places):
        span = places[at + 1 : at + 2 + INSTEAD]
        if term == before and after in span and (put := span[: span.index(after)]):
            yield put


def _has_figure(some: Iterable[str]) -> bool:
    return any(term[0] == "#" or term in TIMES for term in some)


def _repeats(sentence: Sentence, fact: Sentence, least: float, but: Iterable[str] = ()) -> bool:
    rest = [term for term in sentence.terms if term not in but]
    return sum(term in fact.terms for term in rest) >= least * len(rest)


def _exchanged(fact: Sentence, sentence: Sentence, true: Sequence[Sentence]) -> bool:
    if (" by " in sentence.text) is not (" by " in fact.text):
        return False
    order, wrong = ({term: each.terms.index(term) for term in each.terms} for each in (fact, sentence))
    pairs = set(pairwise(fact.terms))
    same = len(pairs.intersection(pairwise(sentence.terms)))
    for first, second in permutations(order.keys() & wrong.keys(), 2):
        # Neighbours are exchanged by inflection: "salt is added", "add salt".
        if min(order[second] - order[first], wrong[first] - wrong[second]) > 1:
            swap = {first: second, second: first}
            mended = pairwise([swap.get(term, term) for term in sentence.terms])
            if len(pairs.intersection(mended)) >= same + MENDED and any(
                first in each.said and second in each.terms[each.terms.index(first) :] for each in true
            ):
                return True
    return False
