"""What a board's places depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from arena.site.boards.cache import cached_html
from arena.site.boards.view_model import BoardView
from arena.site.ui.components import note
from arena.site.ui.formats import points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, words_table
from arena.site.ui.url_state import chosen_words
from leaderboard.trust.sections import Section, Unit
from leaderboard.trust.sentences import first_place_sentence

Json = Mapping[str, Any]
NO_QUESTIONS = (
    "The board was published as counts of verdicts, so that nobody knows which questions they are on."
)
NOT_THEN = "The board was published without these figures."
NO_NEIGHBOURS = "No two systems have ratings that the battles compare, so there are no places to exchange."
MEANING = (
    "For each two neighbours the fewest questions (or battles) that were found whose removal exchanges them. "
    "Each set was verified by rating the battles that are left; a smaller one may exist all the same. A "
    "place that depends on few of many questions may fall with the next ones, whoever judges."
)
DECIDING = "deciding"
"""The word of the address that asks which questions they are."""
EXCHANGES = ("Stand in this order", "Points apart", "Questions", "Battles")


def first_place(view: BoardView) -> str:
    """What first place depends on, in a sentence; empty where nothing tells it of the ratings shown."""
    if view.is_by_people or view.is_controlled or Section.FRAGILITY not in view.trust:
        return ""
    return first_place_sentence(view.trust[Section.FRAGILITY][Unit.QUESTIONS])


def show_fragility(view: BoardView) -> None:
    """Which few questions decide each place."""
    found = view.trust.get(Section.FRAGILITY)
    if found is None:
        note(NO_QUESTIONS if view.round_name is None else NOT_THEN)
        return
    if not found[Unit.QUESTIONS]["pairs"]:
        note(NO_NEIGHBOURS)
        return
    for unit in Unit:
        if said := first_place_sentence(found[unit]) if unit in found else "":
            note(said)
    note(MEANING)
    cached_html(view, "fragility", lambda: exchanges_table(view, found))
    if chosen_words(DECIDING):
        cached_html(view, "deciding questions", lambda: deciding_questions(view, found))
    else:
        put(anchor("Which questions", "trust", board=view.name, **{DECIDING: "shown"}))


def exchanges_table(view: BoardView, found: Json) -> Element:
    """Each two neighbours with what their order depends on."""
    battles = {(pair["first"], pair["second"]): pair for pair in found.get(Unit.BATTLES, {}).get("pairs", ())}
    rows = [
        (
            f"{pair['first']}, {pair['second']}",
            points(pair["points"]),
            _size(pair),
            _size(battles.get((pair["first"], pair["second"]))),
        )
        for pair in found[Unit.QUESTIONS]["pairs"]
    ]
    return words_table(EXCHANGES, rows, caption=f"{view.title}: neighbours on the board.", spare=1)


def _size(pair: Json | None) -> str:
    if pair is None:
        return "–"
    if pair["status"] == "tied":
        return "equal ratings"
    if pair["size"] is None:
        return f"none within half of {pair['of']:,}"
    return f"{pair['size']:,} of {pair['of']:,}"


def deciding_questions(view: BoardView, found: Json) -> Element:
    """Of each two neighbours the questions that their order depends on, every one linked."""
    named = [pair for pair in found[Unit.QUESTIONS]["pairs"] if pair["questions"]]
    return element("div", *(_named(view, pair) for pair in named))


def _named(view: BoardView, pair: Json) -> Element:
    """How many questions there are, which unfolds into their links."""
    links = [element("li", anchor(name, "question", board=view.name, id=name)) for name in pair["questions"]]
    more = [element("p", f"and {pair['unnamed']:,} more")] if pair["unnamed"] else []
    title = f"{pair['first']}, {pair['second']}: {_size(pair)}"
    return element("details", element("summary", title), element("ul", *links), *more)
