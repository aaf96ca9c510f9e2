"""Words, queries and excerpts: what counts as the same word, and what is shown around it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from data.errors import InputError
from data.search.query import SearchQuery, excerpt
from data.search.words import STOP_WORDS, WORD, Terms, composed

PIECES = st.sampled_from(
    ["tax", "Taxes", "caf\u00e9", "cafe\u0301", "don\u2019t", "'", "a''b", "\u7b54\u6848", "x_y"]
)
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("words", "terms"),
    [
        ("Taxes, taxing TAXED", ["tax", "tax", "tax"]),
        ("caf\u00e9 cafe\u0301 CAFE", ["cafe", "cafe", "cafe"]),
        ("taxpayer's taxpayer\u2019s taxpayers", ["taxpay", "taxpay", "taxpay"]),
        ("the quick and the dead", ["quick", "dead"]),
        ("rock'n'roll 3.5% x_y", ["rocknrol", "3", "5", "x", "y"]),
        ("\u7b54\u6848", ["\u7b54", "\u6848"]),
        ("", []),
    ],
)
def test_words_are_the_same_without_case_accents_and_endings(words: str, terms: list[str]) -> None:
    """Terms are stems; words that nearly every text has are left out; each Chinese character is a word."""
    assert Terms().of(words) == terms


@given(TEXTS)
@example("a'b ''c'' d'")
@example("\u00bd \ufb01n \u0130stanbul \ud800 \x00")
def test_terms_are_letters_and_digits_wherever_they_are_read(text: str) -> None:
    """The quick way, and that which says where a word stands, find the same; nothing else is in a term."""
    made = Terms().of(text)
    assert made == [place.term for place in Terms().places(composed(text))]
    assert made == [term for word in WORD.findall(composed(text)) if (term := Terms()[word])]
    assert all(term.isalnum() for term in made)


@given(TEXTS, TEXTS)
def test_excerpt_is_a_part_of_its_text_with_what_was_found_marked(text: str, words: str) -> None:
    """Without dots and marks an excerpt stands in its text; every mark is a phrase that was searched for."""
    try:
        query = SearchQuery.parse(words)
    except InputError:
        return
    line = " ".join(composed(text).split())
    shown = excerpt(text, query, reach=10)
    plain = "".join(piece for piece in (str(shown),)).removeprefix("… ").removesuffix(" …")
    assert plain in line
    marked = [piece for piece, is_found in shown.pieces if is_found]
    held = Terms().of(text)
    assert bool(marked) == bool(query.starts(held))
    for piece in marked:
        assert query.starts(Terms().of(piece))


def test_excerpt_shows_the_part_with_most_of_the_words() -> None:
    """Of a long text the part is shown in which the most different words stand together, cut at spaces."""
    text = f"A rate alone. {'filler ' * 60}Here is the rate of interest, and no more.{' after' * 60}"
    shown = excerpt(text, SearchQuery.parse("rate interest"), reach=20)
    assert str(shown) == "… filler Here is the rate of interest, and no more. …"
    assert [piece for piece, is_found in shown.pieces if is_found] == ["rate", "interest"]
    assert str(excerpt("One  two\nthree.", SearchQuery.parse("nothing"))) == "One two three."


def test_query_is_words_and_phrases() -> None:
    """Quotation marks make a phrase, and so does whatever stands between the parts of a word."""
    query = SearchQuery.parse('self-employed "pay taxes" pay pay "unfinished word')
    assert query.phrases == (("self", "employ"), ("pay", "tax"), ("pay",), ("unfinish",), ("word",))
    for nothing in ("", "the", '" "', "?!", " ".join(sorted(STOP_WORDS))):
        with pytest.raises(InputError, match="no word to search for"):
            SearchQuery.parse(nothing)
    with pytest.raises(InputError, match="At most 20"):
        SearchQuery.parse(" ".join(f"word{at}" for at in range(21)))
