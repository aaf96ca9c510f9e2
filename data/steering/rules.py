"""The rules of `steering.toml` as patterns over kinds of words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Any

from data.steering.skeletons import skeleton

END, UNKNOWN = ".", "w"
_FIRST_CODE = 0xE000
_COMMON_COUNTS = 100


@dataclass(frozen=True)
class Rule:
    """One rule: its family, what writes its pattern and, in bits, of which words a text needs one each."""

    family: str
    write: Callable[[], str]
    rarest: int
    needs: tuple[int, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern; compiling all of them takes seconds, and most texts have the words of few."""
        return re.compile(self.write())


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules, ready to search with.

    Attributes:
        codes: The character that stands for a word, by word; words without one are `UNKNOWN`.
        bits: A bit for each character of `codes`.
        rules: Every rule, with what a text needs for it to be possible.
        by_need: The places of the rules, by the rarest of what they need.
        reported: What stands before a claim that somebody reports.
        weak: What follows an attack in its paragraph and belongs to it.
        primed: What belongs to an attack beside a chat token.
    """

    codes: Mapping[str, str]
    bits: Mapping[str, int]
    rules: tuple[Rule, ...]
    by_need: Mapping[int, Sequence[int]]
    reported: re.Pattern[str]
    weak: re.Pattern[str]
    primed: re.Pattern[str]

    def reports(self, codes: str, start: int, end: int) -> bool:
        """Whether what stands there reports what others say; not where it addresses the reader."""
        match = self.reported.search(codes, start, end)
        return match is not None and match["addressed"] is None

    def possible(self, codes: str) -> list[Rule]:
        """The rules all of whose parts a text has somewhere, which are few."""
        had = 0
        for code in set(codes):
            had |= self.bits.get(code, 0)
        places = [
            place
            for rarest, group in self.by_need.items()
            if had & rarest
            for place in group
            if all(had & need for need in self.rules[place].needs)
        ]
        return [self.rules[place] for place in sorted(places)]


@dataclass(frozen=True)
class Grammar:
    """Kinds of words, shapes and rules, as `steering.toml` has them."""

    record: Mapping[str, Mapping[str, Any]]

    def rules(self) -> Rules:
        """Read the rules; each is compiled when a text first makes it possible."""
        compiled = tuple(
            self._compiled(family, rule)
            for family, rules in self.record["families"].items()
            for rule in rules
        )
        by_need: dict[int, list[int]] = {}
        for place, rule in enumerate(compiled):
            by_need.setdefault(rule.rarest, []).append(place)
        return Rules(
            codes=self._codes,
            bits=self._bits,
            rules=compiled,
            by_need=by_need,
            reported=re.compile(
                rf"(?P<addressed>{self._group('YOU')}[^.]{{0,4}})?"
                rf"(?:{self._group('WHO')}[^.]{{0,8}}?{self._group('SAYS')}[^.]{{0,14}}"
                rf"|{self._group('if|when')}{self._group('a|an|some')}[^.]{{0,3}}{self._group('SAYS')}[^.]{{0,4}})\Z"
            ),
            weak=re.compile(self._either(self.record["followers"]["rules"])),
            primed=re.compile(self._either(self.record["primed"]["rules"])),
        )

    def _compiled(self, family: str, rule: str) -> Rule:
        rarest, *needs = sorted(self._needs(rule), key=self._commonness)
        return Rule(family, partial(self._rule, rule), rarest, tuple(needs))

    def _needs(self, rule: str) -> Iterator[int]:
        """Of each part that must be there, the words in bits; of a shape, those of its rarest parts."""
        for part in rule.split():
            if part[0] not in "^$~!" and part[-1] not in "?!":
                bits = 0
                for name in part.split("|"):
                    bits |= self._shape_needs(name) if name in self.record["shapes"] else self._mask(name)
                yield bits

    def _shape_needs(self, name: str) -> int:
        bits = 0
        for rule in self.record["shapes"][name]:
            bits |= min(self._needs(rule), key=self._commonness)
        return bits

    def _mask(self, name: str) -> int:
        bits = 0
        for word in self._kinds[name]:
            bits |= self._bits[self._codes[word]]
        return bits

    def _commonness(self, bits: int) -> int:
        if bits not in self._weight_of_bits:
            self._weight_of_bits[bits] = sum(weight for bit, weight in self._weights.items() if bit & bits)
        return self._weight_of_bits[bits]

    @cached_property
    def _weight_of_bits(self) -> dict[int, int]:
        return {}

    @cached_property
    def _weights(self) -> Mapping[int, int]:
        """How common the words of each character are, by its bit."""
        weights: dict[int, int] = {}
        for word, code in self._codes.items():
            bit = self._bits[code]
            weights[bit] = weights.get(bit, 0) + (_COMMON_COUNTS if word in self._common else 1)
        return weights

    @cached_property
    def _common(self) -> frozenset[str]:
        return frozenset(self.record["common"]["words"].split())

    @cached_property
    def _bits(self) -> Mapping[str, int]:
        return {code: 1 << number for number, code in enumerate(sorted(set(self._codes.values())))}

    @cached_property
    def _kinds(self) -> Mapping[str, frozenset[str]]:
        kinds = {name: frozenset(words.split()) for name, words in self.record["words"].items()}
        reports = self.record["reports"]
        kinds |= {word: frozenset({word}) for word in ("if", "when", "a", "an", "some")}
        kinds |= {"WHO": frozenset(reports["who"].split()), "SAYS": frozenset(reports["says"].split())}
        return kinds | {word: frozenset({word}) for word in self._literals()}

    def _literals(self) -> Iterator[str]:
        for part in ("shapes", "families", "followers", "primed"):
            for rules in self.record[part].values():
                for rule in rules:
                    yield from re.findall(r"(?<![\w'~])[a-z0-9']+", rule)

    @cached_property
    def _codes(self) -> Mapping[str, str]:
        """One character for each set of kinds that some word is all of."""
        of_word: dict[str, set[str]] = {}
        for kind, words in self._kinds.items():
            for word in words:
                of_word.setdefault(word, set()).add(kind)
        sets = sorted({tuple(sorted(kinds)) for kinds in of_word.values()})
        code = {kinds: chr(_FIRST_CODE + number) for number, kinds in enumerate(sets)}
        codes = {word: code[tuple(sorted(kinds))] for word, kinds in of_word.items()}
        return codes | dict.fromkeys((".", "!", "?", "...", "..", "?!", "!?", "!!", "!!!", "??", "\n\n"), END)

    def _either(self, rules: Iterable[str]) -> str:
        return f"(?:{'|'.join(map(self._rule, rules))})"

    def _rule(self, rule: str) -> str:
        pattern, gap = "", ""
        for part in rule.split():
            if part == "^":
                pattern += "(?<![^.])"
            elif part == "$":
                pattern += r"(?![^.])"
            elif part.startswith("~"):
                gap = f"[^.]{{0,{part[1:]}}}?"
            elif part.startswith("!"):
                pattern += f"(?<!{self._group(part[1:])})"
            elif part.endswith("!"):
                pattern, gap = f"{pattern}(?!{gap}{self._group(part[:-1])})", ""
            elif part.endswith("?"):
                pattern, gap = f"{pattern}(?:{gap}{self._group(part[:-1])})?{gap}", ""
            else:
                pattern, gap = f"{pattern}{gap}{self._group(part)}", ""
        return pattern

    def _group(self, part: str) -> str:
        names = part.split("|")
        shapes = [
            self._either(self.record["shapes"][name]) for name in names if name in self.record["shapes"]
        ]
        kinds = [name for name in names if name not in self.record["shapes"]]
        codes = {self._codes[word] for name in kinds for word in self._kinds[name]}
        either = [*shapes, *([f"[{''.join(sorted(codes))}]"] if codes else [])]
        return either[0] if len(either) == 1 else f"(?:{'|'.join(either)})"


_SENTENCE = re.compile(r"[^\n.!?。！？]++[.!?。！？]*+")
_BEGINNING = 5


def foreign(unquoted: str, tokens: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The sentences of a text that say to ignore the rules, or what this answer is to be."""
    if unquoted.isascii() and _beginnings().isdisjoint([token[:_BEGINNING] for token in tokens]):
        return
    likely = [language for language in _languages() if language.possible(unquoted)]
    if not likely:
        return
    for match in _SENTENCE.finditer(unquoted):
        if any(language.fits(match[0]) for language in likely):
            yield match.span()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    ignore: tuple[str, ...]
    rules: tuple[str, ...]
    answer: tuple[str, ...]
    best: tuple[str, ...]
    text: tuple[str, ...]
    win: tuple[str, ...]
    judge: tuple[str, ...]
    must: tuple[str, ...]

    def possible(self, text: str) -> bool:
        return any(_any(words, text) for words in (self.rules, self.answer, self.text))

    def fits(self, sentence: str) -> bool:
        if _any(self.rules, sentence) and _any(self.ignore, sentence):
            return True
        answer = _any(self.answer, sentence)
        if answer and (_any(self.best, sentence) or _any(self.win, sentence)):
            return True
        text = _any(self.text, sentence)
        if text and _any(self.win, sentence):
            return True
        return (answer or text) and _any(self.judge, sentence) and _any(self.must, sentence)


def _any(words: Sequence[str], text: str) -> bool:
    return any(word in text for word in words)


@cache
def _languages() -> tuple[_Language, ...]:
    record = tomllib.loads((files("data.steering") / "languages.toml").read_text(encoding="utf-8"))
    return tuple(
        _Language(**{part: tuple(map(skeleton, words)) for part, words in lists.items()})
        for lists in record.values()
    )


@cache
def _beginnings() -> frozenset[str]:
    """What the longest word of some phrase begins with, of those that make a language possible."""
    phrases = [
        phrase for language in _languages() for phrase in (*language.rules, *language.answer, *language.text)
    ]
    return frozenset(max(phrase.split(), key=len)[:_BEGINNING] for phrase in phrases)
