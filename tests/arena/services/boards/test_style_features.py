from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.services.boards.facts import style_features
from leaderboard.vocabulary import Covariate

LAID_OUT = """# Towers

The **Eiffel Tower** is 330 m tall [1], __painted__ brown [2, 3] and [not a mark].

## Visits ##
- seven million a year [4; 5]
  * half of them in summer
1. by lift
2) on foot

#not a heading
2 ** 3 ** 4 is no span of bold, **
nor is this**.
```python
# a comment
- **code** [9]
```
"""


MARKS = (Covariate.HEADINGS, Covariate.BOLD, Covariate.LISTS)


def test_marks_are_counted() -> None:
    """Headings, bold and items count; fenced code counts for nothing."""
    assert style_features(LAID_OUT) == dict(zip(MARKS, (2, 3, 4), strict=True))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("", (0, 0, 0)),
        ("plain words. 3 - 2 is 1", (0, 0, 0)),
        ("[1][2] and [3]", (0, 0, 0)),
        ("```\n# never closed", (0, 0, 0)),
        ("~~~\n```\n~~~\n- after", (0, 0, 1)),
    ],
)
def test_texts_without_marks(text: str, marks: tuple[int, ...]) -> None:
    """Prose has none; an open fence lasts to the end, and a fence is closed by its own kind."""
    assert style_features(text) == dict(zip(MARKS, marks, strict=True))


@given(st.lists(st.sampled_from(["# h", "- i", "**b**", "[1, 2]", "words", "", "2. i"])))
def test_lines_add_up(lines: list[str]) -> None:
    """Without fences a text has the marks of its lines."""
    whole = style_features("\n".join(lines))
    parts = [style_features(line) for line in lines]
    assert whole == {mark: sum(part[mark] for part in parts) for mark in MARKS}
