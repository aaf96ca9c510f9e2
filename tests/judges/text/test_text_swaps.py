"""Words that were exchanged in an otherwise repeated wording."""

from __future__ import annotations

import pytest

from judges.text.statements import read_statements
from judges.text.substitutions import SubstitutionFinder
from judges.text.term_weights import TermWeights


def swapped(premise: str, hypothesis: str) -> tuple[str, str] | None:
    """What stands instead of what, or None."""
    said = read_statements(premise)
    finder = SubstitutionFinder(said, TermWeights.fit([one.text for one in said]))
    (statement,) = read_statements(hypothesis)
    found = finder.find(statement)
    return None if found is None else (found.word, found.instead_of)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "wanted"),
    [
        (
            "The oldest copy appeared in the Boston Morning Post on 23 March.",
            "The oldest copy appeared in the London Morning Post on 23 March.",
            ("london", "boston"),
        ),
        (
            "The clocks are set to run slightly slow before launch.",
            "The clocks are set to run slightly fast before launch.",
            ("fast", "slow"),
        ),
        (
            "Dissolved salt gets in the way of freezing but not of melting.",
            "Dissolved salt gets in the way of melting but not of freezing.",
            ("melt freez", "freez melt"),
        ),
        (
            "Its tides are less than half as strong as those of the Moon.",
            "Its tides are more than twice as strong as those of the Moon.",
            ("twice", "half"),
        ),
        (
            "The host knows where the car is parked.",
            "The host does not know where the car is parked.",
            ("not", ""),
        ),
    ],
)
def test_one_exchanged_word_is_a_contradiction(
    premise: str, hypothesis: str, wanted: tuple[str, str]
) -> None:
    """A name, an opposite, two words that changed places, half for twice, a negation."""
    assert swapped(premise, hypothesis) == wanted


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("The clocks run slightly slow before launch.", "The clocks run slightly slow before launch."),
        (
            "Joint accounts count separately for each holder, so a couple is covered up to 200,000 euros.",
            "Joint accounts count separately for each holder, so a couple is protected up to 200,000 euros.",
        ),
        ("The team dated several parts of the canyon separately.", "The team dated the segments separately."),
        ("Caps allow no more than two points at each reset.", "Caps allow two points at each reset."),
        ("Bread rises by yeast.", "Electrons are leptons."),
    ],
)
def test_a_synonym_or_another_subject_is_none(premise: str, hypothesis: str) -> None:
    """What says the same in another word, or something else altogether, contradicts nothing."""
    assert swapped(premise, hypothesis) is None
