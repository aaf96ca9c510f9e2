"""Rows of untrusted files, checked one by one, and what pydantic finds wrong with them in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError


LONGEST_VALUE = 60
NOTHING_GIVEN = ("missing", "extra_forbidden")
WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "needs at least {min_length}",
    "too_long": "takes at most {max_length}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dataclass_type": "must be an object",
    "mapping_type": "must be an object",
    "json_invalid": "is no JSON",
}


def in_words(error: ValidationError) -> tuple[str, ...]:
    """List problems with their places: `claims.3.label must be 'supported' or … (it is 'X')`."""
    return tuple(_problem_lines(error))


def _problem_lines(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"])
        yield f"{place} {wording(problem)}".strip()


def wording(problem: Mapping[str, Any], *, shown: bool = True) -> str:
    """Describe one problem of pydantic's list, without its place; with the input where `shown` allows."""
    context = problem.get("ctx", {})
    if problem["type"] in {"value_error", "assertion_error"}:
        return str(context["error"])
    words = WORDS.get(problem["type"], "cannot be used").format_map(context)
    value = problem["input"]
    if not shown or problem["type"] in NOTHING_GIVEN or not isinstance(value, str | int | float | None):
        return words
    quoted = repr(value)
    return f"{words} (it is {quoted if len(quoted) <= LONGEST_VALUE else quoted[:LONGEST_VALUE] + '…'})"
