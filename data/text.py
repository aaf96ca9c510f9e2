"""Formatting of counts, percentages, unsafe characters and cells."""

import json
import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal


def counted(count: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun: `1 row`, `2 rows`; `plural` is for irregular nouns."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def are(count: int) -> str:
    """Return `is` or `are` for a count."""
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    """Return `has` or `have` for a count."""
    return "has" if count == 1 else "have"


_WORD = re.compile(r"[^\W_]")


def is_blank(text: str) -> bool:
    """Return whether a text has no letter, digit or symbol, only dashes or zero-width characters."""
    return not _WORD.search(text) and not any(
        (kind := unicodedata.category(character)) == "So" or (kind == "Sm" and not character.isascii())
        for character in text
    )


MINUS = "\u2212"


def percent(share: float | None, *, decimals: int = 1, signed: bool = False) -> str:
    """Format a share in per cent, rounded half away from zero: 0.0005 is 0.1 %; None is a dash.

    `signed` adds a plus to values that are not negative. The decimal value counts: 0.0015, whose float is
    slightly lower, is 0.2 %.
    """
    if share is None:
        return "–"
    figure = percent_figure(share, decimals=decimals)
    return f"{'+' if signed and not figure.startswith(MINUS) else ''}{figure} %"


def percent_figure(share: float, *, decimals: int = 1) -> str:
    """Format a share like `percent`, without the unit."""
    exact = Decimal(repr(float(share)))
    if not exact.is_finite():
        return str(exact)
    rounded = exact.scaleb(2).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{abs(rounded) if rounded.is_zero() else rounded:f}".replace("-", MINUS)


REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\ud800-\udfff\x00]")
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, and NUL characters with U+FFFD.

    JSON may contain both, for example if a model stops within an emoji.
    """
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text)


_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def visible(text: str) -> str:
    """Escape characters that control a terminal or the direction of a text."""
    return text if text.isprintable() else _CONTROLS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def json_text(value: object) -> str:
    """Serialise a JSON value with storable texts."""
    text = json.dumps(value)
    if "\\ud" not in text and "\\u0000" not in text:
        return text
    return _NUL.sub(rf"\1{REPLACEMENT}", storable(json.dumps(value, ensure_ascii=False)))


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formula(cell: object) -> object:
    """Prefix text that a spreadsheet would read as a formula with an apostrophe.

    Text with an apostrophe is prefixed too, so that `unescape_formula` restores it.

    Source: OWASP, "CSV Injection".
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip("'").startswith(FORMULA_STARTS) else cell


def unescape_formula(cell: str) -> str:
    """Restore the text of an escaped cell."""
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'").startswith(FORMULA_STARTS) else cell
