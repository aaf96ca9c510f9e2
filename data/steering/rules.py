"""The rules of `patterns.toml` as patterns over kinds of words, and the phrases of `languages.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from data.steering.skeletons import skeleton

END, UNKNOWN = ".", "w"
_FIRST_CODE = 0xE000
_ENDS = (".", "!", "?", "...", "..", "?!", "!?", "!!", "!!!", "??", "\n\n")
_FOREIGN_SENTENCE = re.compile(r"[^\n.!?。！？]++[.!?。！？]*+")


@cache
def record(name: str) -> Mapping[str, Any]:
    """A file of this folder."""
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


SIGNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(alternatives)) for name, alternatives in record("signs").items()
}
"""The patterns of `signs.toml`."""


@dataclass(frozen=True)
class Rule:
    """A pattern over kinds of words, of a family of attacks; a text needs one code of each of `needs`."""

    family: str
    written: str
    needs: tuple[frozenset[str], ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern; compiling all of them takes seconds, and most texts have the words of few."""
        return re.compile(self.written)


class Grammar:
    """Kinds of words, shapes and rules, as `patterns.toml` has them.

    Attributes:
        codes: The character that stands for a word, by word; words without one are `UNKNOWN`.
        rules: Every rule.
        weak: What follows an attack in its paragraph and belongs to it.
        primed: What belongs to an attack beside a chat token.
    """

    def __init__(self) -> None:
        self._record = record("patterns")
        self._shapes: Mapping[str, list[str]] = self._record["shapes"]
        kinds = {name: frozenset(words.split()) for name, words in self._record["words"].items()}
        kinds |= {name.upper(): frozenset(words.split()) for name, words in self._record["reports"].items()}
        kinds |= {word: frozenset({word}) for word in ("if", "when", "a", "an", "some", *self._literals())}
        self._kinds = kinds
        of_word: dict[str, set[str]] = {}
        for kind, words in kinds.items():
            for word in words:
                of_word.setdefault(word, set()).add(kind)
        # One character for each set of kinds that some word is all of.
        sets = sorted({tuple(sorted(names)) for names in of_word.values()})
        code = {names: chr(_FIRST_CODE + number) for number, names in enumerate(sets)}
        self.codes: Mapping[str, str] = {
            **{word: code[tuple(sorted(names))] for word, names in of_word.items()},
            **dict.fromkeys(_ENDS, END),
        }
        self.rules = [
            Rule(family, self._written(rule), tuple(self._needs(rule)))
            for family, rules in self._record["families"].items()
            for rule in rules
        ]
        self.weak = re.compile(self._either(self._record["followers"]["rules"]))
        self.primed = re.compile(self._either(self._record["primed"]["rules"]))
        says = self._group("SAYS")
        self._reported = re.compile(
            rf"(?P<addressed>{self._group('YOU')}[^.]{{0,4}})?(?:{self._group('WHO')}[^.]{{0,8}}?{says}[^.]{{0,14}}"
            rf"|{self._group('if|when')}{self._group('a|an|some')}[^.]{{0,3}}{says}[^.]{{0,4}})\Z"
        )

    def coded(self, tokens: Iterable[str]) -> str:
        """A character for each word and end of a sentence."""
        return "".join(self.codes.get(token, UNKNOWN if token[0].isalnum() else END) for token in tokens)

    def fitting(self, codes: str) -> list[Rule]:
        """The rules that fit somewhere in a coded text."""
        held = frozenset(codes)
        possible = (rule for rule in self.rules if not any(map(held.isdisjoint, rule.needs)))
        return [rule for rule in possible if rule.pattern.search(codes)]

    def reports(self, codes: str, start: int, end: int) -> bool:
        """Whether what stands there reports what others say; not where it addresses the reader."""
        match = self._reported.search(codes, start, end)
        return match is not None and match["addressed"] is None

    def _literals(self) -> Iterator[str]:
        for part in ("shapes", "families", "followers", "primed"):
            for rules in self._record[part].values():
                for rule in rules:
                    yield from re.findall(r"(?<![\w'~])[a-z0-9']+", rule)

    def _needs(self, rule: str) -> Iterator[frozenset[str]]:
        for part in rule.split():
            names = part.split("|")
            if part[0] not in "^$~!" and part[-1] not in "?!" and self._shapes.keys().isdisjoint(names):
                yield frozenset(self._codes_of(names))

    def _codes_of(self, names: Iterable[str]) -> set[str]:
        return {self.codes[word] for name in names for word in self._kinds[name]}

    def _either(self, rules: Iterable[str]) -> str:
        return f"(?:{'|'.join(map(self._written, rules))})"

    def _written(self, rule: str) -> str:
        pattern, gap = "", ""
        for part in rule.split():
            if part in "^$":
                pattern += "(?<![^.])" if part == "^" else r"(?![^.])"
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
        either = [self._either(self._shapes[name]) for name in names if name in self._shapes]
        codes = self._codes_of(name for name in names if name not in self._shapes)
        either += [f"[{''.join(sorted(codes))}]"] if codes else []
        return either[0] if len(either) == 1 else f"(?:{'|'.join(either)})"


@cache
def grammar() -> Grammar:
    """The grammar, read once."""
    return Grammar()


@cache
def _languages() -> list[dict[str, list[str]]]:
    return [
        {part: list(map(skeleton, phrases)) for part, phrases in lists.items()}
        for lists in record("languages").values()
    ]


def foreign(unquoted: str) -> Iterator[tuple[int, int]]:
    """Sentences in other languages that say to ignore the rules, or what this answer is to be."""
    likely = [
        language
        for language in _languages()
        if any(phrase in unquoted for part in ("rules", "answer", "text") for phrase in language[part])
    ]
    for match in _FOREIGN_SENTENCE.finditer(unquoted) if likely else ():
        if any(_fits(language, match[0]) for language in likely):
            yield match.span()


def _fits(language: Mapping[str, list[str]], sentence: str) -> bool:
    held = {part for part, phrases in language.items() if any(phrase in sentence for phrase in phrases)}
    return (
        held >= {"rules", "ignore"}
        or ("answer" in held and not held.isdisjoint({"best", "win"}))
        or held >= {"text", "win"}
        or (not held.isdisjoint({"answer", "text"}) and held >= {"judge", "must"})
    )
