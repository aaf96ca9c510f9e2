"""Find the numbers of a text with their units, and tell whether two of them say the same.

Only what is needed to notice that two statements give different figures for one thing: values in one
unit a dimension, years, percentages, money, and counts with the word they count. Signs, the case of units,
fractions, powers of ten and marks of thousands count.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from judges.text.folding import fold
from judges.text.numbers import NUMBER_WORDS, SCALES
from judges.text.tokens import is_content, stem
from judges.text.units import SCALES as LETTERS
from judges.text.units import Unit, unit_of

WORDS = "|".join(sorted(set(NUMBER_WORDS) - {"one", "zero"}, key=len, reverse=True))
SCALE = "|".join(SCALES)
TENS = "|".join(word for word, value in NUMBER_WORDS.items() if value >= 10 and value % 10 == 0)  # noqa: PLR2004 - ten is ten
TEENS = "|".join(word for word, value in NUMBER_WORDS.items() if 10 <= value <= 20)  # noqa: PLR2004 - as above
ONES = "|".join(word for word, value in NUMBER_WORDS.items() if 1 <= value <= 9)  # noqa: PLR2004 - as above
MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
HALVES = {"half": 0.5, "quarter": 0.25, "third": 1 / 3}
VULGAR = "½⅓⅔¼¾⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚"
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
FRACTION = re.compile(r"(?:(\d{1,4})\s)?(\d{1,2})\D{1,3}(\d{1,3})")
GAP = "[\u00a0\u202f\u2009]"
SPACED = (
    r" (?:k?m|kg|t|ha|people|inhabitants|kilomet\w+|met\w+|tonnes|euros|dollars|years"
    r"|miles|feet|times)\b| ?[€%]"
)
NUMBER = re.compile(
    # A sign stands before a number, not between two: "70-50" is a range.
    r"(?<![\w.])(?:(?<![^\s(\[=:~<>≈≤≥])(?P<sign>[-\u2212\u2013]|minus\s))?"
    r"(?P<currency>(?:US)?[$€£¥₹]\s?[-\u2212]?|(?:USD|EUR|GBP)\s)?"
    r"(?:(?P<year>(?:(?:\b(?:{TEENS}))[-\s](?:{TENS}|{TEENS})(?:[-\s](?:{ONES}))?\b))(?![-\s](?:{SCALE})\b)"
    r"|(?P<fraction>(?:\d{1,4}\s)?(?:1\s?[/\u2044]\s?(?:[2-9]|10|12|16|100)|2\s?[/\u2044]\s?[3579]"
    r"|3\s?[/\u2044]\s?[4578]"
    r"|4\s?[/\u2044]\s?[579]|5\s?[/\u2044]\s?[689]|7\s?[/\u2044]\s?8|9\s?[/\u2044]\s?10))(?![\d/\u2044]|\.\d)"
    r"|(?P<vulgar>\d{0,4}\s?[{VULGAR}])"
    r"|(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d|,\d)|\d{1,2}(?:,\d\d)+,\d{3}\b"
    r"|\d{1,3}(?:{GAP}\d{3})+(?:[.,]\d+)?\b|\d{1,3}(?: \d{3})+(?={SPACED})"
    r"|\d{1,3}(?:['\u2019]\d{3})+\b|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?\b|0,\d+\b|\d{1,3},\d{1,2}(?!\d|,\d)"
    r"|\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<word>(?:(?:one|a|half an?) (?:{SCALE})|{WORDS})\b(?:[-\s](?:{WORDS}|{SCALE})\b"
    r"|(?<=hundred|housand|million) and (?:one|{WORDS})\b(?:-(?:{ONES})\b)?(?!\s(?:{SCALE})\b))*))"
    "".replace("{TEENS}", TEENS)
    .replace("{TENS}", TENS)
    .replace("{ONES}", ONES)
    .replace("{WORDS}", WORDS)
    .replace("{SCALE}", SCALE)
    .replace("{VULGAR}", VULGAR)
    .replace("{GAP}", GAP)
    .replace("{SPACED}", SPACED),
    re.IGNORECASE,
)
SOME = re.compile(rf"[\d{VULGAR}]|\b(?:{WORDS}|{SCALE})\b")
POWER = re.compile(
    r"(?:\s?[×x*·⋅]\s?(?P<base>10)|(?P<e>(?<=\d)e))?(?(e)|(?:\s?(?:\^|\*\*)\s?\{?)?)"
    r"(?P<exponent>[-+\u2212]?\d{1,3}\b|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})\}?",
    re.IGNORECASE,
)
AND_HALF = re.compile(r"\sand (?:a|one)[-\s](half|quarter|third)\b", re.IGNORECASE)
SCALED = re.compile(rf"[\s-]?({SCALE})\b", re.IGNORECASE)
LETTER = re.compile(r"\s?(bn|mn|mln|mio|tn|trn|m|k|b|t)\b", re.IGNORECASE)
SURE_LETTERS = re.compile(r"\s?(?:bn|mn|mln|mio|tn|trn)\b|(?-i:k|M)\b", re.IGNORECASE)
COUNTED = re.compile(
    r"\s(?:people|persons|men|women|children|inhabitants|residents|users|customers|subscribers|voters"
    r"|workers|jobs"
    r"|refugees|deaths|cases|copies|barrels|dollars|euros|pounds|views|visitors|visits|followers|homes"
    r"|households"
    r"|patients|students|soldiers|species|tonnes|tons|years|viewers|downloads|words|tokens|citizens)\b",
    re.IGNORECASE,
)
RANGE = re.compile(r"\s?(?:to|and|or|-|–)\s?", re.IGNORECASE)
DAY_BEFORE_MONTH = re.compile(rf"\s(?:of )?(?:{MONTHS})\b", re.IGNORECASE)
DAY_AFTER_MONTH = re.compile(rf"\b(?:{MONTHS})\s$", re.IGNORECASE)
CITATION = re.compile(
    r"\([^()]{0,80}?\b(?:et al|[^\W\d_]{1,30},)[^()]{0,80}?\b(?:1[89]"
    r"|20)\d\d[a-z]?[^()]{0,80}\)",
    re.IGNORECASE,
)
UNIT = re.compile(
    r"[\s\-\u00a0]{0,2}(?:(?P<power>sq(?:uare|\.)?|cubic|cu\.?) )?"
    r"(?P<unit>degrees? (?P<scale>celsius|centigrade|fahrenheit|[CF]\b)|°\s?[CF]\b|%|°|[℃℉]|(?:k?m/[sh])\b"
    r"|[µμ]?[^\W\d_²³]+)"
    r"(?P<raised>\^?[23]\b|[²³])?(?:(?: per |/)(?P<per>hour|second|h\b|s\b))?",
    re.IGNORECASE,
)
LONGEST_MONTH = 11
FIRST_YEAR, LAST_YEAR, LAST_DAY = 1000, 2100, 31
LITRES, HOUR = 1000.0, 3600.0
MOST_EXPONENT = 100
CACHED_TEXTS = 1 << 13
CACHED_WORDS = 1 << 15


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a statement uses it.

    Attributes:
        value: In the base unit of its dimension.
        figure: The plain number, scale words applied.
        dimension: `length`, `time`, `share`, …; `year` for years; `count` where no unit is known.
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
    """Return the quantities of a text in order; ordinals, citations and version numbers are left out."""
    if not SOME.search(text.lower()):
        return ()
    if "(" in text:
        text = CITATION.sub(lambda cited: " " * len(cited[0]), text)
    found, end = list[Quantity](), 0
    for match in NUMBER.finditer(text):
        # What the one before has taken in, as the exponent of 10^8, is no number of its own.
        if match.start() < end or not _counts(text, match):
            continue
        quantity, end = _quantity(text, match)
        found.append(quantity)
    return tuple(found)


@lru_cache(maxsize=CACHED_WORDS)
def is_unit(word: str) -> bool:
    """Whether a folded word is a unit of measure that is spelt out or has two letters at least."""
    return len(word) > 1 and unit_of(word) is not None


def _counts(text: str, match: re.Match[str]) -> bool:
    """Whether a match is a number in its own right: no ordinal, citation or part of a name."""
    after = text[match.end() : match.end() + 2]
    if match["digits"] and (after.lower() in {"st", "nd", "rd", "th"} or re.match(r"\.\d", after)):
        return False
    return not (text[match.start() - 1 : match.start()] == "[" and after[:1] in {"]", ","})


def _quantity(text: str, match: re.Match[str]) -> tuple[Quantity, int]:
    """What a number says, and where that ends."""
    value, end, scale = _value(text, match)
    plain = scale == 1.0
    unit, shown_to = _unit(text, end)
    upper = NUMBER.match(text, between.end()) if (between := RANGE.match(text, end)) else None
    taken = shown_to
    if upper and unit is None:
        _, upper_end, scale = _value(text, upper)
        value *= scale if value < scale else 1.0
        unit, _ = _unit(text, upper_end)
        end = upper_end
    written = text[match.start() : shown_to].strip()
    start = match.start() if text.isascii() else len(fold(text[: match.start()]))
    if match["currency"]:
        return Quantity(value, value, "money", "", written, start), taken
    if unit:
        dimension, factor, zero = unit
        return Quantity((value - zero) * factor, value, dimension, "", written, start), taken
    return Quantity(
        value, value, *_unmeasured(text, match, value if plain else math.inf, end), written, start
    ), taken


def _value(text: str, match: re.Match[str]) -> tuple[float, int, float]:
    """The value of a number with sign, power of ten and scale, where that ends, and the scale."""
    value, end = _plain(match), match.end()
    if match["digits"] and (power := POWER.match(text, end)) and _is_power(match["digits"], power):
        exponent = int(power["exponent"].translate(RAISED))
        if abs(exponent) <= MOST_EXPONENT:
            raised = 10.0**exponent
            value, end = (value * raised if power["base"] or power["e"] else raised), power.end()
    if half := AND_HALF.match(text, end):
        value, end = value + HALVES[half[1].lower()], half.end()
    scale = 1.0
    if scaled := SCALED.match(text, end):
        scale, end = SCALES[scaled[1].lower()], scaled.end()
    elif match["digits"] and (letter := LETTER.match(text, end)) and _is_scale(text, match, letter):
        scale, end = LETTERS[letter[1].lower()], letter.end()
    return _sign(text, match) * value * scale, end, scale


def _plain(match: re.Match[str]) -> float:
    """The number itself, without sign and scale."""
    if match["word"]:
        return _worded(match["word"].lower().removeprefix("one ").removeprefix("a "))
    if match["year"]:
        century, *rest = re.split(r"[-\s]", match["year"].lower())
        return 100 * NUMBER_WORDS[century] + sum(NUMBER_WORDS[word] for word in rest)
    if match["vulgar"]:
        return float(match["vulgar"][:-1].strip() or 0) + unicodedata.numeric(match["vulgar"][-1])
    if match["fraction"]:
        whole, above, below = re.fullmatch(
            r"(?:(\d{1,4})\s)?(\d{1,2})\D{1,3}(\d{1,3})", match["fraction"]
        ).groups()  # type: ignore[union-attr]  # what `fraction` matched, this does
        return float(whole or 0) + float(above) / float(below)
    return _decimal(match["digits"])


def _decimal(written: str) -> float:
    """A number in digits; a comma before one or two last digits, or after a nought, is a decimal one."""
    written = re.sub(rf"(?<=\d)(?:{GAP}|[ '\u2019])(?=\d)", "", written)
    if written.count(".") > 1:
        written = written.replace(".", "")
    if re.fullmatch(r"0,\d+|\d{1,3},\d{1,2}", written):
        written = written.replace(",", ".")
    return float(written.replace(",", ""))


def _is_power(digits: str, power: re.Match[str]) -> bool:
    """Whether what follows makes a number a power of ten: `3 × 10^8`, `10⁸`, `6e23`, not `5²` or `10 2`."""
    if power["e"]:
        return True
    marked = power[0].strip()[:1] in {"^", "*"} or power["exponent"][0] in "⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹"
    if power["base"]:
        rest = power[0][power.end("base") - power.start() :]
        return rest[:1] in {"^", "*"} or rest.strip()[:1] in set("^*⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹")
    return marked and digits == "10"


def _is_scale(text: str, match: re.Match[str], letter: re.Match[str]) -> bool:
    """Whether a letter after a number multiplies it: after a currency, before what is counted or alone."""
    return bool(
        match["currency"] or SURE_LETTERS.match(text, letter.start()) or COUNTED.match(text, letter.end())
    )


def _sign(text: str, match: re.Match[str]) -> float:
    if match["currency"] and match["currency"][-1] in "-\u2212":
        return -1.0
    return -1.0 if match["sign"] and not text[: match.start()].rstrip()[-1:].isdigit() else 1.0


def _unit(text: str, at: int) -> tuple[Unit | None, int]:
    """The known unit that begins at a place, and where it ends."""
    match = UNIT.match(text, at)
    if match is None:
        return None, at
    name = match["unit"].replace(" ", "") if match["unit"][0] == "°" else match["unit"]
    if name == "s" and match.end("unit") == at + 1 and text[at - 1 : at] == "0":
        return None, at
    if match["scale"]:
        name = {"c": "celsius", "f": "fahrenheit"}.get(match["scale"].lower(), match["scale"])
    if name[0] == "°" and len(name) > 1:
        name = name.upper()
    unit = unit_of(name)
    if unit is None or unit[0] != "length":
        return unit, at if unit is None else match.end("unit")
    return _derived(unit, match)


def _derived(unit: Unit, match: re.Match[str]) -> tuple[Unit, int]:
    """A length as it is, squared (an area), cubed (a volume) or in a time (a speed), and where it ends."""
    _, factor, _ = unit
    prefix, raised = (match["power"] or "").lower(), (match["raised"] or "")[-1:]
    end = max(match.end("unit"), match.end("raised"))
    if prefix.startswith("sq") or raised in {"2", "²"}:
        return ("area", factor**2, 0.0), end
    if prefix or raised:
        return ("volume", factor**3 * LITRES, 0.0), end
    if match["per"]:
        return ("speed", factor / (HOUR if match["per"][0].lower() == "h" else 1.0), 0.0), match.end()
    return unit, end


def _unmeasured(text: str, match: re.Match[str], value: float, end: int) -> tuple[str, str]:
    """The dimension of a number without a unit, and the stem of what it counts."""
    near_month = DAY_BEFORE_MONTH.match(text, match.end()) or DAY_AFTER_MONTH.search(
        text[max(0, match.start() - LONGEST_MONTH) : match.start()]
    )
    if near_month and 0 < value <= LAST_DAY:
        return "day of a month", ""
    written = match["year"] or match["digits"]
    if (
        written
        and value.is_integer()
        and FIRST_YEAR <= value <= LAST_YEAR
        and len(written.strip()) != len("1,000")
    ):
        return "year", ""
    following = UNIT.match(text, end)
    name = fold(following["unit"]) if following else ""
    return "count", stem(name) if name and is_content(name) else ""


def _worded(text: str) -> float:
    """The value of a number written in words: `two hundred`, `forty-five`."""
    total = current = 0.0
    for word in re.split(r"[-\s]+", text):
        if word in {"and", "a", "an"}:
            continue
        if word not in SCALES:
            current += NUMBER_WORDS[word]
        elif word == "hundred":
            current = (current or 1.0) * SCALES[word]
        else:
            total, current = total + (current or 1.0) * SCALES[word], 0.0
    return total + current
