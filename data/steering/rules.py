"""Rules of `patterns.toml`, phrases of `languages.toml`, and the visible form of a text."""

import html
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, reduce
from importlib.resources import files
from itertools import chain
from operator import or_
from typing import Any

_CACHE_SIZE = 4096


# Nested escapes are one match: `&amp;amp;lt;` and `%253c`.
_ESCAPE = re.compile(
    r"&(?:amp;?)*+(?:#x0*+[0-9a-f]{1,6}|#0*+[0-9]{1,7}"
    r"|lt|gt|sol|bsol|vert|verbar|lsqb|lbrack|rsqb|rbrack|colon|lowbar|num|newline|tab|nbsp);?"
    r"|%(?:25)*+[2-7][0-9a-f]"
    r"|\\(?:u\{0*+[0-9a-f]{1,6}\}|u[0-9a-f]{4}|x[0-9a-f]{2})"
)
_AMPERSANDS = re.compile(r"&(?:amp;?)*+")
_PERCENTS = re.compile(r"%(?:25)*+")
_BREAKS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", "\n"))
_DROPPED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufeff\uffa0\ufe00-\ufe0f\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Visible form of a text; character i comes from `text[starts[i]:ends[i]]`."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of the skeleton to the text."""
        return (self.starts[start], self.ends[end - 1]) if start < end else (0, 0)


@lru_cache(maxsize=_CACHE_SIZE)
def skeleton_of(text: str) -> Skeleton:
    """Return the skeleton of a text."""
    lines = text.replace("\r\n", " \n").translate(_BREAKS)
    if lines.isascii():
        folded = Skeleton(lines.lower(), range(len(text)), range(1, len(text) + 1))
    else:
        plain = list(map(plain_of, lines))
        places = [place for place, letters in enumerate(plain) for _ in letters]
        folded = Skeleton("".join(plain), places, [place + 1 for place in places])
    # Escapes may be nested in other kinds.
    for _ in range(3):
        matches = list(_ESCAPE.finditer(folded.text))
        if not matches:
            break
        folded = _spliced(folded, matches)
    return folded


def skeleton(text: str) -> str:
    """Return the visible form of a text."""
    return skeleton_of(text).text


def _spliced(folded: Skeleton, matches: Sequence[re.Match[str]]) -> Skeleton:
    pieces: list[tuple[str, Sequence[int], Sequence[int]]] = []
    position = 0
    for match in matches:
        unchanged = slice(position, match.start())
        first, last = folded.span(match.start(), match.end())
        decoded, position = _meaning(match[0]), match.end()
        pieces.append((folded.text[unchanged], folded.starts[unchanged], folded.ends[unchanged]))
        pieces.append((decoded, [first] * len(decoded), [last] * len(decoded)))
    pieces.append((folded.text[position:], folded.starts[position:], folded.ends[position:]))
    texts, starts, ends = zip(*pieces, strict=True)
    return Skeleton("".join(texts), list(chain(*starts)), list(chain(*ends)))


@lru_cache(maxsize=_CACHE_SIZE)
def _meaning(escape: str) -> str:
    if escape[0] == "&":
        entity = _AMPERSANDS.sub("&", escape).removesuffix(";")
        character = html.unescape(f"{entity};".replace("&newline;", "&NewLine;").replace("&tab;", "&Tab;"))
    else:
        digits = re.sub(r"[^0-9a-f]", "", _PERCENTS.sub("", escape))
        code = int(digits or "0", 16)
        character = chr(code) if 0 < code <= 0x10FFFF else ""  # noqa: PLR2004 - the last code point
    return "".join(map(plain_of, character.translate(_BREAKS))) or " "


@lru_cache(maxsize=32_768)
def plain_of(character: str) -> str:
    """Return the visible form of a character, in lower-case ASCII if possible; empty if invisible."""
    if character.isascii():
        return character.lower()
    if _DROPPED.match(character):
        return ""
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", character))
    return "".join(_plain_letter(letter) for letter in folded if not unicodedata.combining(letter))


