"""Texts with marks: what an answer covers, which of its claims the passages bear out, what a passage has."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from arena.services.marking import Found, Stretch
from arena.web.markup import element
from judges.factuality.measures import Label

SIGNS = {Label.SUPPORTED: "✓", Label.CONTRADICTED: "✗", Label.UNDECIDED: "?"}
CLASSES = {Label.SUPPORTED: "aa-for", Label.CONTRADICTED: "aa-against", Label.UNDECIDED: "aa-open"}
LEGEND = (
    "Underlined: covers a statement of the passages (the number says how many). Coloured: a claim that the "
    "passages "
    "support ✓, contradict ✗ or leave open ?, the stronger the surer, with its probability. Point at a "
    "part for more."
)


def answer_text(parts: Sequence[Stretch]) -> Element:
    """An answer as text with its marks; what has none stands as it is."""
    return element("div", *(_stretch(part) if part.marked else part.text for part in parts), class_="aa-text")


def _stretch(part: Stretch) -> Element:
    told, title = [], []
    if part.label is not None and part.posterior is not None:
        sure = "" if part.label is Label.UNDECIDED else f" {part.posterior:.2f}"
        told.append(f"{SIGNS[part.label]}{sure}")
        title.append(
            f"{part.label}: probability {part.posterior:.2f} that the claim is true, given the passages"
        )
    if part.covers:
        told.append(f"+{len(part.covers)}")
        title.append("covers: " + " | ".join(part.covers))
    if part.instead:
        told.append("≠")
        title.append(f"the passages say instead: {part.instead}")
    kinds = [CLASSES.get(part.label, "") if part.label else "", "aa-covers" if part.covers else ""]
    strength = "" if part.posterior is None else f"--strength: {100 * abs(2 * part.posterior - 1):.0f}%"
    return element(
        "mark",
        part.text,
        element("sup", " ".join(told)),
        class_=" ".join(kind for kind in kinds if kind) or "aa-plain",
        title="\n".join(title),
        style=strength,
    )


def passage_text(parts: Sequence[Found]) -> Element:
    """A passage as text; its statements say how many answers cover them."""
    return element("div", *(_found(part) for part in parts), class_="aa-text")


def _found(part: Found) -> Element | str:
    every = len(part.covered) + len(part.missed)
    if not every:
        return part.text
    title = (
        f"covered by {', '.join(part.covered) or 'nobody'}; missed by {', '.join(part.missed) or 'nobody'}"
    )
    kind = "aa-covers" if part.covered else "aa-missed"
    sign = "✓" if part.covered else "–"
    count = element("sup", f"{sign} {len(part.covered)}/{every}")
    return element("mark", part.text, count, class_=kind, title=title)
