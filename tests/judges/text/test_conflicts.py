from __future__ import annotations

import pytest

from judges.text.contradictions import ContradictionFinder
from judges.text.overlap import TermWeights
from judges.text.statements import read_statement, read_statements


def conflicts(text: str, claim: str) -> list[str]:
    said = read_statements(text)
    finder = ContradictionFinder(said, TermWeights.fit([each.terms for each in said]))
    return [each.word for each in finder.conflicts(read_statement(claim))]


@pytest.mark.parametrize(
    ("text", "claim", "word"),
    [
        (
            "The codes of the app change every 30 seconds.",
            "The codes of the app change every 30 minutes.",
            "30 minutes",
        ),
        ("Rub a thin coat of oil on the pan.", "Rub a thick coat of oil on the pan.", "thick"),
        ("Van Buren lost the election after the campaign.", "Van Buren won the election.", "won"),
        (
            "A failed transfer can be undone within a day.",
            "A failed transfer cannot be undone within a day.",
            "cannot",
        ),
        (
            "The 2 GHz band passes through walls better. The 5 GHz band carries more data.",
            "The 5 GHz band passes through walls better.",
            "5 GHz",
        ),
    ],
)
def test_changed_units_opposites_and_misplaced_figures_are_found(text: str, claim: str, word: str) -> None:
    assert conflicts(text, claim) == [word]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Work below the knee hurts, eccentric work most.", "Eccentric work, above all, hurts the knee."),
        ("The walk takes at most two hours uphill.", "The walk takes at least two hours uphill."),
        ("The roots take up water in wet soil.", "The roots no longer take up water in dry sand."),
    ],
)
def test_turns_of_phrase_oppose_nothing(text: str, claim: str) -> None:
    assert not {"above", "least", "longer"} & set(conflicts(text, claim))


def test_two_opposites_cancel_out_within_a_clause_alone() -> None:
    text = "The journal prefers the active voice, as it is shorter; it allows the passive in the methods."
    assert conflicts("Long bonds fall more in price.", "Short bonds fall less in price.") == []
    claim = "The journal prefers the active voice, as it is longer; it forbids the passive in the methods."
    assert conflicts(text, claim) == ["longer", "forbids"]
