"""Screen answers before judging: detect empty answers and attempts to steer the judge.

The gate for empty answers decides the battle; the detector only flags. Flagged answers are judged as they are
and without the suspicious sentences, so that an honest answer loses little. Mentions of an attack, in
quotation marks, in code or in reported speech, are not flagged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from data.models import Preference
from data.steering.detector import Steering, meant_for_judges, steering, without_code
from data.steering.rules import SIGNS
from data.text import is_blank
from judges.pairwise.rendering import Sides

_MAX_OPENER = 120
_EXCERPT = 100
NOTHING_LEFT = "(no further text)"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionFinding:
    """Both answers without suspicious parts, with the families of attacks and excerpts."""

    sides: Sides
    families: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without suspicious parts, with the families of attacks and excerpts."""

    text: str
    families: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


def gate(sides: Sides) -> Preference | None:
    """Return the preference if an answer has no content: it loses, or ties with another such answer."""
    a, b = has_content(sides.a), has_content(sides.b)
    if a == b:
        return None if a else Preference.TIE
    return Preference.A if a else Preference.B


def has_content(text: str) -> bool:
    """Return whether a text has a letter, a digit or a symbol in addition to openers.

    Openers are texts like "Thought process:" or ":", which some judges mistake for good answers.

    Source: Zhao et al. (2025), "One token to fool LLM-as-a-judge".
    """
    return not is_blank(SIGNS["opener"].sub(" ", text) if len(text) <= _MAX_OPENER else text)


def inspect(sides: Sides) -> InjectionFinding:
    """Detect attempts to steer the judge in both answers."""
    a, b = stripped(sides.a), stripped(sides.b)
    families = [f"{family} in a" for family in a.families] + [f"{family} in b" for family in b.families]
    if not families:
        return InjectionFinding(sides=sides)
    return InjectionFinding(
        sides=replace(sides, a=a.text, b=b.text), families=tuple(families), excerpts=a.excerpts + b.excerpts
    )


@lru_cache(maxsize=4096)
def stripped(text: str) -> Stripped:
    """Remove sentences that seem to steer the judge from a text."""
    spans = sorted([*steering(text), *_concealed(text)])
    if not spans:
        return Stripped(text)
    pieces: list[str] = []
    excerpts: dict[str, str] = {}
    position = 0
    for span in spans:
        if span.end > position:
            pieces.append(text[position : max(position, span.start)])
            position = span.end
        if span.family:
            words = " ".join(text[span.start : span.end].split())
            cut = words if len(words) <= _EXCERPT else f"{words[: _EXCERPT - 1].rstrip()}…"
            excerpts.setdefault(span.family, cut)
    rest = "".join([*pieces, text[position:]]).strip()
    return Stripped(rest or NOTHING_LEFT, tuple(excerpts), tuple(dict.fromkeys(excerpts.values())))


def _concealed(text: str) -> Iterator[Steering]:
    place, plain = 0, without_code(text)
    while match := SIGNS["element"].search(plain, place):
        place = match.end()
        comment = match[1] is None
        if not comment and any(map(_orders, SIGNS["attribute"].finditer(match[2]))):
            yield Steering(match.start(), place, "hidden-html")
        if comment or SIGNS["concealed"].search(match[2]):
            ending = "-->" if comment else f"</{match[1]}>"
            end = text.find(ending, place)
            place = len(text) if end < 0 else end + len(ending)
            if meant_for_judges(text[match.start() : place]):
                yield Steering(match.start(), place, "hidden-html")
    for link in SIGNS["link_title"].finditer(plain):
        if _orders(link):
            yield Steering(link.start(), link.end(), "hidden-html")


def _orders(attribute: re.Match[str]) -> bool:
    """Return whether the value of an attribute addresses the judge."""
    value = attribute[1] or attribute[2]
    return meant_for_judges(value) and bool(steering(value))
