"""The rules of `steering.toml` as patterns over kinds of words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
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
    """One rule: its family, what writes its pattern, and of which words a sentence needs one each."""

    family: str
    write: Callable[[], str]
    needs: tuple[frozenset[str], ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern; compiling all of them takes seconds, and most texts have the words of few."""
        return re.compile(self.write())


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules, ready to search with.

    Attributes:
        codes: The character that stands for a word, by word; words without one are `UNKNOWN`.
        rules: Every rule.
        met: By character, in bits: the needs that it meets. The first need of every rule has the lowest bits,
            one a rule, the second the next, and so on.
        unneeded: The bits of needs that rules do not have.
        most_needs: How many needs a rule has at most.
        reported: What stands before a claim that somebody reports.
        weak: What follows an attack in its paragraph and belongs to it.
        primed: What belongs to an attack beside a chat token.
    """

    codes: Mapping[str, str]
    rules: tuple[Rule, ...]
    met: Mapping[str, int]
    unneeded: int
    most_needs: int
    reported: re.Pattern[str]
    weak: re.Pattern[str]
    primed: re.Pattern[str]

    def reports(self, codes: str, start: int, end: int) -> bool:
        """Whether what stands there reports what others say; not where it addresses the reader."""
        match = self.reported.search(codes, start, end)
        return match is not None and match["addressed"] is None

    def fitting(self, codes: str) -> list[Rule]:
        """The rules that fit somewhere; none reaches over the end of a sentence."""
        fits = 0
        for sentence in set(codes.split(END)):
            candidates = self._possible(sentence) & ~fits
            while candidates:
                lowest = candidates & -candidates
                if self.rules[lowest.bit_length() - 1].pattern.search(sentence):
                    fits |= lowest
                candidates ^= lowest
        return [rule for place, rule in enumerate(self.rules) if fits >> place & 1] if fits else []

    def _possible(self, sentence: str) -> int:
        """The rules all of whose needs a sentence has somewhere, which are few: a bit for each."""
        met = self.unneeded
        for code in set(sentence):
            met |= self.met.get(code, 0)
        possible, rules = (1 << len(self.rules)) - 1, len(self.rules)
        for _ in range(self.most_needs):
            possible &= met
            met >>= rules
        return possible


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
        most = max(len(rule.needs) for rule in compiled)
        met: dict[str, int] = {}
        unneeded = 0
        for place, rule in enumerate(compiled):
            for number in range(most):
                bit = 1 << (number * len(compiled) + place)
                if number >= len(rule.needs):
                    unneeded |= bit
                    continue
                for code in rule.needs[number]:
                    met[code] = met.get(code, 0) | bit
        return Rules(
            codes=self._codes,
            rules=compiled,
            met=met,
            unneeded=unneeded,
            most_needs=most,
            reported=re.compile(
                rf"(?P<addressed>{self._group('YOU')}[^.]{{0,4}})?"
                rf"(?:{self._group('WHO')}[^.]{{0,8}}?{self._group('SAYS')}[^.]{{0,14}}"
                rf"|{self._group('if|when')}{self._group('a|an|some')}[^.]{{0,3}}{self._group('SAYS')}[^.]{{0,4}})\Z"
            ),
            weak=re.compile(self._either(self.record["followers"]["rules"])),
            primed=re.compile(self._either(self.record["primed"]["rules"])),
        )

    def _compiled(self, family: str, rule: str) -> Rule:
        return Rule(family, partial(self._rule, rule), tuple(self._needs(rule)))

    def _needs(self, rule: str) -> Iterator[frozenset[str]]:
        """Of each part that must be there, the codes of its words; of a shape, those of its rarest parts."""
        for part in rule.split():
            if part[0] not in "^$~!" and part[-1] not in "?!":
                codes: set[str] = set()
                for name in part.split("|"):
                    codes |= self._shape_needs(name) if name in self.record["shapes"] else self._of_kind(name)
                yield frozenset(codes)

    def _shape_needs(self, name: str) -> set[str]:
        codes: set[str] = set()
        for rule in self.record["shapes"][name]:
            codes |= min(self._needs(rule), key=self._commonness)
        return codes

    def _of_kind(self, name: str) -> set[str]:
        return {self._codes[word] for word in self._kinds[name]}

    def _commonness(self, codes: AbstractSet[str]) -> int:
        return sum(self._weights[code] for code in codes)

    @cached_property
    def _weights(self) -> Mapping[str, int]:
        """How common the words of each character are."""
        weights: dict[str, int] = {}
        for word, code in self._codes.items():
            weights[code] = weights.get(code, 0) + (_COMMON_COUNTS if word in self._common else 1)
        return weights

    @cached_property
    def _common(self) -> frozenset[str]:
        return frozenset(self.record["common"]["words"].split())

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
_FOREIGN_LETTER = re.compile(r"[^\W\x00-\x7f]")
_BEGINNING = 5


def foreign(unquoted: str, tokens: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The sentences of a text that say to ignore the rules, or what this answer is to be."""
    languages: Iterable[_Language] = _languages()
    if not _FOREIGN_LETTER.search(unquoted):
        by_beginning, beginnings = _beginnings(), {token[:_BEGINNING] for token in tokens}
        languages = {known for found in beginnings & by_beginning.keys() for known in by_beginning[found]}
    likely = [language for language in languages if language.possible(unquoted)]
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
    return any(map(text.__contains__, words))


@cache
def _languages() -> tuple[_Language, ...]:
    record = tomllib.loads((files("data.steering") / "languages.toml").read_text(encoding="utf-8"))
    return tuple(
        _Language(**{part: tuple(map(skeleton, words)) for part, words in lists.items()})
        for lists in record.values()
    )


@cache
def _beginnings() -> Mapping[str, frozenset[_Language]]:
    """What the longest word of a phrase that makes a language possible begins with, and those languages."""
    found: dict[str, set[_Language]] = {}
    for language in _languages():
        for phrase in (*language.rules, *language.answer, *language.text):
            found.setdefault(max(phrase.split(), key=len)[:_BEGINNING], set()).add(language)
    return {beginning: frozenset(languages) for beginning, languages in found.items()}
