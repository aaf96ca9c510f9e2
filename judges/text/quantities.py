"""Numbers, units, dates and times of texts, also as terms."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from data.citations import FIRST_YEAR, LAST_YEAR
from data.declines import fold
from judges.text.languages import DECIMAL_POINT, ENGLISH, LISTS, NUMBER_WORDS, unit_of

CACHED_SENTENCES = 1 << 10
MAX_WHOLE = 100
PARTS = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
"""Names of fractions, from halves on."""
COUNTS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PARTED = (*PARTS[1:], "fourth", "/", "\u2044")
"""Quick check: a folded text without any of these has no fraction."""
MILLIONS = re.compile(
    r"(?<=\d)\s?(?:M|[Mm](?:io\b\.?|illion(?:en|s)|illones|ilion[ei]|iljoen|ilh\w+))(?![\w/])"
)
BILLIONS = re.compile(r"(?<=\d)\s?[Mm](?:rd\b\.?|il[jl]?i?ard\w{0,2})(?![\w/])")
FRACTION = re.compile(
    r"(?<![\w./,-])(?:(?P<whole>\d{1,4}) )?(?P<over>[1-9])[/\u2044](?P<under>[2-9]|10)(?![\w/\u2044]|[.,]\d)"
    rf"|\b(?P<count>{'|'.join(COUNTS[2:])})[- ](?P<parts>{'|'.join(PARTS[1:])}|fourth)s\b"
    rf"|\b(?P<one>one-|(?:an?|one) (?=\w+(?: of\b|\W?$)))(?P<part>{'|'.join(PARTS[1:])}|fourth)\b",
    re.IGNORECASE,
)
VULGAR = re.compile("[\u00bc-\u00be\u2150-\u215e]")


def plain_figures(text: str) -> str:
    """Normalise figures: "5 M" to "5 million", "two-thirds" and "2/3" to 0.667."""
    if not text.isascii():
        text = VULGAR.sub(lambda match: f" {unicodedata.normalize('NFKD', match[0])}", text)
    if "M" in text or "mi" in text or "mr" in text:
        text = BILLIONS.sub(" billion", MILLIONS.sub(" million", text))
    folded = text.casefold()
    return FRACTION.sub(_decimal, text) if any(map(folded.__contains__, PARTED)) else text


def _decimal(match: re.Match[str]) -> str:
    if match["over"]:
        over, under = int(match["over"]), int(match["under"])
        value = int(match["whole"] or 0) + over / under
        return f"{value:.3g}" if over < under and value < MAX_WHOLE else match[0]
    name = (match["parts"] or match["part"]).lower().replace("fourth", "quarter")
    over = COUNTS.index(match["count"].lower()) if match["count"] else 1
    return f"{over / (PARTS.index(name) + 2):.3g}"


SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
SHORT_SCALES = {"bn": 1e9, "mn": 1e6, "k": 1e3, "m": 1e6}
WORDS = "|".join(sorted(set(NUMBER_WORDS) - {"one", "zero"}, key=len, reverse=True))
SCALE = "|".join(SCALES)
ORDINALS = LISTS["ordinals"].split()
"""Ordinals from fourth on."""
ORDINAL_WORDS = "|".join(ORDINALS)
MONTH = "month"
MONTH_STARTS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
NUMBER = re.compile(
    r"(?<![\w.])(?:(?<![^\s(\[=:~<>≈])(?P<sign>[-\u2212]|minus\s))?"
    r"(?P<currency>(?:US)?[$€£¥₹]\s?|(?:USD|EUR|GBP)\s)?"
    r"(?:(?P<digits>\d{1,3}(?:[, \u00a0\u202f'’]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    r"(?:(?:\s?[×·x*]\s?10(?:\s?\^\s?|(?=[⁻⁰-⁹¹²³]))|(?<=\b10)(?P<bare>\^)|e)"
    r"(?P<power>[-+\u2212⁻]?[\d⁰-⁹¹²³]{1,2})(?!\w))?"
    rf"|(?P<word>(?:(?:one|a) (?:{SCALE})|{WORDS})\b(?:[-\s](?:{WORDS}|{SCALE})\b)*))"
    rf"(?:[\s-]?(?P<scale>{SCALE}|bn|mn)\b|(?<=\d)(?P<letter>[km])\b)?",
    re.IGNORECASE,
)
UNIT = re.compile(
    r"[\s\-\u00a0]?(?P<unit>%|per cent\b|°\s?[CF]\b|degrees? (?:celsius|fahrenheit)\b|k?m/[sh]\b"
    r"|(?:(?:kilo)?met(?:er|re)s?|miles?) per (?:second|hour)\b|(?!(?<=\d)s\b)[µμ]?[^\W\d_]+)",
    re.IGNORECASE,
)
DAY_BEFORE_MONTH = re.compile(rf"\s(?:of )?{MONTHS}\b", re.IGNORECASE)
DAY_AFTER_MONTH = re.compile(rf"\b{MONTHS}\s$", re.IGNORECASE)
ORDINAL = ("st", "nd", "rd", "th")
MAX_MONTH_LENGTH = 11
LAST_DAY = 31
PLAIN = frozenset({"count", "day", "money", "year"})
"""Dimensions of figures without a unit of measure."""
MARK = "\x02"
"""Encloses a figure with its unit, which is one term."""
COUNTING = frozenset({*NUMBER_WORDS, *SCALES, *ORDINALS}) - {"one", "zero"}
"""Words of figures: a text without digits or these has none."""
_ORDINAL = re.compile(rf"\b({ORDINAL_WORDS})\b", re.IGNORECASE)
_ISO = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)\b")
_DATE = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s(?:of )?({MONTHS})\b\.?|\b({MONTHS})\.?\s(\d{{1,4}})(?:st|nd|rd|th)?\b",
    re.IGNORECASE,
)
_COMMAS = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+)(?!\d|[.,]\d)")
_SWAPPED = str.maketrans(".,", ",.")


class Quantity(NamedTuple):
    """A number as a statement uses it.

    Attributes:
        dimension: `length`, `share`, `money`, …; `year`, `day`; `count` without a known unit.
    """

    value: float
    figure: float
    dimension: str
    noun: str
    text: str
    start: int


@lru_cache(maxsize=CACHED_SENTENCES)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in order, without ordinals, citation marks and versions."""
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
    name = following["unit"].replace(" ", "") if following else ""
    unit = unit_of(name) if name else None
    wording = text[match.start() : following.end() if following and unit else match.end()].strip()
    if match["currency"]:
        return Quantity(figure, figure, "money", "", wording, start)
    if unit is not None:
        return Quantity(figure * unit[1], figure, unit[0], "", wording, start)
    before = text[max(0, match.start() - MAX_MONTH_LENGTH) : match.start()]
    near_month = DAY_BEFORE_MONTH.match(text, match.end()) or DAY_AFTER_MONTH.search(before)
    if near_month and 0 < figure <= LAST_DAY:
        return Quantity(figure, figure, "day", "", wording, start)
    plain = not scale and not match["power"] and (match["digits"] or "").isdecimal()
    if plain and FIRST_YEAR <= figure <= LAST_YEAR:
        return Quantity(figure, figure, "year", "", wording, start)
    return Quantity(figure, figure, "count", fold(name), wording, start)


