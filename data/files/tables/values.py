"""Explicit conversion of cells: ids, lists, passages, missing values.

Values of other types are errors that quote them; only null, empty cells and words for missing values are
missing.
"""

import ast
import datetime as dt
import io
import math
import re
import tokenize
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import pairwise
from uuid import UUID

from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.models.questions import Passage

MISSING = frozenset(
    {
        *("NA", "N/A", "n/a", "None", "NaN", "-NaN", "-nan", "nan", "<NA>", "NULL", "null", "NaT"),
        *("#N/A", "#N/A N/A", "#NA", "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NULL!"),
    }
)
"""Words for a missing value of pandas, R and SQL, and errors of Excel."""
PASSAGE_IDS = ("id", "_id", "doc_id", "docid", "context_id")
PASSAGE_TEXTS = ("text", "content", "page_content", "contents", "passage")
BAD_CONTEXT, DUPLICATE, WRONG_TYPE = "bad-context", "duplicate-passage", "wrong-type"
MAX_QUOTED = 60
WHOLE_FLOAT = re.compile(r"-?[0-9]{1,300}\.0{1,20}")
LIST = 'Write it as ["text", "text"].'
PASSAGE_ADVICE = 'Write a list of strings or of {"id": …, "title": …, "text": …}.'


def kind(value: object) -> str:
    """Describe the type of a value."""
    if isinstance(value, dt.date):
        return "a date"
    if isinstance(value, dt.time | dt.timedelta):
        return "a time"
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "another value")


def describe_value(value: object) -> str:
    """Describe a value for a message by its type and its beginning."""
    if value is None or isinstance(value, Mapping | list):
        return kind(value)
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    elif isinstance(value, dt.date | dt.time | dt.timedelta):
        text = str(value).removesuffix(" 00:00:00")
    return f"{kind(value)} ({text if len(text) <= MAX_QUOTED else f'{text[: MAX_QUOTED - 1]}…'})"


def id_text(value: object) -> str | None:
    """Convert an id to a string, whole numbers without a fraction; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float | Decimal):
        return str(int(value)) if math.isfinite(value) and value == int(value) else None
    return str(value) if isinstance(value, str | int | UUID) else None


def has_value(value: object) -> bool:
    """Return whether a cell is not null, NaN or an empty string."""
    return not (value is None or value == "" or (isinstance(value, float) and math.isnan(value)))


def number_of(value: object) -> float | None:
    """Return a number, which may be in a string, if it is finite."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and not isinstance(value, bool) else None


def whole_id(text: str) -> str | None:
    """Return the digits of a whole float in a string (`1.0`), or None."""
    return text.split(".", maxsplit=1)[0] if WHOLE_FLOAT.fullmatch(text) else None


def is_missing(value: object) -> bool:
    """Return whether a string is a word for a missing value."""
    return isinstance(value, str) and value.strip() in MISSING


def list_of_cell(cell: str) -> list[object] | None:
    """Parse a list in JSON or as printed by Python or NumPy; None for an empty cell."""
    text = cell.strip()
    if not text or text in MISSING:
        return None
    try:
        value = parse_json(text, 0)
    except FileFormatError as error:
        value = _printed_list(text)
        if value is None:
            raise _bad(f"The cell contains {describe_value(text)}, which is not a list.", LIST) from error
    if not isinstance(value, list):
        raise _bad(f"The cell contains {describe_value(value)}, not a list.", LIST)
    return value


def unpacked(value: object) -> object:
    """Parse an object or list in JSON or as printed by Python or NumPy; return other values unchanged."""
    if isinstance(value, str) and (text := value.strip()).startswith(("{", "[")):
        with suppress(FileFormatError):
            return parse_json(text, line=0, finite=False)
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return ast.literal_eval(text) if text[0] == "{" else _printed_list(text) or value
    return value


def texts_of(value: object, *, of_cell: bool = False) -> list[str]:
    """Return the strings of a list, with `of_cell` also of a list in a string; empty for anything else."""
    texts = unpacked(value) if of_cell else value
    return texts if isinstance(texts, list) and all(isinstance(one, str) for one in texts) else []


