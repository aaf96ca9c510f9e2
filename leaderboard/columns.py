"""Normalise names and encode columns of words and numbers; errors name row and column."""

import re
import sys
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from data.errors import RecordError
from leaderboard.vocabulary import OVERALL

MISSING = frozenset({"nan", "na", "n/a", "<na>", "nat", "null", "none"})
"""Spellings of a missing value in any case, invalid as names of systems."""
MISSING_IDS = frozenset({"nan", "<na>", "nat"})
"""Spellings of a missing value, invalid as question ids."""
QUESTION, DOMAIN, SYSTEMS = "question_id", "domain", ("model_a", "model_b")

_WHOLE = re.compile(r"\A(-?[0-9]++)\.0+")


def spelled(name: str, column: str) -> str:
    """Return a name in Unicode form NFC without outer spaces.

    Question ids such as `1.0` lose their decimals: data frames turn integer columns with gaps into floats.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    name = name.strip()
    if column == QUESTION and name.endswith("0") and (whole := _WHOLE.fullmatch(name)):
        return whole[1]
    return name


def fault(name: str, column: str) -> str | None:
    """Return the problem with a normalised name; None if it is valid."""
    if not name:
        return "a name is expected"
    if "\0" in name:
        return "a name without NUL characters is expected"
    if column == DOMAIN and name.casefold() == OVERALL:
        return f"{OVERALL} is reserved for all domains together, so the domain needs another id"
    if name.casefold() in (MISSING_IDS if column == QUESTION else MISSING if column in SYSTEMS else ()):
        return "it denotes a missing value in many programs, so a name is expected"
    return None


# A list, numpy array, `CodedColumn`, pandas series (text or categorical) or Arrow array. Any, so that pandas
# and pyarrow load only if a caller uses them.
Column: TypeAlias = Any
MIN_WEIGHT, MAX_WEIGHT = 1e-30, 1e30
"""Range in which squares and sums of weights neither underflow nor overflow."""


@dataclass(frozen=True, eq=False, slots=True)
class CodedColumn:
    """A column of words as codes into `words`."""

    codes: NDArray[np.signedinteger[Any]]
    words: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)


def require_equal_lengths(columns: Mapping[str, Column]) -> None:
    """Refuse columns of different lengths."""
    lengths = {name: len(column) for name, column in columns.items()}
    first, *rest = lengths
    for name in rest:
        if lengths[name] != lengths[first]:
            message = f"Column {first} has {lengths[first]} rows but column {name} has {lengths[name]}."
            raise RecordError(message, advice="Each battle needs one value in every column.")


def encode_names(column: Column, name: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return a code per row, and the names in code order.

    Names are numbered in sorted order, so codes do not depend on the order of the rows.
    """
    codes, words = _spelled(*_dictionary(column, name), name)
    used = np.zeros(len(words), dtype=bool)
    used[codes] = True
    order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
    if not used.all():
        order = order[used[order]]
    elif words[:1] != [""] and (np.diff(order) > 0).all():
        return codes, tuple(words)  # already in sorted order
    new = np.zeros(len(words), dtype=np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    if len(order) and words[order[0]] == "":
        _refuse(name, int(np.argmax(new[codes] == 0)), "the value is missing")
    return new[codes], tuple(words[k] for k in order.tolist())


def _spelled(codes: NDArray[np.int32], words: list[str], name: str) -> tuple[NDArray[np.int32], list[str]]:
    names = [spelled(word, name) for word in words]
    for code, word in enumerate(names):
        if word and (problem := fault(word, name)) and (codes == code).any():
            _refuse(name, int(np.argmax(codes == code)), f"`{words[code]}` is invalid; {problem}")
    if names == words:
        return codes, words
    places = {word: place for place, word in enumerate(dict.fromkeys(names))}
    return np.array([places[word] for word in names], dtype=np.int32)[codes], list(places)


def merge_names(
    left: tuple[NDArray[np.int32], tuple[str, ...]], right: tuple[NDArray[np.int32], tuple[str, ...]]
) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]:
    """Give two encoded columns one numbering, sorted by name."""
    names = tuple(sorted({*left[1], *right[1]}))
    place = {name: code for code, name in enumerate(names)}
    first, second = (
        np.array([place[word] for word in words], dtype=np.int32)[codes] if words else codes
        for codes, words in (left, right)
    )
    return first, second, names


def narrowed(codes: NDArray[np.int32], names: int) -> NDArray[np.signedinteger[Any]]:
    """Return the codes in the smallest integer type for this many names, to save memory."""
    return codes.astype(np.min_scalar_type(-max(names, 1)), copy=False)


def encode_words(column: Column, name: str, words: Mapping[str, int]) -> NDArray[np.int8]:
    """Translate a column of known words to codes."""
    codes, entries = _dictionary(column, name)
    for code, word in enumerate(entries):
        if word not in words and (codes == code).any():
            known = ", ".join(f"`{known}`" for known in words)
            problem = f"`{word}` is unknown" if word else "the value is missing"
            _refuse(name, int(np.argmax(codes == code)), problem, advice=f"Use one of {known}.")
    return np.array([words.get(word, -1) for word in entries], dtype=np.int8)[codes]


def encode_scores(column: Column, name: str) -> NDArray[np.float64] | None:
    """Return shares from 0 to 1, NaN for missing values; None if all are missing."""
    values = _numbers(column, name)
    _refuse_where(name, ~np.isnan(values) & ~((values >= 0) & (values <= 1)), values, "is outside 0–1")
    return None if np.isnan(values).all() else values


