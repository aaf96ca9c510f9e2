"""Before an answer reaches the judge: whether it has content at all, and whether it tries to steer.

The gate is exact and decides; the detector only flags. What it flags is judged as given *and* without
the suspicious sentences, so an honest answer that it mistakes loses no more than those sentences.
Sentences that *mention* an attack, in quotation marks, in code, or as something others do, are none.
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

_LONGEST_KEY = 120
_EXCERPT = 100
NOTHING_LEFT = "(no further text)"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionFinding:
    """Both answers without what seems to steer the judge, what was found, and its first words as written."""

    sides: Sides
    families: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without what seems to steer its judge, the families of attack found and what they say."""

    text: str
    families: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


def gate(sides: Sides) -> Preference | None:
    """Return the preference where an answer has no content: it loses; two such answers tie; else None."""
    a, b = has_content(sides.a), has_content(sides.b)
    if a == b:
        return None if a else Preference.TIE
    return Preference.A if a else Preference.B


def has_content(text: str) -> bool:
    """Return whether a text has content: a letter, a digit or a symbol beyond bare openers.

    "Thought process:", ":" and their kind, which some judges take for good answers, are openers.

    Source: Zhao et al. (2025), "One token to fool LLM-as-a-judge".
    """
    return not is_blank(SIGNS["opener"].sub(" ", text) if len(text) <= _LONGEST_KEY else text)


def inspect(sides: Sides) -> InjectionFinding:
    """Look for attempts to steer the judge in both answers."""
    a, b = stripped(sides.a), stripped(sides.b)
    families = [f"{family} in a" for family in a.families] + [f"{family} in b" for family in b.families]
    if not families:
        return InjectionFinding(sides=sides)
    return InjectionFinding(
        sides=replace(sides, a=a.text, b=b.text), families=tuple(families), excerpts=a.excerpts + b.excerpts
    )


@lru_cache(maxsize=4096)
def stripped(text: str) -> Stripped:
    """Take the sentences that seem to steer its judge out of a text."""
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
    """Return whether the value of an attribute speaks to the judge, as no name of a picture or link does."""
    value = attribute[1] or attribute[2]
    return meant_for_judges(value) and bool(steering(value))
