"""Initials and abbreviations do not end sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.text.sentences import read_sentences, split_sentences
from tests.cases import cases

GOLDEN = (Path(__file__).parent / "sentences.golden.txt").read_text(encoding="utf-8").splitlines()
"""One text per line, with its sentences separated by a bar."""
SURNAMES = ("Grant", "Tolkien", "Woolworth", "O’Neill", "McDonald", "Ivanova-Smith")
ABBREVIATED = ("Dr.", "Prof.", "Mrs.", "St.", "Lt. Col.", "Sen.", "Gen.", "Capt.")
LATIN = ("e.g.", "i.e.", "cf.", "vs.", "approx.", "ca.")


@pytest.mark.parametrize("line", GOLDEN)
def test_golden_texts_are_split_at_bars(line: str) -> None:
    sentences = tuple(line.split(" | "))
    assert split_sentences(" ".join(sentences)) == sentences


@given(
    letters=st.lists(st.sampled_from("ABCDEFGHIJKLMNOPRSTUVW"), min_size=1, max_size=4),
    space=st.sampled_from(["", " "]),
    surname=st.sampled_from(SURNAMES),
    opening=st.sampled_from(["", "In 1976 ", "Later, Mr. ", "We know that John ", "They met Ann and "]),
)
def test_initials_stay_with_their_name(letters: list[str], space: str, surname: str, opening: str) -> None:
    name = space.join(f"{letter}." for letter in letters) + f" {surname}"
    first = f"{opening}{name} went bankrupt."
    assert split_sentences(f"{first} Its stores were sold.") == (first, "Its stores were sold.")


@given(
    words=st.lists(st.sampled_from([*ABBREVIATED, *LATIN]), min_size=1, max_size=3),
    after=st.sampled_from(["Smith", "5 cm", "the shore", "Miller's law"]),
)
def test_abbreviations_do_not_end_sentences(words: list[str], after: str) -> None:
    first = f"We saw {' '.join(words)} {after} there."
    assert split_sentences(f"{first} Nobody else came.") == (first, "Nobody else came.")


@pytest.mark.parametrize(("text", "sentences"), cases(__file__, "each_sentence_has_the_numbers_behind_it"))
def test_sentences_have_their_citations(text: str, sentences: list[list[object]]) -> None:
    assert [[sentence.text, list(sentence.numbers)] for sentence in read_sentences(text)] == sentences
