"""Strict parser of untrusted JSON, and readable errors of JSON and pydantic."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from data.errors import FileFormatError
from data.text import REPLACEMENT

if TYPE_CHECKING:
    from pydantic import ValidationError


MAX_VALUE_LENGTH = 60
WITHOUT_INPUT = ("missing", "extra_forbidden")
WORDS: Mapping[str, str] = {
    kind: words
    for words, kinds in {
        "is missing": "missing",
        "is unknown": "extra_forbidden",
        "must be text": "string_type",
        "must be true or false": "bool_type bool_parsing",
        "must be a whole number": "int_type int_parsing int_from_float",
        "must be a number": "float_type float_parsing",
        "must be a finite number": "finite_number",
        "must be above {gt}": "greater_than",
        "must be at least {ge}": "greater_than_equal",
        "must be below {lt}": "less_than",
        "must be at most {le}": "less_than_equal",
        "must not be empty": "string_too_short",
        "must have at most {max_length} characters": "string_too_long",
        "needs at least {min_length}": "too_short",
        "takes at most {max_length}": "too_long",
        "must be {expected}": "literal_error enum",
        "must be a list": "list_type tuple_type",
        "must be an object": "dict_type model_type model_attributes_type dataclass_type mapping_type",
        "is not JSON": "json_invalid",
    }.items()
    for kind in kinds.split()
}


def in_words(error: "ValidationError") -> tuple[str, ...]:
    """List problems with their places: `claims.3.label must be 'supported' or … (it is 'X')`."""
    problems = error.errors(include_url=False)
    return tuple(f"{'.'.join(map(str, one['loc']))} {wording(one)}".strip() for one in problems)


def wording(problem: Mapping[str, Any], *, with_input: bool = True) -> str:
    """Describe a problem of pydantic without its place, optionally with the input."""
    context = problem.get("ctx", {})
    if problem["type"] in {"value_error", "assertion_error"}:
        return str(context["error"])
    words = WORDS.get(problem["type"], "is invalid").format_map(context)
    value = problem["input"]
    if not with_input or problem["type"] in WITHOUT_INPUT or not isinstance(value, str | int | float | None):
        return words
    quoted = repr(value)
    return f"{words} (it is {quoted if len(quoted) <= MAX_VALUE_LENGTH else quoted[:MAX_VALUE_LENGTH] + '…'})"


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_NULS: ContextVar[dict[int, int] | None] = ContextVar("nuls", default=None)
NULS_REPLACED = "NUL characters (\\u0000) read as U+FFFD, since databases cannot store them: {:,}."


@contextmanager
def counting_nuls() -> Iterator[dict[int, int]]:
    """Count the escaped NUL characters that the block replaces, by text."""
    counts: dict[int, int] = {}
    token = _NULS.set(counts)
    try:
        yield counts
    finally:
        _NULS.reset(token)


def without_nuls(text: str, decode: Callable[[str], Any] = json.loads) -> Any:  # noqa: ANN401 - as parse_json
    """Decode JSON with escaped NUL characters as U+FFFD, and count them."""
    if "\\u0000" not in text:
        return decode(text)
    plain, count = _ESCAPED_NUL.subn(rf"\1{REPLACEMENT}", text)
    value = decode(plain)
    counts = _NULS.get()
    if count and counts is not None:
        # A text that is read twice counts once.
        counts[hash(text)] = count
    return value


def parse_json(text: str, line: int, *, finite: bool = True) -> Any:  # noqa: ANN401 - untrusted JSON is of any shape
    """Parse JSON strictly: no NaN or infinity, no duplicate keys, no lone surrogates; NUL becomes U+FFFD.

    Without `finite`, NaN and infinity become null, for logs of other tools.
    """
    try:
        if text.startswith("\ufeff"):
            raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
        value = without_nuls(text, (_STRICT if finite else _LENIENT).decode)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        message, advice, code = _fault(error)
        raise FileFormatError(message, advice=advice, code=code, line=line) from error
    except FileFormatError as error:
        error.line = line
        raise
    return value


JSON_FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "Expecting value": "a value is missing",
        "Expecting ',' delimiter": "a comma or a closing bracket is missing",
        "Expecting ':' delimiter": "a colon is missing",
        "Expecting property name": "a field name in double quotes is missing",
        "Illegal trailing comma": "there is an extra comma",
        "Extra data": "there is extra data after the value",
        "Unterminated string": "a string is never closed; it starts",
        "Invalid control character": "a string contains a line break or control character",
        "Invalid \\": "a backslash is followed by an invalid character",
        "Unexpected UTF-8 BOM": "there is a byte order mark",
    }
)


def _fault(error: Exception) -> tuple[str, str, str]:
    """Return message, advice and code; Python's message on long numbers mentions a setting."""
    match error:
        case json.JSONDecodeError():
            faults = (ours for theirs, ours in JSON_FAULTS.items() if error.msg.startswith(theirs))
            message = f"This is not JSON: {next(faults, 'it cannot be parsed')} at column {error.colno}."
            return message, "Write one JSON object per line.", "not-json"
        case UnicodeEncodeError():
            message = "The text contains a lone surrogate (half of a character pair)."
            return message, "Save the text as UTF-8.", "not-utf8"
        case RecursionError():
            return "The JSON is nested too deeply.", "Flatten it.", "too-deep"
    message = "This JSON cannot be parsed: a number has too many digits."
    return message, "Write plain numbers.", "not-json"


def _refuse_constant(word: str) -> float:
    message = f"{word} is not a number in JSON."
    raise FileFormatError(message, advice="Use finite numbers or null.", code="not-finite")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        message = f"{digits} is too large for a number."
        raise FileFormatError(message, advice="Use finite numbers.", code="not-finite")
    return value


def _finite_or_none(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = sorted(name[:60] for name, count in counts.items() if count > 1)
        message = f"A field appears twice: {', '.join(twice[:5])}."
        raise FileFormatError(message, advice="Remove the duplicates.", code="duplicate-key")
    return record


# `json.loads` would create a decoder for each text, which takes as long as decoding a short one.
_STRICT = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_no_duplicates
)
_LENIENT = json.JSONDecoder(
    parse_constant=lambda _: None, parse_float=_finite_or_none, object_pairs_hook=_no_duplicates
)
