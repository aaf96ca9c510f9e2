"""Facts of two answers side by side: which only one of them covers, then those that both or neither cover."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.evidence.covered_facts import Covered, FactDiff
from arena.services.evidence.highlights import Places
from arena.site.questions.answers import fact_places
from arena.site.questions.sources import linked
from arena.site.ui.components import note
from arena.site.ui.markup import element, put


def show_diff(diff: FactDiff, first: str, second: str, places: Places | None = None) -> None:
    """What tells two answers apart in columns; what does not below, folded."""
    only = (diff.by(first=True, second=False), diff.by(first=False, second=True))
    for at, (column, name, facts) in enumerate(zip(st.columns(2), (first, second), only, strict=True)):
        with column:
            put(_titled(f"Only {name} covers", facts, "✓", places, side=1 - at))
    both, neither = diff.by(first=True, second=True), diff.by(first=False, second=False)
    if both or neither or diff.unknown:
        with st.expander(f"Both cover {len(both)}, neither {len(neither)}"):
            put(_titled("Both cover", both, "✓", places))
            put(_titled("Neither covers", neither, "–", places))
            if diff.unknown:
                note(f"{diff.unknown:,} more are recorded for one of the two alone.")


def _titled(
    title: str, facts: Sequence[Covered], sign: str, places: Places | None, side: int | None = None
) -> Element:
    head = element("p", element("strong", title), f" {len(facts)}", class_="aa-facts")
    lines = [_line(covered, sign, places, side) for covered in facts]
    return element("div", head, element("ul", *lines, class_="aa-factlist") if lines else "")


def _line(covered: Covered, sign: str, places: Places | None, side: int | None) -> Element:
    """A fact with what is known of the side that does not cover it, or of both."""
    fact = covered.fact
    line = element("li", f"{sign} {fact.text} ")
    if fact.passages:
        line.append(element("span", f"[{', '.join(fact.passages)}]", class_="aa-muted"))
    notes = covered.notes if side is None else (covered.notes[side],)
    for text in filter(None, notes):
        line.append(element("span", f"The other {text}." if side is not None else text, class_="aa-sub"))
    return linked(line, fact_places(fact, places))
