import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.text.sentences import cited_sentences, without_citations


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "Eggs keep a week [1]. Peeled ones less [2, 3].",
            [("Eggs keep a week.", (1,)), ("Peeled ones less.", (2, 3))],
        ),
        (
            "Eggs keep a week. [1] Peeled ones less.[2][3]",
            [("Eggs keep a week.", (1,)), ("Peeled ones less.", (2, 3))],
        ),
        ("It is so [1; 1, 2]. It is not.", [("It is so.", (1, 2)), ("It is not.", ())]),
        ("In [2] they say so, in [3] not.", [("In they say so, in not.", (2, 3))]),
        ("An array a[i] is no citation [4].", [("An array a[i] is no citation.", (4,))]),
        (" [1] ", []),
    ],
)
def test_each_sentence_has_the_numbers_behind_it(
    text: str, sentences: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(one.text, one.numbers) for one in cited_sentences(text)] == sentences


@given(
    st.lists(
        st.tuples(st.sampled_from(["Eggs keep", "It rains", "Many say so"]), st.sets(st.integers(1, 99))),
        min_size=1,
    )
)
def test_what_is_written_with_citations_is_read_again(written: list[tuple[str, set[int]]]) -> None:
    text = " ".join(f"{words}{f' {sorted(numbers)}' if numbers else ''}." for words, numbers in written)
    assert [(one.text, set(one.numbers)) for one in cited_sentences(text)] == [
        (f"{words}.", numbers) for words, numbers in written
    ]
    assert without_citations(text) == " ".join(f"{words}." for words, _ in written)
