"""Citations in the styles that people write: which contexts they name, and what is left without them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.citations import citations, removed, unknown_citations
from tests.cases import cases

MADE = ("c1", "c2", "c3")


@pytest.mark.parametrize(
    ("text", "ids", "numbers", "bare"), cases(__file__, "every_style_is_read_and_leaves_the_text_whole")
)
def test_every_style_is_read_and_leaves_the_text_whole(
    text: str, ids: list[str], numbers: list[int], bare: str
) -> None:
    found = citations(text, tuple(ids))
    assert [number for one in found for number in one.numbers] == numbers
    assert removed(text, found) == bare


@pytest.mark.parametrize("text", cases(__file__, "code_and_other_brackets_are_no_citations"))
def test_code_and_other_brackets_are_no_citations(text: str) -> None:
    assert citations(text) == ()
    assert removed(text, citations(text)) == text


def test_an_id_that_two_contexts_bear_names_neither() -> None:
    assert unknown_citations("Beta fact [d].", ("d", "d")) == 1
    assert [one.numbers for one in citations("Alpha [1]. Beta [2].", ("d", "d"))] == [(1,), (2,)]


def test_citations_of_no_context_are_counted() -> None:
    assert unknown_citations("A [1]. B [4], [2, 9].", MADE) == 2
    assert unknown_citations("A [1].", ()) == 1


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["Alpha", "Beta", "Gamma"]), st.lists(st.integers(1, 9), min_size=1))),
    st.sampled_from(["[^{}]", "\u3010{}\u2020source\u3011", "[source: {}]", "(doc {})", "\uff3b{}\uff3d"]),
    st.sampled_from(["", " ", ", ", "; "]),
)
def test_citation_styles_survive_a_round_trip(
    written: list[tuple[str, list[int]]], style: str, between: str
) -> None:
    text = " ".join(f"{word} {between.join(map(style.format, numbers))}." for word, numbers in written)
    found = citations(text)
    assert [number for one in found for number in one.numbers] == [n for _, ns in written for n in ns]
    assert removed(text, found) == " ".join(f"{word}." for word, _ in written)
