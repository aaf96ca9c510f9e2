"""The texts that answers are held against, and what links a claim to the sentence that it rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.evidence.highlights import REFERENCE, Found, Places, mark_answer, mark_passage
from arena.services.evidence.questions import QuestionView
from arena.site.boards.view_model import BoardView
from arena.site.ui.components import heading, note
from arena.site.ui.markup import element, explain, put
from data.store.boards.scores import ScoredAnswer

LIT = "outline:2px solid var(--accent);outline-offset:1px;background:var(--accent-wash)"


def link_class(place: int) -> str:
    """The class of everything that rests on a sentence, and of the sentence."""
    return f"aa-k{place}"


def linked(node: Element, places: Iterable[int]) -> Element:
    """A part of the page that is lit up together with what rests on the same sentences."""
    classes = " ".join(map(link_class, places))
    if classes:
        node.set("class", f"{node.get('class', '')} aa-linked {classes}".strip())
        node.set("tabindex", "0")
    return node


def light_up(places: Collection[int]) -> None:
    """Let everything that has one of these places light up where one of them is pointed at or chosen."""
    if not places:
        return
    selectors = (
        f".stMain:has(.{name}:is(:hover,:focus)) .{name}" for name in map(link_class, sorted(places))
    )
    put(element("style", f"{','.join(selectors)}{{{LIT}}}"))


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


def show_sources(view: BoardView, question_view: QuestionView, places: Places, used: Collection[int]) -> None:
    """The reference and the passages, each sentence lit up with the claims that rest on it."""
    question = question_view.question
    scores = [score for answer in question_view.answers for score in answer.scores]
    if question.reference:
        heading("Human-written reference" if view.by_people else "Reference", anchor="reference")
        put(_reference_text(question.reference, question_view, places, used))
    heading(f"Passages ({len(question.passages)})", anchor="passages")
    if not question.passages:
        note("This question comes without passages.")
        return
    note(
        "Underlined: a statement that some answer covers, with how many do; dotted: one that all miss. Point "
        "at a sentence, or choose it, to light up the claims that rest on it."
    )
    _show_passages(question_view, scores, places, used)


def _reference_text(text: str, question_view: QuestionView, places: Places, used: Collection[int]) -> Element:
    """The reference, each sentence with the passages' sentences that its scores say it rests on."""
    scores = [score for answer in question_view.answers if answer.is_reference for score in answer.scores]
    own = iter(places.in_source(REFERENCE))
    parts: list[Element | str] = []
    for part in mark_answer(text, scores, places):
        numbers = [next(own)] if part.text.strip() else []
        known = [place for place in dict.fromkeys((*numbers, *part.places)) if place in used]
        parts.append(linked(element("mark", part.text), known) if known else part.text)
    return element("div", *parts, class_="aa-text")


def _show_passages(
    question_view: QuestionView, scores: Sequence[ScoredAnswer], places: Places, used: Collection[int]
) -> None:
    for at, passage in enumerate(question_view.question.passages):
        with st.container(key=f"prose-passage-{at}", gap="xsmall"):
            with st.container(key=f"title-passage-{at}"):
                st.text(f"{passage.title or 'Passage'}  [{passage.id}]")
            text = passage_text(mark_passage(passage.text, passage.id, scores, places), used)
            if not used and not at:
                # The column scrolls: without a claim to choose the keyboard needs something to stand on.
                text.set("tabindex", "0")
            put(text)
