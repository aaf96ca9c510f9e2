"""What is wrong with a value, in our own words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from data.files.jsonl import in_words


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field("x", min_length=1)
    share: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    count: Annotated[int, Field(gt=0, lt=9)] = 1
    flag: bool = False
    word: Literal["one", "two"] = "one"
    several: list[int] = Field([1], min_length=1)
    needed: str


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "needed is missing"),
        ({"needed": "x", "odd": 1}, "odd is not known"),
        ({"needed": 3}, "needed must be text (it is 3)"),
        ({"needed": "x", "name": ""}, "name must not be empty (it is '')"),
        ({"needed": "x", "share": 2}, "share must be at most 1.0 (it is 2)"),
        ({"needed": "x", "share": "much"}, "share must be a number (it is 'much')"),
        ({"needed": "x", "share": float("nan")}, "share must be a finite number (it is nan)"),
        ({"needed": "x", "count": 0}, "count must be above 0 (it is 0)"),
        ({"needed": "x", "count": 9}, "count must be below 9 (it is 9)"),
        ({"needed": "x", "count": 1.5}, "count must be a whole number (it is 1.5)"),
        ({"needed": "x", "flag": "perhaps"}, "flag must be true or false (it is 'perhaps')"),
        ({"needed": "x", "word": "three"}, "word must be 'one' or 'two' (it is 'three')"),
        ({"needed": "x", "several": []}, "several needs at least 1"),
        ({"needed": "x", "several": 3}, "several must be a list (it is 3)"),
        ({"needed": "x", "several": [1, "b"]}, "several.1 must be a whole number (it is 'b')"),
        ([], "must be an object"),
        ({"needed": "x", "word": "y" * 99}, f"word must be 'one' or 'two' (it is {repr('y' * 99)[:60]}…)"),
    ],
)
def test_problems_are_told_without_the_librarys_words(given: Any, told: str) -> None:  # noqa: ANN401 - JSON
    """E15: each problem has its place, what is expected, and what was given."""
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(_Shape).validate_python(given)
    assert in_words(caught.value) == (told,)
