"""No file, however broken, gives anything but battles or one clear error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from data.errors import InputError
from leaderboard.formats.reading import read_battles
from leaderboard.formats.registry import battle_formats

RELAXED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
COLUMN_NAMES = st.sampled_from(
    [
        "question_id",
        "domain",
        "model_a",
        "model_b",
        "winner",
        "score",
        "weight",
        "count",
        "judge",
        "order",
        "query",
        "pred",
        "generator_1",
        "generator_2",
        "preference",
        "instruction",
        "model",
        "games",
        "uid",
    ]
)
RECORDS = st.lists(st.dictionaries(COLUMN_NAMES, JSON, max_size=8), min_size=1, max_size=3)
WHOLE = json.dumps(
    [{"question_id": "q", "model_a": "x", "model_b": "y", "winner": "tie", "score": 0.5}] * 3
).encode()


def problem_of(path: Path, kind: str | None = None) -> str | None:
    try:
        battles = len(read_battles(path, kind).table)
    except InputError as error:
        return error.message
    return None if battles else ""


def fair(problem: str | None) -> bool:
    return problem is None or bool(problem and "\n" not in problem)


@RELAXED
@given(content=st.binary(max_size=200), zipped=st.booleans())
@example(content=b"[", zipped=False)
@example(content=b"{", zipped=False)
@example(content=b'{"model_a": ["x"', zipped=False)
@example(content=b'"model_a,model_b,winner\n', zipped=True)
@example(content=b"\x1f\x8b", zipped=False)
@example(content=b"model_a,model_b,winner\nx\x00,y,tie\n", zipped=False)
@example(content=b"[" * 5000, zipped=False)
@example(content=b'{"a": ' * 5000, zipped=False)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, zipped: bool) -> None:
    path = tmp_path / "battles.json"
    path.write_bytes(gzip.compress(content) if zipped else content)
    assert fair(problem_of(path))


@pytest.mark.long
@RELAXED
@given(
    records=RECORDS,
    kind=st.sampled_from([None, *(one.name for one in battle_formats())]),
    lines=st.booleans(),
)
def test_any_records_are_read_or_refused(
    tmp_path: Path, records: list[dict[str, object]], kind: str | None, lines: bool
) -> None:
    path = tmp_path / "battles.json"
    path.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records))
    assert fair(problem_of(path, kind))


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
def test_a_cut_off_array_is_never_read_as_a_shorter_one(tmp_path: Path, length: int) -> None:
    path = tmp_path / "battles.json"
    path.write_bytes(WHOLE[:length])
    with pytest.raises(InputError):
        read_battles(path)
