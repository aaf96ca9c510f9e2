"""Numbers of a text with what they measure or count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from judges.text.tokens import is_content, stem
from judges.text.words import NUMBER_WORDS, fold, unit_of

SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
SHORT_SCALES = {"bn": 1e9, "mn": 1e6, "k": 1e3, "m": 1e6}
WORDS = "|".join(sorted(set(NUMBER_WORDS) - {"one", "zero"}, key=len, reverse=True))
SCALE = "|".join(SCALES)
MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
NUMBER = re.compile(
    r"(?<![\w.])(?:(?<![^\s(\[=:~<>≈])(?P<sign>[-\u2212]|minus\s))?"
    r"(?P<currency>(?:US)?[$€£¥₹]\s?|(?:USD|EUR|GBP)\s)?"
    r"(?:(?P<digits>\d{1,3}(?:[,\u00a0\u202f'’]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)"
    rf"|(?P<word>(?:(?:one|a) (?:{SCALE})|{WORDS})\b(?:[-\s](?:{WORDS}|{SCALE})\b)*))"
    rf"(?:[\s-]?(?P<scale>{SCALE}|bn|mn)\b|(?<=\d)(?P<letter>[km])\b)?",
    re.IGNORECASE,
)
UNIT = re.compile(r"[\s\-\u00a0]?(?P<unit>%|°\s?[CF]\b|k?m/[sh]\b|[µμ]?[^\W\d_]+)")
DAY_BEFORE_MONTH = re.compile(rf"\s(?:of )?{MONTHS}\b", re.IGNORECASE)
DAY_AFTER_MONTH = re.compile(rf"\b{MONTHS}\s$", re.IGNORECASE)
ORDINAL = ("st", "nd", "rd", "th")
LONGEST_MONTH = 11
FIRST_YEAR, LAST_YEAR, LAST_DAY = 1000, 2100, 31
CACHED_TEXTS = 1 << 13


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a statement uses it.

    Attributes:
        value: In the base unit of its dimension.
        figure: The plain number, scale words applied.
        dimension: `length`, `share`, `money`, …; `year`, `day`; `count` where no unit is known.
        noun: For a count, the stem of the word it counts; else empty.
        text: As written.
        start: Where it begins in the folded text.
    """

    value: float
    figure: float
    dimension: str
    noun: str
    text: str
    start: int


@lru_cache(maxsize=CACHED_TEXTS)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in order; ordinals, marks in brackets and versions are left out."""
    return tuple(_quantity(text, match) for match in NUMBER.finditer(text) if _counts(text, match))


def _counts(text: str, match: re.Match[str]) -> bool:
    after = text[match.end() : match.end() + 2]
    if match["digits"] and (after.lower() in ORDINAL or re.match(r"\.\d", after)):
        return False
    return not (text[match.start() - 1 : match.start()] == "[" and after[:1] in {"]", ","})


def _quantity(text: str, match: re.Match[str]) -> Quantity:
    scale = (match["scale"] or match["letter"] or "").lower()
    figure = _plain(match) * (SCALES.get(scale) or SHORT_SCALES.get(scale, 1.0))
    figure = -figure if match["sign"] else figure
    start = match.start() if text.isascii() else len(fold(text[: match.start()]))
    following = UNIT.match(text, match.end())
    name = following["unit"] if following else ""
    unit = unit_of(name) if name else None
    written = text[match.start() : following.end() if following and unit else match.end()].strip()
    if match["currency"]:
        return Quantity(figure, figure, "money", "", written, start)
    if unit is not None:
        return Quantity(figure * unit[1], figure, unit[0], "", written, start)
    before = text[max(0, match.start() - LONGEST_MONTH) : match.start()]
    near_month = DAY_BEFORE_MONTH.match(text, match.end()) or DAY_AFTER_MONTH.search(before)
    if near_month and 0 < figure <= LAST_DAY:
        return Quantity(figure, figure, "day", "", written, start)
    if not scale and (match["digits"] or "").isdecimal() and FIRST_YEAR <= figure <= LAST_YEAR:
        return Quantity(figure, figure, "year", "", written, start)
    folded = fold(name)
    noun = stem(folded) if folded and is_content(folded) else ""
    return Quantity(figure, figure, "count", noun, written, start)


def _plain(match: re.Match[str]) -> float:
    if match["digits"]:
        return float(re.sub(r"[^\d.]", "", match["digits"]))
    total = current = 0.0
    for word in re.split(r"[-\s]+", match["word"].lower()):
        if word in {"a", "one"}:
            current += 1.0
        elif word not in SCALES:
            current += NUMBER_WORDS[word]
        elif word == "hundred":
            current = (current or 1.0) * SCALES[word]
        else:
            total, current = total + (current or 1.0) * SCALES[word], 0.0
    return total + current