def _plain_letter(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    sign = "" if letter.isascii() else _sign(letter)
    if letter.isascii() or sign or digit is not None:
        return sign or (letter.lower() if letter.isascii() else str(digit))
    for form in (letter, letter.lower(), letter.upper()):
        look = look_of(form)
        if look.isascii():
            return "i" if look == "l" and unicodedata.name(letter, "").endswith("LETTER I") else look.lower()
    return letter.lower()


def _sign(letter: str) -> str:
    category, name = unicodedata.category(letter), unicodedata.name(letter, "")
    if letter in "«»" or (category[0] not in "PS" and name != "LATIN LETTER DENTAL CLICK"):
        return ""
    if "QUOTATION MARK" in name and "ANGLE" not in name:
        return letter if "DOUBLE" in name else "'"
    if "ANGLE BRACKET" in name or "ANGLE QUOTATION" in name or name in {"PRECEDES", "SUCCEEDS"}:
        return "<" if "LEFT" in name or name == "PRECEDES" else ">"
    if "SQUARE BRACKET" in name or "LENTICULAR BRACKET" in name:
        return "[" if "LEFT" in name else "]"
    if look_of(letter) == "l" or name in {"LIGHT VERTICAL BAR", "BROKEN BAR"}:
        return "|"
    return "_" if name in {"LOWER ONE EIGHTH BLOCK", "MODIFIER LETTER LOW MACRON"} else ""


def look_of(character: str) -> str:
    """Return the Latin letters, digits or signs that a character looks like, else the character."""
    from disarm import normalize_confusables  # noqa: PLC0415 - takes a while to load

    return normalize_confusables(character)


END, UNKNOWN = ".", "w"
_FIRST_CODE = 0xE000
_ENDS = (".", "!", "?", "...", "..", "?!", "!?", "!!", "!!!", "??", "\n\n")
_FOREIGN_SENTENCE = re.compile(r"[^\n.!?。！？]++[.!?。！？]*+")


@cache
def record(name: str) -> Mapping[str, Any]:
    """Read a TOML file of this folder."""
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


SIGNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(alternatives)) for name, alternatives in record("signs").items()
}
"""Patterns of `signs.toml`."""


