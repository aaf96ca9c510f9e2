"""What annotators are told: RAG-QA Arena's three aspects and five grades, in our words."""

from __future__ import annotations

RUBRIC = """
Say which of two answers serves somebody who asked this question better. Look at three things, in this order:

1. **Truthful.** Does it say what is right? Count what is right *and* to the point. One wrong statement
   weighs more than one that is missing.
2. **Helpful.** Where both are equally right: which one says more that helps with the question, and less that
   does not?
3. **Complete.** Which one leaves out less of what is right and helpful?

Neither length nor polish nor the order on the page is a reason. Where you cannot tell, choose *Not sure*.
"""
EXAMPLES = """
*How long do hard-boiled eggs keep in a fridge?*

- "About a week, peeled or not; peeled ones dry out sooner." against "a week no 3 days yes": the first is
  **better**. The second only lists what contradicts itself.
- "About a week." against "Five to seven days in a closed box.": the second is **slightly better**. Both are
  right, it says a little more.
- "About a week in a fridge." against "Seven days, chilled.": **not sure**. They say the same.
"""
GRADES = {
    -2: "Answer 1 is better",
    -1: "Answer 1 is slightly better",
    0: "Not sure",
    1: "Answer 2 is slightly better",
    2: "Answer 2 is better",
}
