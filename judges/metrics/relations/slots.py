"""Slots: the place of a date or figure in a statement, and who fills it otherwise.

"He was born in 1949" and "born in Ohio in 1941" fill one slot with two years, whatever the words around
them. Dates are compared by year, month and day, each for itself; other figures by their dimension, with units
converted, and counts where they count one thing. What the question itself says is no news in either text and
fills nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isclose
from types import MappingProxyType

from judges.text.contradictions import COUNTED_BELOW, ROUNDING
from judges.text.folding import fold
from judges.text.quantities import quantities
from judges.text.statements import Statement
from judges.text.term_weights import TermWeights
from judges.text.tokens import related

MONTHS = "january february march april may june july august september october november december"
MONTH_NUMBERS: Mapping[str, float] = MappingProxyType(
    {name: float(number) for number, name in enumerate(MONTHS.split(), start=1)}
)
MONTH_NAME = re.compile(rf"\b(?:{'|'.join(MONTH_NUMBERS)})\b")
# May is a verb too: it is a month beside a number alone.
MAY = re.compile(r"\bmay,? \d|\d(?:st|nd|rd|th)? (?:of )?may\b|\bin may\b")
MONTH = "month"
DATES = frozenset({"year", MONTH, "day of a month"})
COUNT = "count"
ASKS_DATE = re.compile(r"\b(?:when|(?:what|which) (?:year|date|day|month|time)|how old|birth ?date|year)\b")
ASKS_FIGURE = re.compile(
    r"\bhow (?:many|much|long|far|tall|high|old|big|large|deep|wide|fast|often|heavy)\b"
    r"|\b(?:percentage|number|population|length|height|range|amount|rate|distance)\b"
)
SHORT = 4
CACHED_SENTENCES = 1 << 14


@dataclass(frozen=True, slots=True)
class Value:
    """A figure in the base unit of its dimension, a month from 1 to 12; `noun` is what a count counts."""

    dimension: str
    value: float
    noun: str = ""

    def same(self, other: Value) -> bool:
        """Whether both are one figure: dates and small counts exactly, others but for rounding."""
        if self.dimension != other.dimension:
            return False
        if self.value == other.value:
            return True
        few = self.dimension == COUNT and max(self.value, other.value) < COUNTED_BELOW
        if self.dimension in DATES or few:
            return False
        return isclose(self.value, other.value, rel_tol=ROUNDING, abs_tol=1e-12)


Values = tuple[Value, ...]


@lru_cache(maxsize=CACHED_SENTENCES)
def values_of(sentence: str) -> Values:
    """The figures of a sentence."""
    found = [Value(quantity.dimension, quantity.value, quantity.noun) for quantity in quantities(sentence)]
    folded = fold(sentence)
    found += [
        Value(MONTH, MONTH_NUMBERS[name])
        for name in MONTH_NAME.findall(folded)
        if name != "may" or MAY.search(folded)
    ]
    return tuple(dict.fromkeys(found))


def beyond(values: Iterable[Value], known: Collection[Value]) -> Values:
    """The values that are none of the known ones."""
    return tuple(value for value in values if not any(map(value.same, known)))


@dataclass(frozen=True, slots=True)
class Clash:
    """How closely two texts fill one slot otherwise.

    Attributes:
        slot: 0–1: how much of the statement's other terms is where another figure stands; 0 without a clash.
        asked: 0–1: the same for the question's terms, where the question asks for such a figure.
        against: The sentence that has the other figure.
    """

    slot: float = 0.0
    asked: float = 0.0
    against: str = ""


class Question:
    """What a question says and asks for."""

    def __init__(self, statement: Statement) -> None:
        self.terms = statement.terms
        self.values = values_of(statement.text)
        folded = fold(statement.text)
        self._date = bool(ASKS_DATE.search(folded))
        self._figure = bool(ASKS_FIGURE.search(folded))

    def asks_for(self, dimension: str) -> bool:
        """Whether a figure of a dimension is what it asks for."""
        return self._date if dimension in DATES else self._figure

    def comparable(self, value: Value, other: Value) -> bool:
        """Whether two figures are of one kind; counts of two things are where the question names both."""
        if value.dimension != other.dimension:
            return False
        nouns = {value.noun, other.noun} - {""}
        return len(nouns) < 2 or nouns <= self.terms  # noqa: PLR2004 - two different things


class Slots:
    """The figures of one premise and where they stand.

    Args:
        statements: The sentences of the premise that state something; its title does not.
        said: All its sentences, with the title: what they have is no other figure.
        weights: Term weights under which the question's terms count in full.
        question: What is asked.
    """

    def __init__(
        self,
        statements: Sequence[Statement],
        said: Sequence[Statement],
        weights: TermWeights,
        question: Question,
    ) -> None:
        self._weights = weights
        self._question = question
        self._statements = tuple(statements)
        self._placed: defaultdict[str, list[tuple[int, Value]]] = defaultdict(list)
        for place, statement in enumerate(self._statements):
            for value in beyond(values_of(statement.text), question.values):
                self._placed[value.dimension].append((place, value))
        self._said = frozenset(value for statement in said for value in values_of(statement.text))

    def lacks_month(self, statement: Statement) -> bool:
        """Whether a statement names a month that neither premise nor question have."""
        months = [value for value in values_of(statement.text) if value.dimension == MONTH]
        return bool(months and beyond(beyond(months, self._said), self._question.values))

    def clash(self, statement: Statement) -> Clash:
        """Where the premise fills a slot of the statement otherwise, and nowhere alike."""
        own = values_of(statement.text)
        if not own:
            return Clash()
        news = beyond(own, self._question.values)
        slot, asked, against = 0.0, 0.0, ""
        for value in beyond(news, self._said):
            kin = [other for other in news if other.dimension == value.dimension]
            sought = self._question.asks_for(value.dimension) and len(beyond(kin, self._said)) == len(kin)
            for place, other in self._placed.get(value.dimension, ()):
                if not self._question.comparable(value, other) or not beyond((other,), own):
                    continue
                its = self._statements[place]
                close = self._weights.share(self._rest(statement), its.terms, its.related)
                if close > slot:
                    slot, against = close, its.text
                if sought:
                    near = self._near(place) * self._answering(statement)
                    asked, against = max(asked, near), against or its.text
        return Clash(slot, asked, against)

    def _rest(self, statement: Statement) -> frozenset[str]:
        """The statement's terms without its figures; a short answer is read with its question."""
        own = frozenset(term for term in statement.terms if not term.startswith("#"))
        return own | self._question.terms if len(statement.terms) <= SHORT else own

    def _answering(self, statement: Statement) -> float:
        """How far a statement answers the question: a short one does, another by what it has of it."""
        if len(statement.terms) <= SHORT:
            return 1.0
        return self._weights.share(self._question.terms, statement.terms, statement.related)

    def _near(self, place: int) -> float:
        """How much of the question a sentence has together with a neighbour."""
        wanted = self._question.terms
        share = 0.0
        for first in (place - 1, place):
            pair = self._statements[max(0, first) : first + 2]
            terms = frozenset[str]().union(*(its.terms for its in pair))
            share = max(share, self._weights.share(wanted, terms, frozenset(map(related, terms))))
        return share
