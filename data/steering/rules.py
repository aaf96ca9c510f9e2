"""The rules of `steering.toml` as patterns over kinds of words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from importlib.resources import files
from itertools import repeat
from operator import or_
from typing import Any

from data.steering.skeletons import skeleton

END, UNKNOWN = ".", "w"
_FIRST_CODE = 0xE000


@dataclass(frozen=True)
class Rule:
    """A pattern over kinds of words, of a family of attacks or of the shapes that it is one form of."""

    names: tuple[str, ...]
    write: Callable[[], str]
    needs: tuple[frozenset[str], ...]
    """Codes and shapes, of which a text needs one each."""
    order: tuple[frozenset[str], ...]
    """Codes, of which a sentence needs one each in this order."""

    @property
    def family(self) -> str:
        """The family of a rule that is no form of a shape."""
        return self.names[0]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern; compiling all of them takes seconds, and most texts have the words of few."""
        return re.compile(self.write())

    def fits(self, codes: str) -> bool:
        """Whether it fits somewhere in a text; it never reaches over the end of a sentence."""
        return any(map(self._is_ordered, codes.split(END))) and self.pattern.search(codes) is not None

    def _is_ordered(self, sentence: str) -> bool:
        codes = iter(sentence)
        return all(any(code in need for code in codes) for need in self.order)


