"""Texts that make a regular expression slow, derived from the expression itself.

A search is slow if it starts at many positions and reads far from each, or if a stretch can be divided
among several repeats. So each repeat is reached by the shortest text that leads to it and then fed with
matching characters, and each opener is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# The parser of the standard library has no public name.
from re import _constants as op
from re import _parser
from typing import Any

SPOILER = "\x01"
MAX_SPOTS = 24
CANDIDATES = "a 1\n<\"'.,:-_*`[(&#/=A%\t“é"
KILLERS = (
    *" \t\n1aA_-.;:é中<>&[]({}\\/|#=!?\"'“”`*",
    *("\r\n", " \n", "1,", "1.", ". ", ", ", "</", "<a ", "&lt;", "&#", "[[", '"a', " 'a", "“a", "‘a", "«a"),
    *("`a", "`a ", "**", "**a", "__a", "```", "()", "[]", "{}", "<>", '""', "''", "``", "“”", ", ,"),
    *("a ", "a\n", "a. ", "1 ", "A.", "is not ", "the ", "<rating>", "<think>", "answer: ", "<!--", "x-"),
)
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


@dataclass(frozen=True)
class Attack:
    """Text of any length: a prefix, a repeated part, a suffix."""

    before: str
    pump: str
    after: str = SPOILER

    def text(self, length: int) -> str:
        """Return the text repeated to about this many characters."""
        return self.before + self.pump * max(1, length // len(self.pump)) + self.after


def attacks(pattern: re.Pattern[Any]) -> tuple[Attack, ...]:
    """Return the texts to try on a pattern."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    tree = _parser.parse(text, pattern.flags & ~re.LOCALE)
    spots = _spread(dict.fromkeys(_spots(tree, "")))
    attacks = [Attack("", killer) for killer in KILLERS]
    pumps = _spread(dict.fromkeys(pump for _, pump in spots))[:6]
    for before, pump in spots:
        attacks += [Attack(before, pump), Attack("", before + pump), Attack("", before + pump, "")]
        attacks.append(Attack(before, f" {pump}"))
    attacks += [
        Attack(before, pump) for before in _spread(dict.fromkeys(q for q, _ in spots))[:8] for pump in pumps
    ]
    return tuple(dict.fromkeys(attack for attack in attacks if attack.pump))


def _spread(items: Iterable[Any]) -> list[Any]:
    """Return evenly spaced items, up to a maximum."""
    every = list(items)
    step = max(1, len(every) / MAX_SPOTS)
    return [every[int(place * step)] for place in range(min(len(every), MAX_SPOTS))]


def _spots(items: Any, before: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - the parser's own tree
    """Yield the path to each repeat and branch, with its repeated part."""
    lead = before
    for code, value in items:
        for body in _bodies(code, value):
            yield lead, _example(body)
            if code in REPEATS and (wide := _wide(body)):
                yield from ((lead, character) for character in wide)
            yield from _spots(body, lead)
        lead += _one(code, value)
    yield before, lead.removeprefix(before)


def _bodies(code: Any, value: Any) -> list[Any]:  # noqa: ANN401 - the parser's own tree
    if code in REPEATS:
        return [value[2]]
    if code is op.BRANCH:
        return list(value[1])
    if code is op.SUBPATTERN:
        return [value[3]]
    if code is op.ATOMIC_GROUP:
        return [value]
    return [value[1]] if code in {op.ASSERT, op.ASSERT_NOT} else []


def _wide(body: Any) -> str:  # noqa: ANN401 - the parser's own tree
    """Return several characters that a repeated set accepts."""
    if len(body) != 1 or body[0][0] not in {op.ANY, op.IN, op.NOT_LITERAL}:
        return ""
    code, value = body[0]
    return "".join(character for character in CANDIDATES if _takes(code, value, character))[:8]


def _example(items: Any) -> str:  # noqa: ANN401 - the parser's own tree
    """Return the shortest text that a sequence matches, ignoring lookarounds."""
    return "".join(_one(code, value) for code, value in items)


def _one(code: Any, value: Any) -> str:  # noqa: ANN401 - the parser's own tree
    if code is op.LITERAL:
        return chr(value)
    if code in {op.IN, op.NOT_LITERAL, op.ANY}:
        known = [chr(item[0] if kind is op.RANGE else item) for kind, item in _members(code, value)]
        return next((sign for sign in (*CANDIDATES, *known) if _takes(code, value, sign)), "a")
    if code in REPEATS:
        return _example(value[2]) * min(int(value[0]), 24)
    if code in {op.BRANCH, op.SUBPATTERN, op.ATOMIC_GROUP}:
        return _example(_bodies(code, value)[0])
    return ""


def _members(code: Any, value: Any) -> list[Any]:  # noqa: ANN401 - the parser's own tree
    return [member for member in value if member[0] in {op.LITERAL, op.RANGE}] if code is op.IN else []


def _takes(code: Any, value: Any, character: str) -> bool:  # noqa: ANN401 - the parser's own tree
    """Return whether a set accepts a character."""
    if code is not op.IN:
        return code is op.ANY or ord(character) != value
    negated = value[0][0] is op.NEGATE
    return any(_among(kind, item, character) for kind, item in value) != negated


def _among(kind: Any, item: Any, character: str) -> bool:  # noqa: ANN401 - the parser's own tree
    if kind is op.LITERAL:
        return ord(character) == int(item)
    if kind is op.RANGE:
        return bool(item[0] <= ord(character) <= item[1])
    tests = {
        op.CATEGORY_DIGIT: character.isdigit(),
        op.CATEGORY_SPACE: character.isspace(),
        op.CATEGORY_WORD: character.isalnum() or character == "_",
    }
    inverse = {
        op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
        op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
        op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
    }
    return not tests[inverse[item]] if item in inverse else tests.get(item, False)