def _plain(match: re.Match[str]) -> float:
    if match["digits"]:
        figure = float(re.sub(r"[^\d.]", "", match["digits"]))
        power = unicodedata.normalize("NFKC", match["power"] or "0").replace("\u2212", "-")
        return figure * 10.0 ** (int(power) - bool(match["bare"]))
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


def with_terms(text: str, code: str = ENGLISH) -> str:
    """Replace figures with a scale or unit, months of dates and times of day by terms between marks."""
    if code not in DECIMAL_POINT:
        text = _COMMAS.sub(lambda match: match[0].translate(_SWAPPED), text)
    text = plain_figures(text)
    if code == ENGLISH:
        text = _ORDINAL.sub(lambda match: f"{ORDINALS.index(match[1].lower()) + 4}th", text)
        text = _DATE.sub(
            _date,
            _ISO.sub(lambda match: f"{int(match[3])} {MONTH_STARTS[int(match[2]) - 1]} {match[1]}", text),
        )
    parts, at = [], 0
    for match in NUMBER.finditer(text):
        if _counts(text, match) and (match["digits"] or code == ENGLISH):
            quantity = _quantity(text, match)
            end = match.start() + len(quantity.text)
            if not text[end : end + 1].isalnum():
                parts += [text[at : match.start()], _term(quantity, match)]
                at = end
    return "".join((*parts, text[at:]))


def _date(match: re.Match[str]) -> str:
    month = MONTH_STARTS.index((match[2] or match[3])[:3].lower()) + 1
    return f"{match[1] or match[4]} {MONTH}{month} "


def _term(quantity: Quantity, match: re.Match[str]) -> str:
    figure, word = f"{quantity.figure:.12g}", re.sub(r".*[\d\s-]", "", quantity.text)
    unit = LISTS["units_named"].get((match["currency"] or "").strip().upper() or word, "")
    if quantity.dimension == "share" or (quantity.dimension == "count" and 0 < quantity.figure < 1):
        figure = f"{quantity.figure / (100 if quantity.dimension == 'share' else 1):.3g}share|{figure}"
    elif quantity.dimension == "time":
        # Durations in the same unit are more alike than equal ones: "two years", "a year".
        unit = unit or word
    elif quantity.dimension not in PLAIN and not unit:
        figure = f"{quantity.value:.12g}{quantity.dimension}|{figure}"
    return f"{MARK}{figure}{MARK} {unit} "
