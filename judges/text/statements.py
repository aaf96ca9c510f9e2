"""Statements: sentences with their terms and the marks that another statement could contradict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from judges.text.polarity import negations, poles
from judges.text.quantities import quantities
from judges.text.sentences import split_sentences
from judges.text.tokens import WORD, fold, kin, term

REACH = 4
DENIAL_REACH = 12
CACHED_SENTENCES = 1 << 14


class MarkKind(StrEnum):
    """What a mark says."""

    QUANTITY = "number"
    DIRECTION = "direction"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class Mark:
    """A spot where another statement could say otherwise.

    Attributes:
        kind: A number, a direction word or a negation.
        axis: What two marks must share to be comparable.
        value: The number, or the pole of the direction.
        text: As written.
        around: The content terms near it.
        figure: For a number, its value without the unit.
    """

    kind: MarkKind
    axis: str
    value: float
    text: str
    around: frozenset[str]
    figure: float = 0.0


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, its terms, what those are kin to, and its marks."""

    text: str
    source: str
    terms: frozenset[str]
    kin: frozenset[str]
    marks: tuple[Mark, ...]

    @property
    def negated(self) -> bool:
        """Whether it negates anything."""
        return any(mark.kind is MarkKind.NEGATION for mark in self.marks)


def read_statements(text: str, source: str = "") -> tuple[Statement, ...]:
    """Split a text into statements; those without a content term are left out."""
    found = (read_statement(sentence, source) for sentence in split_sentences(text))
    return tuple(statement for statement in found if statement.terms)


@lru_cache(maxsize=CACHED_SENTENCES)
def read_statement(sentence: str, source: str = "") -> Statement:
    """Read one sentence."""
    folded = fold(sentence)
    spots = [(match.start(), match[0], term(match[0])) for match in WORD.finditer(folded)]
    content = [(start, single) for start, _, found in spots for single in found]
    bag = frozenset(single for _, single in content)
    marks = [
        Mark(
            MarkKind.QUANTITY, f"{q.dimension}:{q.noun}", q.value, q.text, _around(content, q.start), q.figure
        )
        for q in quantities(sentence)
    ]
    denials = set(negations(sentence))
    for start, word, _ in spots:
        for axis, pole in poles(word):
            denied = {at for at in denials if 0 < start - at <= DENIAL_REACH}
            marks.append(
                Mark(
                    MarkKind.DIRECTION,
                    f"axis {axis}",
                    1 - pole if denied else pole,
                    word,
                    _around(content, start, but=term(word)),
                )
            )
    marks += [
        Mark(MarkKind.NEGATION, "negation", 1.0, "not", _around(content, start, before=1))
        for start in sorted(denials)
    ]
    return Statement(sentence, source, bag, frozenset(map(kin, bag)), tuple(marks))


def _around(
    content: list[tuple[int, str]], start: int, *, before: int = REACH, but: tuple[str, ...] = ()
) -> frozenset[str]:
    """The content terms next to a spot, without the numbers and the spot's own term."""
    plain = [(at, single) for at, single in content if single not in but and not single.startswith("#")]
    earlier = [single for at, single in plain if at < start][-before:]
    later = [single for at, single in plain if at >= start][:REACH]
    return frozenset(earlier + later)
