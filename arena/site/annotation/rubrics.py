"""What annotators are asked to look at, and the labels of each scale with their keys."""

from __future__ import annotations

from dataclasses import dataclass

from data.records import LabelScale

RUBRIC = """
Say which of two answers serves somebody who asked this question better. Look at three things, in this order:

1. **Truthful.** Does it say what is right? Count what is right *and* to the point. One wrong statement
   weighs more than one that is missing.
2. **Helpful.** Where both are equally right: which one says more that helps with the question, and less that
   does not?
3. **Complete.** Which one leaves out less of what is right and helpful?

Neither length nor polish nor the order on the page is a reason. Where you cannot tell, choose *Not sure*.

*How long do hard-boiled eggs keep in a fridge?*

- "About a week, peeled or not; peeled ones dry out sooner." against "a week no 3 days yes": the first is
  **better**. The second only lists what contradicts itself.
- "About a week." against "Five to seven days in a closed box.": the second is **slightly better**. Both are
  right, it says a little more.
- "About a week in a fridge." against "Seven days, chilled.": **not sure**. They say the same.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A label with the word for it and the key that gives it."""

    value: int
    words: str
    key: str


GRADES = (
    Choice(-2, "Answer 1 is better", "1"),
    Choice(-1, "Answer 1 is slightly better", "2"),
    Choice(0, "Not sure", "3"),
    Choice(1, "Answer 2 is slightly better", "4"),
    Choice(2, "Answer 2 is better", "5"),
)
SIDES = (Choice(-1, "Answer 1 is better", "1"), Choice(0, "Tie", "2"), Choice(1, "Answer 2 is better", "3"))
SKIPS = (
    ("1", "I do not know enough about it"),
    ("2", "A text is broken or in another language"),
    ("3", "I know whose answer it is"),
    ("4", "I would rather not read this"),
)
"""Reasons to skip an item, with their keys."""


def choices_of(scale: LabelScale) -> tuple[Choice, ...]:
    """The labels of a scale."""
    return GRADES if scale is LabelScale.GRADES else SIDES
