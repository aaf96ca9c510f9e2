"""Before an answer reaches the judge: whether it has content at all, and whether it tries to steer.

The gate is exact and decides; the detector only flags. What it flags is judged as given *and* without
the suspicious sentences, so an honest answer that it mistakes loses no more than those sentences.
Sentences that *mention* an attack, in quotation marks, in code, or as something others do, are none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from data.records import Preference
from judges import suspicion
from judges.neutralise import skeleton
from judges.rendering import Sides

_MASTER_KEYS = re.compile(
    r"\b(?:thought process|thoughts?|thinking|reasoning|solution|final answer|answer|explanation|response|"
    r"respuesta|let'?s (?:solve|think about|work through) (?:this|it)(?: problem)?(?: step by step)?|"
    r"let'?s think step by step|step by step|sure|certainly|of course|here is (?:the|my) answer)\b\W*"
    r"|解|かいせつ",
    re.IGNORECASE,
)
_LONGEST_KEY = 120
_FENCE = re.compile(r"```.*?(?:```|\Z)|(?<!`)`[^`\n]+`(?!`)", re.DOTALL)
_QUOTED = re.compile(
    r"\"[^\"\n]*\n?[^\"\n]*\"|“[^”\n]*\n?[^”\n]*”|‘[^’\n]{3,}’|(?<!\w)'[^'\n]{3,}'(?!\w)|`[^`\n]+`|«[^»\n]*»"
)
_HIDDEN_HTML = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(\w+)\b[^<>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0"
    r"|\bhidden\b|color\s*:\s*(?:white|transparent|#fff(?:fff)?))[^<>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTE = re.compile("[\"'“‘`«]")
_ENDS = r"[.!?]++[\"'”’)]*+(?=\s|\Z)"
_SENTENCE = re.compile(rf"(?:[^\n.!?]++|(?!{_ENDS})[.!?]++)*+(?:{_ENDS}|\n+|\Z)")
_WORD = re.compile(r"[^\W_]+")
NOTHING_LEFT = "(no further text)"
_FENCED_CONTEXT = 20
_QUOTED_CONTEXT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Both answers without what seems to steer the judge, and the families of attack that were found."""

    sides: Sides
    families: tuple[str, ...] = ()


def gate(sides: Sides) -> Preference | None:
    """The preference where an answer has no content: it loses; two such answers tie; else None."""
    content_a, content_b = has_content(sides.a), has_content(sides.b)
    if content_a and content_b:
        return None
    if not content_a and not content_b:
        return Preference.TIE
    return Preference.A if content_a else Preference.B


def has_content(text: str) -> bool:
    """Whether a text says anything: a letter, a digit or a symbol beyond bare openers.

    "Thought process:", ":" and their kind, which some judges take for good answers, are openers.

    Source: Zhao et al. (2025), "One token to fool LLM-as-a-judge".
    """
    bare = _MASTER_KEYS.sub(" ", text) if len(text) <= _LONGEST_KEY else text
    return any(_says(character) for character in bare)


def inspect(sides: Sides) -> Suspicion:
    """Look for attempts to steer the judge in both answers."""
    a, in_a = strip(sides.a)
    b, in_b = strip(sides.b)
    found = tuple(
        dict.fromkeys([f"{family} in a" for family in in_a] + [f"{family} in b" for family in in_b])
    )
    return Suspicion(sides=replace(sides, a=a, b=b), families=found) if found else Suspicion(sides=sides)


@lru_cache(maxsize=4096)
def strip(text: str) -> tuple[str, tuple[str, ...]]:
    """A text without the sentences that seem to steer its judge, and the families of attack found."""
    spans = sorted(_suspicious(text))
    if not spans:
        return text, ()
    pieces, done = [], 0
    for start, end, _ in spans:
        pieces.append(text[done : max(done, start)])
        done = max(done, end)
    rest = "".join([*pieces, text[done:]]).strip()
    return rest or NOTHING_LEFT, tuple(dict.fromkeys(family for *_, family in spans))


def _suspicious(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans to cut, each with the family of attack."""
    plain = _without_code(text)
    for match in _HIDDEN_HTML.finditer(plain) if "<" in plain else ():
        if suspicion.patterns().talks_to_judge.search(skeleton(match[0])):
            yield match.start(), match.end(), "hidden-html"
    for start, end in suspicion.encoded(text):
        yield start, end, "encoded"
    for start, end in suspicion.structured(plain.lower()):
        yield start, end, "verdict-spam"
    unquoted = (
        _QUOTED.sub(lambda match: re.sub(r"\S", " ", match[0]), plain) if _QUOTE.search(plain) else plain
    )
    bones = skeleton(plain)
    families = suspicion.possible_in(bones)
    # The skeleton of ASCII keeps every character's place, so its sentences are looked at first.
    aligned = plain.isascii()
    needed = suspicion.needed_by(families)
    for match in _SENTENCE.finditer(unquoted) if families else ():
        if aligned and not _any_of(needed, bones[match.start() : match.end()]):
            continue
        said = _own_words(match[0], plain[match.start() : match.end()])
        family = suspicion.family_of(said, families) if said else ""
        if family:
            yield match.start(), match.end(), family


def _any_of(words: Sequence[str], text: str) -> bool:
    return bool([word for word in words if word in text])


def _without_code(text: str) -> str:
    """Blank out code where there is prose enough around it for the code to be an example."""
    if "`" not in text:
        return text
    outside = _FENCE.sub(" ", text)
    if len(_WORD.findall(outside)) < _FENCED_CONTEXT:
        return text
    return _FENCE.sub(lambda match: re.sub(r"\S", " ", match[0]), text)


def _own_words(unquoted: str, sentence: str) -> str:
    """A sentence's skeleton without what it quotes, unless the quotation is all there is."""
    quoting = unquoted == sentence or len(_WORD.findall(unquoted)) >= _QUOTED_CONTEXT
    return " ".join(skeleton(unquoted if quoting else sentence).split())


def _says(character: str) -> bool:
    if character.isalnum():
        return True
    category = unicodedata.category(character)
    return category == "So" or (category == "Sm" and not character.isascii())