@dataclass(frozen=True, slots=True)
class _Table:
    """Rules, by what they need.

    Attributes:
        rules: Every rule.
        rounds: How many needs a rule has at most.
        met: By code or shape, in bits: the needs that it meets. The first need of every rule has the lowest
            bits, one a rule, the second the next, and so on.
        unneeded: The bits of needs that rules do not have.
    """

    rules: tuple[Rule, ...]
    rounds: int
    met: Mapping[str, int]
    unneeded: int

    @classmethod
    def of(cls, rules: Sequence[Rule]) -> _Table:
        rounds = max(len(rule.needs) for rule in rules)
        met: dict[str, int] = {}
        unneeded = 0
        for place, rule in enumerate(rules):
            for number in range(rounds):
                bit = 1 << (number * len(rules) + place)
                if number >= len(rule.needs):
                    unneeded |= bit
                    continue
                for name in rule.needs[number]:
                    met[name] = met.get(name, 0) | bit
        return cls(tuple(rules), rounds, met, unneeded)

    def possible(self, held: AbstractSet[str]) -> Iterator[Rule]:
        """The rules all of whose needs are held, which are few."""
        met = reduce(or_, map(self.met.get, held, repeat(0)), self.unneeded)
        possible = (1 << len(self.rules)) - 1
        for _ in range(self.rounds):
            possible &= met
            met >>= len(self.rules)
        while possible:
            lowest = possible & -possible
            yield self.rules[lowest.bit_length() - 1]
            possible ^= lowest


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules, ready to search with.

    Attributes:
        codes: The character that stands for a word, by word; words without one are `UNKNOWN`.
        shapes: The forms of shapes.
        rules: Every rule.
        reported: What stands before a claim that somebody reports.
        weak: What follows an attack in its paragraph and belongs to it.
        primed: What belongs to an attack beside a chat token.
    """

    codes: Mapping[str, str]
    shapes: _Table
    rules: _Table
    reported: re.Pattern[str]
    weak: re.Pattern[str]
    primed: re.Pattern[str]

    def reports(self, codes: str, start: int, end: int) -> bool:
        """Whether what stands there reports what others say; not where it addresses the reader."""
        match = self.reported.search(codes, start, end)
        return match is not None and match["addressed"] is None

    def fitting(self, tokens: Callable[[], Iterable[str]], words: Iterable[str]) -> list[Rule]:
        """The rules that fit somewhere.

        Args:
            tokens: Gives a text's words and ends of sentences, which few texts are read for.
            words: Each of the words once.
        """
        held = set(map(self.codes.get, words, repeat(UNKNOWN)))
        forms = list(self.shapes.possible(held))
        if not any(self.rules.possible(held.union(*(form.names for form in forms)))):
            return []
        codes = self.coded(tokens())
        shapes = [form.names for form in forms if form.fits(codes)]
        return [rule for rule in self.rules.possible(held.union(*shapes)) if rule.fits(codes)]

    def coded(self, tokens: Iterable[str]) -> str:
        """A character for each word and end of a sentence."""
        return "".join(map(self.codes.get, tokens, repeat(UNKNOWN)))


@dataclass(frozen=True)
class Grammar:
    """Kinds of words, shapes and rules, as `steering.toml` has them."""

    record: Mapping[str, Mapping[str, Any]]

    def rules(self) -> Rules:
        """Read the rules; each is compiled when a text first makes it possible."""
        return Rules(
            codes=self._codes,
            shapes=_Table.of([self._form(rule, names) for rule, names in self._forms().items()]),
            rules=_Table.of(
                [
                    Rule((family,), partial(self._rule, rule), tuple(self._needs(rule)), self._order(rule))
                    for family, rules in self.record["families"].items()
                    for rule in rules
                ]
            ),
            reported=re.compile(
                rf"(?P<addressed>{self._group('YOU')}[^.]{{0,4}})?"
                rf"(?:{self._group('WHO')}[^.]{{0,8}}?{self._group('SAYS')}[^.]{{0,14}}"
                rf"|{self._group('if|when')}{self._group('a|an|some')}[^.]{{0,3}}{self._group('SAYS')}[^.]{{0,4}})\Z"
            ),
            weak=re.compile(self._either(self.record["followers"]["rules"])),
            primed=re.compile(self._either(self.record["primed"]["rules"])),
        )

    def _forms(self) -> Mapping[str, tuple[str, ...]]:
        """Every form of a shape, with all shapes that it is one of; a shape there stands for its forms."""
        shapes_of: dict[str, tuple[str, ...]] = {}
        for shape, forms in self.record["shapes"].items():
            waiting = [*forms]
            while waiting:
                form = waiting.pop()
                if form in self.record["shapes"]:
                    waiting += self.record["shapes"][form]
                else:
                    shapes_of[form] = (*shapes_of.get(form, ()), shape)
        return shapes_of

    def _form(self, rule: str, shapes: tuple[str, ...]) -> Rule:
        # Which shapes a text has is found by these forms, so that none can be needed of it before.
        order = self._order(rule)
        return Rule(shapes, partial(self._rule, rule), order, order)

    def _order(self, rule: str) -> tuple[frozenset[str], ...]:
        return tuple(need for need in self._needs(rule) if need.isdisjoint(self.record["shapes"]))

    def _needs(self, rule: str) -> Iterator[frozenset[str]]:
        """Of each part that must be there, its shapes and the codes of its words."""
        for part in rule.split():
            if part[0] not in "^$~!" and part[-1] not in "?!":
                names = set(part.split("|"))
                shapes = names & self.record["shapes"].keys()
                yield frozenset(shapes.union(*map(self._of_kind, names - shapes)))

    def _of_kind(self, name: str) -> set[str]:
        return {self._codes[word] for word in self._kinds[name]}

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
_REMEMBERED = 50_000


def foreign(unquoted: str, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The sentences of a text that say to ignore the rules, or what this answer is to be."""
    languages: Iterable[_Language] = _languages()
    if unquoted.isascii() or not _FOREIGN_LETTER.search(unquoted):
        languages = set[_Language]().union(*filter(None, map(_begun().__getitem__, words)))
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
    record = tomllib.loads((files(__package__) / "languages.toml").read_text(encoding="utf-8"))
    return tuple(
        _Language(**{part: tuple(map(skeleton, words)) for part, words in lists.items()})
        for lists in record.values()
    )


class _Begun(dict[str, frozenset[_Language]]):
    """The languages that a word makes possible by its beginning, remembered by word.

    A phrase of theirs is known by the beginning of its longest word.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, frozenset[_Language]] = {}
        for language in _languages():
            for phrase in (*language.rules, *language.answer, *language.text):
                beginning = max(phrase.split(), key=len)[:_BEGINNING]
                self._known[beginning] = self._known.get(beginning, frozenset()) | {language}

    def __missing__(self, word: str) -> frozenset[_Language]:
        if len(self) > _REMEMBERED:
            self.clear()
        found = self[word] = self._known.get(word[:_BEGINNING], frozenset())
        return found


@cache
def _begun() -> _Begun:
    return _Begun()
