from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import ArenaError
from judges.metrics.context.measures import context_report
from tests.narrow import mapping

CASE: dict[str, Any] = {
    "ratings": [
        [0, 0, 5, 5, 0, 0, 0, 0, 5, 0],
        [5, 0, 0, 0, 5, 0, 5, 0, 0, 0],
        [0, 0, 0, 0, 5, 5, 0, 0, 0, 5],
    ],
    "tokens": [80, 90, 70],
    "context": [0, 2],
    "threshold": 3,
}


def test_the_case_study_is_reported_whole() -> None:
    found = context_report(CASE)
    assert found["answerable"] == (0, 2, 3, 4, 5, 6, 8, 9)
    assert found["coverage"] == 6 / 8
    assert found["missing"] == (0, 6)
    assert found["required"] == {"static": (0, 1, 2), "dynamic": (0, 1, 2)}
    assert found["density"] == pytest.approx(((6 / 8 / 150) / (1 / 240)) ** 0.5)
    assert found["undefined"] == {}
    json.dumps(found, allow_nan=False)


def test_without_a_context_the_passages_stand_in_their_order() -> None:
    found = context_report({"ratings": CASE["ratings"]})
    assert found["coverage"] == 1
    assert found["alpha_ndcg"] == pytest.approx(1)
    assert found["density"] is None
    assert found["undefined"] == {"density": "The tokens of the passages are not given."}


@pytest.mark.parametrize("obj", [{"ratings": [[0, 1]], "tokens": [3]}, {"ratings": []}, {"ratings": [[]]}])
def test_nothing_answerable_is_null_with_a_reason(obj: dict[str, Any]) -> None:
    found = context_report(obj)
    assert found["coverage"] is found["alpha_ndcg"] is found["density"] is None
    assert mapping(found["undefined"])["coverage"] == "No sub-question is answerable from these passages."


def test_an_empty_context_covers_nothing() -> None:
    found = context_report({**CASE, "context": []})
    assert found["coverage"] == 0
    assert found["alpha_ndcg"] == 0
    assert found["density"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"ratings": [[7]]},
        {"ratings": [["x"]]},
        {"ratings": [[1], [1, 2]]},
        {"ratings": "no"},
        {"ratings": [None]},
        {"ratings": {"a": 1}},
        {"tokens": [1]},
        {"tokens": [1, 2, -3]},
        {"tokens": [1, 2, 1.5]},
        {"context": [3]},
        {"context": [-1]},
        {"context": [0, 0]},
        {"context": ["0"]},
        {"context": 1},
        {"threshold": "high"},
        {"threshold": 9},
        {"threshold": None},
        {"contexts": [0]},
    ],
)
def test_what_is_no_matrix_is_refused_with_advice(change: dict[str, Any]) -> None:
    with pytest.raises(ArenaError) as caught:
        context_report({**CASE, **change})
    assert caught.value.advice


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 7) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["ratings", "tokens", "context", "threshold"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JUNK)
def test_any_json_is_reported_or_refused(obj: object) -> None:
    try:
        found = context_report(obj)
    except ArenaError:
        return
    json.dumps(found, allow_nan=False)
