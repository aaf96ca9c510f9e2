"""Short answers in passages, completeness, and citation accuracy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.services.references.marks import mark_short_answers
from arena.services.references.measures import measure_answer, summary
from data.records import Passage

PASSAGES = (
    Passage(id="a", text="Hard-boiled eggs keep about a week in a fridge."),
    Passage(id="b", text="Peeled eggs dry out and should be eaten within two days."),
)
SHORT = ("about a week", "two days")
QUESTION = "How long do eggs keep?"


@pytest.mark.parametrize(
    ("text", "completeness", "accuracy", "uncited"),
    [
        (
            "Hard-boiled eggs keep about a week in a fridge [1]. Peeled eggs dry out within two days [2].",
            1.0,
            1.0,
            0,
        ),
        (
            "Hard-boiled eggs keep about a week in a fridge [2]. Peeled eggs dry out within two days [1].",
            1.0,
            0.0,
            0,
        ),
        ("Hard-boiled eggs keep about a week in a fridge [1, 3].", 0.5, 0.5, 0),
        ("Hard-boiled eggs keep about a week in a fridge.", 0.5, None, 1),
    ],
)
def test_completeness_and_citation_accuracy(
    text: str, completeness: float, accuracy: float | None, uncited: int
) -> None:
    """Short answers that are left out, citations of the wrong passage or of none, sentences without any."""
    found = measure_answer(QUESTION, SHORT, text, PASSAGES)
    assert (found.completeness, found.accuracy, len(found.uncited)) == (completeness, accuracy, uncited)


def test_shares_are_over_texts_that_have_them() -> None:
    """Texts without short answers or citations are in no share of them; without any the share is none."""
    whole = measure_answer(QUESTION, SHORT, "Eggs keep about a week [1], peeled ones two days [2].", PASSAGES)
    bare = measure_answer(QUESTION, (), "Eggs keep.", PASSAGES)
    told = summary([("q1", whole), ("q2", bare)])
    assert (told["texts"], told["with_short_answers"], told["with_citations"]) == (2, 1, 1)
    assert (told["complete_texts"], told["cited_sentences"]) == (1.0, 0.5)
    assert summary([])["completeness"] is None


@given(st.text(alphabet="aAbB \n"), st.lists(st.text(alphabet="ab \n", max_size=4), max_size=3))
def test_parts_are_the_text(text: str, shorts: list[str]) -> None:
    """However marks fall, the parts together are the text, and each short answer that is there is marked."""
    parts = mark_short_answers(text, shorts)
    assert "".join(part.text for part in parts) == text
    marked = " | ".join(" ".join(part.text.lower().split()) for part in parts if part.marked)
    for short in shorts:
        sought = " ".join(short.split())
        if sought and sought in " ".join(text.lower().split()):
            assert sought in marked
