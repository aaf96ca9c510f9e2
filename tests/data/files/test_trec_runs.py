"""Runs: fields that tell every name apart, and the order of trec_eval."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from data.files.trec import ids_by_field, read_run, run_field

NAMES = st.text("a_% 20\t\u00a0\n5F", min_size=1, max_size=6)


@given(NAMES, NAMES)
def test_no_two_names_have_one_field(one: str, other: str) -> None:
    """Whatever white space a name has, its field is one word and its own."""
    assert run_field(one).split() == [run_field(one)]
    assert (run_field(one) == run_field(other)) == (one == other)


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_every_name_is_found_by_its_field(names: list[str]) -> None:
    """A field means the name that it was written for, beside whatever others."""
    fields = ids_by_field(names)
    assert [fields[name] for name in names] == names
    plain = [name for name in names if "%" not in name]
    assert [ids_by_field(plain)[run_field(name)] for name in plain] == plain


def test_equal_scores_are_ordered_by_falling_passages(tmp_path: Path) -> None:
    """As trec_eval does, with scores in single precision, whatever the order of the file."""
    path = tmp_path / "run"
    path.write_text("q Q0 a 1 1.0 r\nq Q0 c 2 1.00000001 r\nq Q0 b 3 1.0 r\nq Q0 d 4 2 r\n")
    assert [line.passage for line in read_run(path)["q"]] == ["d", "c", "b", "a"]
