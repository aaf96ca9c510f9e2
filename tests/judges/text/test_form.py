"""How answers are laid out: what counts as a heading, a bold span, an item of a list, a citation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.text.form import Form, form_of

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


def test_marks_are_counted() -> None:
    """Headings, bold, items and every cited number count; fenced code counts for nothing."""
    assert form_of(LAID_OUT) == Form(headings=2, bold=3, lists=4, citations=5)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", Form(headings=0, bold=0, lists=0, citations=0)),
        ("plain words. 3 - 2 is 1", Form(headings=0, bold=0, lists=0, citations=0)),
        ("[1][2] and [3]", Form(headings=0, bold=0, lists=0, citations=3)),
        ("```\n# never closed", Form(headings=0, bold=0, lists=0, citations=0)),
        ("~~~\n```\n~~~\n- after", Form(headings=0, bold=0, lists=1, citations=0)),
    ],
)
def test_texts_without_marks(text: str, form: Form) -> None:
    """Prose has none; an open fence lasts to the end, and a fence is closed by its own kind."""
    assert form_of(text) == form


@given(st.lists(st.sampled_from(["# h", "- i", "**b**", "[1, 2]", "words", "", "2. i"])))
def test_lines_add_up(lines: list[str]) -> None:
    """Without fences a text has the marks of its lines."""
    whole = form_of("\n".join(lines))
    parts = [form_of(line) for line in lines]
    assert whole == Form(
        headings=sum(part.headings for part in parts),
        bold=sum(part.bold for part in parts),
        lists=sum(part.lists for part in parts),
        citations=sum(part.citations for part in parts),
    )
