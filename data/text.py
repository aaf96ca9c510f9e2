"""Counts in sentences, with their nouns in the right number."""

import json
import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 row`, `2 rows`, `1 query`, `2 queries`; `plural` is for nouns that do not take an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def are(count: int) -> str:
    """Return the verb behind a count."""
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    """Return the verb behind a count."""
    return "has" if count == 1 else "have"


_WORD = re.compile(r"[^\W_]")


def is_blank(text: str) -> bool:
    """Return whether a text has no letter, digit or symbol: a dash or a zero-width character says nothing."""
    return not _WORD.search(text) and not any(
        (kind := unicodedata.category(character)) == "So" or (kind == "Sm" and not character.isascii())
        for character in text
    )


MINUS = "\u2212"


def percent(share: float | None, *, decimals: int = 1, signed: bool = False) -> str:
    """Return a share in per cent, rounded half away from zero: 0.0005 is 0.1 %; a dash where there is none.

    `signed` puts a plus before what is not negative. The share is read as it is written: 0.0015, which a
    float holds a little below, is 0.2 %.
    """
    if share is None:
        return "–"
    figure = percent_figure(share, decimals=decimals)
    return f"{'+' if signed and not figure.startswith(MINUS) else ''}{figure} %"


def percent_figure(share: float, *, decimals: int = 1) -> str:
    """Return the same without the sign for per cent, as the lower end of an interval has it."""
    exact = Decimal(repr(float(share)))
    if not exact.is_finite():
        return str(exact)
    rounded = exact.scaleb(2).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{abs(rounded) if rounded.is_zero() else rounded:f}".replace("-", MINUS)


REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\ud800-\udfff\x00]")
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, and NUL characters by U+FFFD.

    JSON may hold both: a model that is cut off within an emoji leaves half of a character pair.
    """
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text)


_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def visible(text: str) -> str:
    """Show characters by their code that steer a terminal or turn the direction of a text."""
    return text if text.isprintable() else _CONTROLS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def json_text(value: object) -> str:
    """Return a JSON value as text that every database can keep, its texts made storable."""
    text = json.dumps(value)
    if "\\ud" not in text and "\\u0000" not in text:
        return text
    return _NUL.sub(rf"\1{REPLACEMENT}", storable(json.dumps(value, ensure_ascii=False)))


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formula(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: such text gets an apostrophe in front.

    So does text that has one already, so that `unescape_formula` gives back what was written.

    Source: OWASP, "CSV Injection".
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip("'").startswith(FORMULA_STARTS) else cell


def unescape_formula(cell: str) -> str:
    """Return the text of a cell before it was escaped."""
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'").startswith(FORMULA_STARTS) else cell
