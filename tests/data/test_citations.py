"""Citations in common styles: the contexts that they name, and the text without them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.citations import citations, removed, unknown_citations
from tests.cases import cases

MADE = ("c1", "c2", "c3")


@pytest.mark.parametrize(
    ("text", "ids", "numbers", "bare"), cases(__file__, "every_style_is_parsed_and_removed")
)
def test_every_style_is_parsed_and_removed(text: str, ids: list[str], numbers: list[int], bare: str) -> None:
    marks = citations(text, tuple(ids))
    assert [number for citation in marks for number in citation.numbers] == numbers
    assert removed(text, marks) == bare


@pytest.mark.parametrize("text", cases(__file__, "code_and_other_brackets_are_not_citations"))
def test_code_and_other_brackets_are_not_citations(text: str) -> None:
    assert citations(text) == ()
    assert removed(text, citations(text)) == text


def test_repeated_context_id_matches_none() -> None:
    assert unknown_citations("Beta fact [d].", ("d", "d")) == 1
    assert [citation.numbers for citation in citations("Alpha [1]. Beta [2].", ("d", "d"))] == [(1,), (2,)]


def test_unknown_citations_are_counted() -> None:
    assert unknown_citations("A [1]. B [4], [2, 9].", MADE) == 2
    assert unknown_citations("A [1].", ()) == 1


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["Alpha", "Beta", "Gamma"]), st.lists(st.integers(1, 9), min_size=1))),
    st.sampled_from(["[^{}]", "\u3010{}\u2020source\u3011", "[source: {}]", "(doc {})", "\uff3b{}\uff3d"]),
    st.sampled_from(["", " ", ", ", "; "]),
)
def test_citation_styles_survive_round_trip(
    sentences: list[tuple[str, list[int]]], style: str, between: str
) -> None:
    text = " ".join(f"{word} {between.join(map(style.format, numbers))}." for word, numbers in sentences)
    marks = citations(text)
    assert [number for citation in marks for number in citation.numbers] == [
        n for _, ns in sentences for n in ns
    ]
    assert removed(text, marks) == " ".join(f"{word}." for word, _ in sentences)
