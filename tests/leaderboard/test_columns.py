from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from data.errors import RecordError
from leaderboard.battles import BattleTable, Winner
from tests.cases import cases

COLUMNS = {
    "question_id": ["q2", "q1", "q2", "q3"],
    "domain": ["fi", "bi", "fi", "bi"],
    "model_a": ["zeta", "alpha", "zeta", "mid"],
    "model_b": ["alpha", "mid", "mid", "zeta"],
    "winner": ["model_a", "tie", "tie (bothbad)", "model_b"],
}


def test_columns_become_codes_in_sorted_order() -> None:
    table = BattleTable.from_columns(**COLUMNS, score=[0.8, None, 0.5, 0.1])
    assert table.systems == ("alpha", "mid", "zeta")
    assert table.questions == ("q1", "q2", "q3")
    assert table.domains == ("bi", "fi")
    assert table.a.tolist() == [2, 0, 2, 1]
    assert table.b.tolist() == [0, 1, 1, 2]
    assert table.winner.tolist() == [Winner.A, Winner.TIE, Winner.TIE, Winner.B]
    assert table.share.tolist() == [0.8, 0.5, 0.5, 0.1]


@pytest.mark.parametrize(
    "kind",
    [
        list,
        np.array,
        pd.Series,
        pd.Categorical,
        lambda c: pd.Series(c, dtype="category"),
        lambda c: pd.Series(c, dtype=object),
        pa.array,
        lambda c: pa.chunked_array([c[:2], c[2:]]),
        lambda c: pa.array(c).dictionary_encode(),
    ],
)
def test_column_types_encode_equally(kind: Callable[[list[str]], object]) -> None:
    plain = BattleTable.from_columns(**COLUMNS)
    other = BattleTable.from_columns(**{name: kind(column) for name, column in COLUMNS.items()})
    assert other.systems == plain.systems
    for name in ("a", "b", "winner", "question", "domain"):
        assert np.array_equal(getattr(other, name), getattr(plain, name))
        assert getattr(other, name).dtype == getattr(plain, name).dtype


def test_numeric_question_ids_are_matched() -> None:
    table = BattleTable.from_columns(**{**COLUMNS, "question_id": [3, 10, 3, 7]})
    assert table.questions == ("10", "3", "7")


def test_empty_columns_give_empty_table() -> None:
    assert len(BattleTable.from_columns(**{name: [] for name in COLUMNS})) == 0


@pytest.mark.parametrize(("change", "words"), cases(__file__, "bad_values_are_refused_by_row_and_column"))
def test_bad_values_are_refused_by_row_and_column(change: dict[str, list[object]], words: list[str]) -> None:
    with pytest.raises(RecordError) as caught:
        BattleTable.from_columns(**{**COLUMNS, **change})
    for word in words:
        assert word in str(caught.value)