def encode_weights(column: Column, name: str) -> NDArray[np.float64]:
    """Return weights: finite numbers of at least 0."""
    values = _numbers(column, name)
    _refuse_where(name, np.isnan(values), values, "is not a number")
    _refuse_where(name, values < 0, values, "is negative")
    _refuse_where(name, np.isinf(values), values, "is infinite")
    extreme = (values > 0) & ((values < MIN_WEIGHT) | (values > MAX_WEIGHT))
    _refuse_where(name, extreme, values, f"is neither 0 nor within {MIN_WEIGHT:g}–{MAX_WEIGHT:g}")
    return values


def refuse_contradiction(
    wrong: NDArray[np.bool_], words: Sequence[str], winner: NDArray[np.int8], score: NDArray[np.float64]
) -> None:
    """Refuse winners that their scores contradict."""
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = f"the winner is {words[winner[row]]}, which the score {score[row]:g} contradicts"
        _refuse("winner", row, problem, advice="Correct one of them; the score is the share of `model_a`.")


def refuse_self_battles(a: NDArray[np.int32], b: NDArray[np.int32], systems: tuple[str, ...]) -> None:
    """Refuse battles of a system with itself."""
    same = a == b
    if same.any():
        row = int(np.argmax(same))
        _refuse("model_b", row, f"`{systems[a[row]]}` is on both sides", advice="Use two systems.")


def _dictionary(column: Column, name: str) -> tuple[NDArray[np.int32], list[str]]:
    array = _arrow(column)
    if isinstance(column, CodedColumn):
        codes, words = column.codes.astype(np.int32, copy=False), list[Any](column.words)
    else:
        codes, words = _factorize(column, name) if array is None else _arrow_dictionary(array)
    if len(codes) and codes.min() < 0:
        _refuse(name, int(np.argmax(codes < 0)), "the value is missing")
    if array is not None and _is_text(array.type):
        return codes, words
    texts: list[str] = []
    for code, word in enumerate(words):
        if not isinstance(word, str | int | float | np.generic):
            row = int(np.argmax(codes == code))
            _refuse(name, row, f"the type {type(word).__name__} is not supported")
        whole = isinstance(word, float | np.floating) and float(word).is_integer()
        texts.append(str(int(word)) if whole else str(word))
    if len(set(texts)) < len(texts):  # 1 and "1" are one name
        place = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        codes = np.array([place[text] for text in texts], dtype=np.int32)[codes]
        texts = list(place)
    return codes, texts


def _is_text(kind: Column) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - see `Column`

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_arrow(column: Column) -> bool:
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(column, arrow.Array | arrow.ChunkedArray)


def _arrow(column: Column) -> Column | None:
    if _is_arrow(column):
        return column
    if not _is_series(column):
        return None
    import pandas as pd  # noqa: PLC0415 - see `Column`
    import pyarrow as pa  # noqa: PLC0415 - as above

    if isinstance(column.array, pd.api.extensions.ExtensionArray):
        kind = column.dtype
        if isinstance(kind, pd.CategoricalDtype) or kind == "str" or isinstance(kind, pd.ArrowDtype):
            return pa.array(column.array, from_pandas=True)
    return None


def _arrow_dictionary(array: Column) -> tuple[NDArray[np.int32], list[Any]]:
    import pyarrow as pa  # noqa: PLC0415 - see `Column`
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    if isinstance(array, pa.ChunkedArray):
        if not array.num_chunks:
            return np.zeros(0, dtype=np.int32), []
        array = pa.concat_arrays(array.unify_dictionaries().chunks)
    indices = pc.cast(array.indices, pa.int32())
    if array.null_count:
        indices = pc.fill_null(indices, -1)
    return indices.to_numpy(zero_copy_only=False), array.dictionary.to_pylist()


def _is_series(column: Column) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(column, pandas.Series)


def _factorize(column: Column, name: str) -> tuple[NDArray[np.int32], list[Any]]:
    import pandas as pd  # noqa: PLC0415 - see `Column`

    values = column
    if not isinstance(column, np.ndarray | pd.Series):
        values = np.empty(len(column), dtype=object)
        values[:] = list(column)
    try:
        codes, words = pd.factorize(values)
    except TypeError:
        row = next(row for row, value in enumerate(values) if not isinstance(value, Hashable))
        _refuse(name, row, f"the type {type(values[row]).__name__} is not supported")
    return codes.astype(np.int32), list(words)


def _numbers(column: Column, name: str) -> NDArray[np.float64]:
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiu":
        return column.astype(np.float64)
    import pandas as pd  # noqa: PLC0415 - see `Column`

    values = pd.Series(column.to_pandas() if _is_arrow(column) else column)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    unread = np.isnan(numbers) & ~values.isna().to_numpy(dtype=bool)
    if unread.any():
        row = int(np.argmax(unread))
        _refuse(name, row, f"`{values.iloc[row]}` is not a number")
    return numbers


def _refuse_where(name: str, bad: NDArray[np.bool_], values: NDArray[np.float64], problem: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        further = int(bad.sum()) - 1
        more = f", and so are {further} more" if further else ""
        _refuse(name, row, f"{values[row]:g} {problem}{more}")


def _refuse(name: str, row: int, problem: str, *, advice: str = "Correct that row.") -> NoReturn:
    raise RecordError(f"Row {row + 1}, column {name}: {problem}.", advice=advice)
