"""The texts that answers are held against, and what links a claim to the sentence that it depends on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from xml.etree.ElementTree import Element

from arena.services.evidence.highlights import REFERENCE, Found, Places, mark_answer
from arena.services.evidence.questions import QuestionView
from arena.site.ui.markup import element, explain

LIT = "outline:2px solid var(--accent);outline-offset:1px;background:var(--accent-wash)"


def link_class(place: int) -> str:
    """The class of everything that depends on a sentence, and of the sentence."""
    return f"aa-k{place}"


def linked(node: Element, places: Iterable[int]) -> Element:
    """A part of the page that is lit up together with what depends on the same sentences."""
    classes = " ".join(map(link_class, places))
    if classes:
        node.set("class", f"{node.get('class', '')} aa-linked {classes}".strip())
        node.set("tabindex", "0")
    return node


def lit_style(places: Collection[int]) -> str:
    """The style that lets all that has one of these places light up where one is pointed at or chosen."""
    selectors = (
        f".stMain:has(.{name}:is(:hover,:focus)) .{name}" for name in map(link_class, sorted(places))
    )
    return f"{','.join(selectors)}{{{LIT}}}" if places else ""


def passage_text(parts: Sequence[Found], used: Collection[int] = ()) -> Element:
    """A passage as text; its statements say how many answers cover them, `used` sentences can be chosen."""
    return element("div", *(_passage_part(part, used) for part in parts), class_="aa-text")


def _passage_part(part: Found, used: Collection[int]) -> Element | str:
    total = len(part.covered) + len(part.missed)
    places = () if part.place is None or part.place not in used else (part.place,)
    if not total:
        return linked(element("mark", part.text, class_="aa-place"), places) if places else part.text
    title = (
        f"covered by {', '.join(part.covered) or 'nobody'}; missed by {', '.join(part.missed) or 'nobody'}"
    )
    kind = "aa-place aa-covers" if part.covered else "aa-place aa-missed"
    sign = "✓" if part.covered else "–"
    count = element("sup", f"{sign} {len(part.covered)}/{total}")
    return linked(explain(element("mark", part.text, count, class_=kind), title), places)


def reference_text(text: str, question_view: QuestionView, places: Places, used: Collection[int]) -> Element:
    """The reference, each sentence with the passages' sentences that its scores say it depends on."""
    scores = [score for answer in question_view.answers if answer.is_reference for score in answer.scores]
    own = iter(places.in_source(REFERENCE))
    parts: list[Element | str] = []
    for part in mark_answer(text, scores, places):
        numbers = [next(own)] if part.text.strip() else []
        known = [place for place in dict.fromkeys((*numbers, *part.places)) if place in used]
        parts.append(linked(element("mark", part.text), known) if known else part.text)
    return element("div", *parts, class_="aa-text")