def _printed_list(text: str) -> list[object] | None:
    """Parse a list as printed by Python or NumPy, whose lists have no commas between strings."""
    if not text.startswith("["):
        return None
    try:
        tokens = [
            token
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.ENDMARKER}
        ]
        kinds = [token.type for token in tokens]
        joined = any(pair == (tokenize.STRING,) * 2 for pair in pairwise(kinds))
        if not joined:
            value = ast.literal_eval(text)
            return value if isinstance(value, list) else None
        if all(token.type == tokenize.STRING or token.string in "[]," for token in tokens):
            inner = [token for token in tokens if token.string not in "[],"]
            flat = sum(token.string in "[]" for token in tokens) == len("[]")
            return [ast.literal_eval(token.string) for token in inner] if flat else None
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        pass
    return None


def passages_of(
    value: object, prefix: str, *, of_cell: bool = False, texts: bool = True
) -> tuple[Passage, ...]:
    """Return the passages of a cell in order, including those without a text.

    Args:
        value: A list of texts, or of objects with an id, a title and a text.
        prefix: Prefix of the numbers of passages without an id, which never equal an existing id.
        of_cell: Whether to parse a string as a list.
        texts: Whether every passage needs a text; a ranking needs only ids.
    """
    if of_cell and isinstance(value, str):
        value = list_of_cell(value)
    if not has_value(value):
        return ()
    if not isinstance(value, list):
        raise _bad(f"Expected a list of passages, got {describe_value(value)}.")
    parts = [_passage(number, item, texts=texts) for number, item in enumerate(value, start=1)]
    return named_passages(parts, prefix)


def named_passages(parts: Sequence[tuple[str | None, str, str]], prefix: str) -> tuple[Passage, ...]:
    """Build passages from ids (or None), texts and titles."""
    ids = [name for name, _, _ in parts if name is not None]
    if len(set(ids)) < len(ids):
        twice = next(name for at, name in enumerate(ids) if name in ids[:at])
        places = [str(at) for at, (name, _, _) in enumerate(parts, start=1) if name == twice]
        message = f"Passages {' and '.join(places[:5])} have the same id, {twice[:MAX_QUOTED]!r}."
        advice = "Use different ids, such as d#1 and d#2 for two parts of d."
        raise FileFormatError(message, advice=advice, code=DUPLICATE)
    used = set(ids)
    return tuple(
        Passage(_free(f"{prefix}{number}", used) if name is None else name, text, title)
        for number, (name, text, title) in enumerate(parts, start=1)
    )


def passage_id(entry: Mapping[str, object]) -> object:
    """Return the id of a passage under any of its names, or None."""
    return next((entry[name] for name in PASSAGE_IDS if has_value(entry.get(name))), None)


def _free(name: str, used: Collection[str]) -> str:
    while name in used:
        name += "'"
    return name


def _passage(number: int, item: object, *, texts: bool) -> tuple[str | None, str, str]:
    if isinstance(item, str):
        return None, item, ""
    if not isinstance(item, Mapping):
        raise _bad(f"Passage {number} is {describe_value(item)}.")
    raw_id = passage_id(item)
    name = None if raw_id is None else id_text(raw_id)
    text = next((item[field] for field in PASSAGE_TEXTS if item.get(field) is not None), None)
    title = item.get("title")
    if raw_id is not None and name is None:
        raise _bad(
            f"The id of passage {number} is {describe_value(raw_id)}, neither a string nor a whole number."
        )
    if not isinstance(title, str | None):
        raise _bad(f"The title of passage {number} is {describe_value(title)}, not a string.")
    if text is None and name is not None and not texts:
        return name, "", title or ""
    if not isinstance(text, str):
        raise _bad(f"Passage {number} has no text.")
    return name, text, title or ""


def _bad(message: str, advice: str = PASSAGE_ADVICE) -> FileFormatError:
    return FileFormatError(message, advice=advice, code=BAD_CONTEXT)