@dataclass(frozen=True)
class Rule:
    """Pattern of word kinds for a family of attacks; `needs` has a bit for each kind that it requires."""

    family: str
    source: str
    needs: int

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled pattern; lazy, since compiling all takes seconds and most texts need few."""
        return re.compile(self.source)


class Grammar:
    """Kinds of words, shapes and rules of `patterns.toml`.

    Attributes:
        codes: Characters by word; other words are `UNKNOWN`.
        primed: Pattern of attacks in a paragraph with a chat token.
    """

    def __init__(self) -> None:
        self._record = record("patterns")
        self._shapes: dict[str, re.Pattern[str]] = {}
        kinds = {name: frozenset(words.split()) for name, words in self._record["words"].items()}
        kinds |= {name.upper(): frozenset(words.split()) for name, words in self._record["reports"].items()}
        kinds |= {word: frozenset({word}) for word in ("if", "when", "a", "an", "some", *self._literals())}
        self._kinds = kinds
        of_word: dict[str, set[str]] = {}
        for kind, words in kinds.items():
            for word in words:
                of_word.setdefault(word, set()).add(kind)
        # One character for each set of kinds of a word.
        sets = sorted({tuple(sorted(names)) for names in of_word.values()})
        code = {names: chr(_FIRST_CODE + number) for number, names in enumerate(sets)}
        self.codes: Mapping[str, str] = {
            **{word: code[tuple(sorted(names))] for word, names in of_word.items()},
            **dict.fromkeys(_ENDS, END),
        }
        # The rules of a shape may contain earlier shapes.
        for name, rules in self._record["shapes"].items():
            self._shapes[name] = re.compile(self._either(rules))
        families = self._record["families"].items()
        needs = {rule: [*self._needs(rule)] for _, rules in families for rule in rules}
        bits = {need: 1 << number for number, need in enumerate(set(chain(*needs.values())))}
        self._bits = Counter(dict.fromkeys(self._shapes, 0))
        for need, bit in bits.items():
            self._bits.update(dict.fromkeys(need, bit))
        self.rules = [
            Rule(family, self._compile(rule), sum(bits[need] for need in {*needs[rule]}))
            for family, rules in families
            for rule in rules
        ]
        self.primed = re.compile(self._either(self._record["primed"]["rules"]))
        says = self._group("SAYS")
        self._reported = re.compile(
            rf"(?P<addressed>{self._group('YOU')}[^.]{{0,4}})?(?:{self._group('WHO')}[^.]{{0,8}}?{says}[^.]{{0,14}}"
            rf"|{self._group('if|when')}{self._group('a|an|some')}[^.]{{0,3}}{says}[^.]{{0,4}})\Z"
        )

    @cached_property
    def weak(self) -> re.Pattern[str]:
        """Pattern of sentences that continue an attack in their paragraph."""
        return re.compile(self._either(self._record["followers"]["rules"]))

    def coded(self, tokens: Iterable[str]) -> str:
        """Encode words and ends of sentences as characters."""
        return "".join(self.codes.get(token, UNKNOWN if token[0].isalnum() else END) for token in tokens)

    def fitting(self, codes: str) -> list[Rule]:
        """Return the rules that fit somewhere in a coded text."""
        lacking = ~reduce(or_, (self._bits[code] for code in {*codes}), 0)
        at_most = lacking & ~reduce(or_, (self._bits[name] for name in self._shapes))
        possible = [rule for rule in self.rules if not rule.needs & at_most]
        lacking &= reduce(or_, (rule.needs for rule in possible), 0)
        for name, shape in self._shapes.items():
            if self._bits[name] & lacking and shape.search(codes):
                lacking &= ~self._bits[name]
        return [rule for rule in possible if not rule.needs & lacking and rule.pattern.search(codes)]

    def reports(self, codes: str, start: int, end: int) -> bool:
        """Return whether the text reports the words of others without addressing the reader."""
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
            if part[0] not in "^$~!" and part[-1] not in "?!":
                yield frozenset(self._codes_of(names)) | self._shapes.keys() & names

    def _codes_of(self, names: Iterable[str]) -> set[str]:
        return {self.codes[word] for name in names if name not in self._shapes for word in self._kinds[name]}

    def _either(self, rules: Iterable[str]) -> str:
        return f"(?:{'|'.join(map(self._compile, rules))})"

    def _compile(self, rule: str) -> str:
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
        either = [self._shapes[name].pattern for name in names if name in self._shapes]
        codes = self._codes_of(names)
        either += [f"[{''.join(sorted(codes))}]"] if codes else []
        return either[0] if len(either) == 1 else f"(?:{'|'.join(either)})"


@cache
def grammar() -> Grammar:
    """Return the cached grammar."""
    return Grammar()


@cache
def _languages() -> list[dict[str, list[str]]]:
    return [
        {part: list(map(skeleton, phrases)) for part, phrases in lists.items()}
        for lists in record("languages").values()
    ]


def foreign(unquoted: str) -> Iterator[tuple[int, int]]:
    """Yield sentences in other languages that ask to ignore the rules or rate the answer."""
    likely = [language for language in _languages() if _fits(language, unquoted)]
    for match in _FOREIGN_SENTENCE.finditer(unquoted) if likely else ():
        if any(_fits(language, match[0]) for language in likely):
            yield match.span()


def _fits(language: Mapping[str, list[str]], sentence: str) -> bool:
    def has(part: str) -> bool:
        return any(map(sentence.__contains__, language.get(part, ())))

    answer, text = has("answer"), has("text")
    return (
        (has("rules") and has("ignore"))
        or (answer and (has("best") or has("win")))
        or (text and has("win"))
        or ((answer or text) and (has("other") or (has("judge") and has("must"))))
        or (has("gone") and has("other"))
    )
