"""Citations in the styles that people write: which contexts they name, and what is left without them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.citations import citations, removed, unknown_citations

NUMBERED = ("1", "2", "3")
MADE = ("c1", "c2", "c3")


@pytest.mark.parametrize(
    ("text", "ids", "numbers", "bare"),
    [
        ("Beta fact [1], [2].", (), (1, 2), "Beta fact."),
        ("Beta fact [1] and [2].", (), (1, 2), "Beta fact."),
        ("Beta fact [1-3], indeed.", (), (1, 2, 3), "Beta fact, indeed."),
        ("Beta fact [1\u20133; 5].", (), (1, 2, 3, 5), "Beta fact."),
        ("Beta fact\u30101\u2020source\u3011.", (), (1,), "Beta fact."),
        ("Beta fact \u30104:1\u2020source\u3011\u30104:2\u2020a.pdf\u3011.", (), (1, 2), "Beta fact."),
        ("One\u30104:0\u2020source\u3011. Two\u30104:1\u2020source\u3011.", (), (1, 2), "One. Two."),
        ("Beta fact [1\u2020source].", (), (1,), "Beta fact."),
        ("Beta fact[^1].\n\n[^1]: A source", (), (1,), "Beta fact.\n\n[^1]: A source"),
        ("Beta fact [doc 1].", (), (1,), "Beta fact."),
        ("Beta fact [Doc 1, Doc 2].", (), (1, 2), "Beta fact."),
        ("Beta fact [Passage 2].", (), (2,), "Beta fact."),
        ("Beta fact [doc 1].", ("doc 2", "doc 1"), (2,), "Beta fact."),
        ("Beta fact [d1].", ("d0", "d1"), (2,), "Beta fact."),
        ("Beta fact [d1, d0].", ("d0", "d1"), (2, 1), "Beta fact."),
        ("Beta fact [d1].", (), (), "Beta fact [d1]."),
        ("Beta fact [[d1]].", ("d0", "d1"), (2,), "Beta fact."),
        ("Beta fact [1]\u2013[3].", (), (1, 2, 3), "Beta fact."),
        ("Beta fact [1 and 2].", (), (1, 2), "Beta fact."),
        ("Beta fact [citation:2].", (), (2,), "Beta fact."),
        ("Beta fact (see Document [1]).", (), (1,), "Beta fact."),
        ("Beta fact \u30101, 2\u3011.", (), (1, 2), "Beta fact."),
        ("Beta fact ([1], [2]) and (see [3]).", (), (1, 2, 3), "Beta fact and."),
        ("Beta [[1]](https://a.b/c) fact [2](https://d.e).", (), (1, 2), "Beta fact."),
        ("Beta fact (1). Gamma fact (2, 3).", NUMBERED, (1, 2, 3), "Beta fact. Gamma fact."),
        ("Beta fact (1)(2).", MADE, (1, 2), "Beta fact."),
        ("Beta fact (1).", ("a", "b"), (), "Beta fact (1)."),
        ("Beta fact. (1) Gamma fact. (2)", NUMBERED, (1, 2), "Beta fact. Gamma fact."),
        ("Of 5 kg\u00b9, x\u00b9 or 9 m\u00b2.", MADE, (1,), "Of 5 kg, x\u00b9 or 9 m\u00b2."),
        ("Beta$^{1}$ fact.$^{2,3}$ Of 3 m$^2$.", (), (1, 2, 3), "Beta fact. Of 3 m$^2$."),
        ("[1]: Beta fact.\n[2]: Gamma.", (), (1, 2), "Beta fact.\nGamma."),
        ("There are (1) cats and (2) dogs.", NUMBERED, (), "There are (1) cats and (2) dogs."),
        ("See Table (1). It opened (1905).", NUMBERED, (), "See Table (1). It opened (1905)."),
        ("Zero [0], one [1].", ("0", "1"), (1, 2), "Zero, one."),
        ("Seven [7], three [3].", ("7", "3"), (1, 2), "Seven, three."),
        ("Second [2].", ("7", "3"), (2,), "Second."),
        ("A B C [1][2] D", (), (1, 2), "A B C D"),
        ("[1] So it is.", (), (1,), "So it is."),
        ("\u4e8b\u5b9f\u3067\u3059[1]\u3002", (), (1,), "\u4e8b\u5b9f\u3067\u3059\u3002"),
        ("**Paris[1]** is *it*[2].", (), (1, 2), "**Paris** is *it*."),
        ("Vitamin C[1] helps.", (), (1,), "Vitamin C helps."),
    ],
)
def test_every_style_is_read_and_leaves_the_text_whole(
    text: str, ids: tuple[str, ...], numbers: tuple[int, ...], bare: str
) -> None:
    found = citations(text, ids)
    assert tuple(number for one in found for number in one.numbers) == numbers
    assert removed(text, found) == bare


@pytest.mark.parametrize(
    "text",
    [
        "Write x[1] = 3 and y = items[2].",
        "Use `list[1]` there.",
        "```\nprint(a, b[1])\nfoo [2]\n```",
        "my_list[1] is the second.",
        "values = [1, 2, 3]",
        "print([1, 2])",
        "rows[1].strip() and rows[2]['id']",
        "It lasted [1914-1918], an [int] of [sic].",
        "A [link](https://example.org/1) and an [3-1].",
        "A probability in [0, 1].",
        "The chi\u00b2 of 2048\u00b2 mol\u00b2 is x\u00b2 metres\u00b2 or 10\u00b3.",
        "See.\n[1]: https://example.org/a",
    ],
)
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
    st.sampled_from(["[{}]", "[^{}]", "\u3010{}\u2020source\u3011", "[doc {}]", "[source: {}]"]),
    st.sampled_from(["", " ", ", ", "; "]),
)
def test_citation_styles_survive_a_round_trip(
    written: list[tuple[str, list[int]]], style: str, between: str
) -> None:
    text = " ".join(f"{word} {between.join(map(style.format, numbers))}." for word, numbers in written)
    found = citations(text)
    assert [number for one in found for number in one.numbers] == [n for _, ns in written for n in ns]
    assert removed(text, found) == " ".join(f"{word}." for word, _ in written)
