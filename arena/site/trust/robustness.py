"""What a board's places rest on, and how often its judge makes cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from arena.site.boards.cache import cached_html
from arena.site.boards.view_model import BoardView
from arena.site.ui.components import note, strip
from arena.site.ui.formats import percent, points
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import anchor, plain_table, words_table
from arena.site.ui.url_state import opened
from leaderboard.trust.sections import Section, Unit
from leaderboard.trust.sentences import cycles_sentence, first_place_sentence, star_places, star_sentence

Json = Mapping[str, Any]
NO_QUESTIONS = (
    "The board was published as counts of verdicts, so that nobody knows which questions they are on."
)
NOT_THEN = "The board was published without these figures."
NO_NEIGHBOURS = "No two systems have ratings that the battles compare, so there are no places to exchange."
NO_TRIPLES = (
    "On no question were three systems all judged against each other: battles against the reference alone "
    "cannot form a cycle."
)
MEANING = (
    "For each two neighbours the fewest questions (or battles) that were found whose removal exchanges them. "
    "Each set was verified by rating the battles that are left; a smaller one may exist all the same. A "
    "place that rests on few of many questions may fall with the next ones, whoever judges."
)
WAYS = "A > B: the judge preferred A to B. A weak cycle needs a tie: near ties may do that without any error."
EXCHANGES = ("Stand in this order", "Points apart", "Questions", "Battles")
WORST_QUESTIONS = ("Question", "Cycles", "Triples without a tie", "Consistence")
WORST_TRIPLES = ("Systems", "Cycles", "This way round", "Questions without a tie")
TOTAL = ("Cycle over all questions", "Shares of the win", "Holds in resamples")
STAR = ("System", "Place", "By the reference alone", "Rating", "Rating by the reference alone")


def first_place(view: BoardView) -> str:
    """What first place rests on, in a sentence; empty where nothing tells it of the ratings shown."""
    if view.is_by_people or view.is_controlled or Section.FRAGILITY not in view.trust:
        return ""
    return first_place_sentence(view.trust[Section.FRAGILITY][Unit.QUESTIONS])


def cycles_in_short(view: BoardView) -> str:
    """How often the judge prefers A to B, B to C and C to A, in a sentence; empty where nothing tells it."""
    found = view.trust.get(Section.CYCLES)
    return "" if found is None else cycles_sentence(found)


def show_fragility(view: BoardView) -> None:
    """Which few questions decide each place."""
    put(element("h2", "What a place rests on", id="fragility"))
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
    with opened("Which questions", "deciding") as is_open:
        if is_open:
            cached_html(view, "deciding questions", lambda: deciding_questions(view, found))


def exchanges_table(view: BoardView, found: Json) -> Element:
    """Each two neighbours with what their order rests on."""
    battles = {(pair["first"], pair["second"]): pair for pair in found.get(Unit.BATTLES, {}).get("pairs", ())}
    rows = [
        (
            f"{pair['first']}, {pair['second']}",
            f"{pair['points']:.1f}",
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
    """Of each two neighbours the questions that their order rests on, every one linked."""
    named = [pair for pair in found[Unit.QUESTIONS]["pairs"] if pair["questions"]]
    return element("div", *(_named(view, pair) for pair in named))


def _named(view: BoardView, pair: Json) -> Element:
    """How many questions there are, which unfolds into their links."""
    links = [element("li", anchor(name, "question", board=view.name, id=name)) for name in pair["questions"]]
    more = [element("p", f"and {pair['unnamed']:,} more")] if pair["unnamed"] else []
    title = f"{pair['first']}, {pair['second']}: {_size(pair)}"
    return element("details", element("summary", title), element("ul", *links), *more)


def show_cycles(view: BoardView) -> None:
    """How often the judge prefers A to B, B to C and C to A."""
    put(element("h2", "Cycles", id="cycles"))
    found = view.trust.get(Section.CYCLES)
    if found is None:
        known = Section.FRAGILITY in view.trust
        note(NO_QUESTIONS if view.round_name is None else NO_TRIPLES if known else NOT_THEN)
        return
    note(cycles_sentence(found))
    note(WAYS)
    strip(_figures(found))
    with opened("Questions and systems with most cycles", "worst") as is_open:
        if is_open:
            cached_html(view, "cycles", lambda: worst_tables(view, found))
    if star := found.get("star"):
        put(element("h3", "By the reference alone", id="star"))
        note(star_sentence(star))
        places = star_places(star)
        if any(place != alone for place, alone in places.values()):
            put(plain_table(STAR, [_star_row(row, places) for row in star["places"]], spare=2))


def _figures(found: Json) -> tuple[tuple[str, str], ...]:
    total, consistence = found["over_questions"], found["consistence"]
    mean = "not all pairs judged" if consistence["mean"] is None else f"{consistence['mean']:.2f}"
    chance = "" if consistence["mean"] is None else f" (coin flips {consistence['coin_flips']:.2f})"
    return (
        ("cycles", f"{found['cycles']:,} of {found['strict']:,} triples"),
        ("weak cycles, one tie", f"{found['one_tie_cycles']:,} of {found['one_tie']:,}"),
        ("weak cycles, two ties", f"{found['two_ties']:,}"),
        ("coefficient of consistence", f"{mean}{chance}"),
        ("cycles over all questions", f"{total['cycles']:,} of {total['triples']:,}{_bounds(total)}"),
    )


def _bounds(share: Json) -> str:
    if share["lower"] is None:
        return ""
    return f" ({percent(share['lower'])} to {percent(share['upper'])})"


def worst_tables(view: BoardView, found: Json) -> Element:
    """The questions and the triples of systems with most cycles, all of them linked."""
    questions = [
        (
            anchor(row["question"], "question", board=view.name, id=row["question"]),
            f"{row['cycles']:,}",
            f"{row['strict']:,}",
            "–" if row["consistence"] is None else f"{row['consistence']:.2f}",
        )
        for row in found["worst_questions"]
    ]
    triples = [
        (
            _linked_cycle(view, row["systems"]),
            f"{row['cycles']:,}",
            f"{row['same_way']:,}",
            f"{row['strict']:,}",
        )
        for row in found["worst_triples"]
    ]
    return element(
        "div",
        words_table(WORST_QUESTIONS, questions, caption="Questions with most cycles", spare=1),
        words_table(WORST_TRIPLES, triples, caption="Systems with most cycles", spare=1),
        _total_table(view, found["over_questions"]["listed"]),
    )


def _total_table(view: BoardView, listed: Sequence[Json]) -> Element:
    if not listed:
        return element("p", "All questions together make no cycle.", class_="aa-note")
    rows = [
        (
            _linked_cycle(view, row["systems"]),
            ", ".join(percent(share) for share in row["shares"]),
            "–" if row["draws"] is None else percent(row["draws"]),
        )
        for row in listed
    ]
    return words_table(TOTAL, rows, caption="Cycles in what all questions together say", spare=1)


def _linked_cycle(view: BoardView, systems: tuple[str, ...]) -> Element:
    """Three systems, each pair leading to its battles."""
    ways = zip(systems, (*systems[1:], systems[0]), strict=True)
    links = [
        anchor(f"{first} > {second}", "questions", board=view.name, system=first, opponent=second)
        for first, second in ways
    ]
    parts: list[Child] = [links[0]]
    for link in links[1:]:
        parts += [", ", link]
    return element("span", *parts)


def _star_row(place: Json, places: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """One system, or the reference, which takes no place."""
    return (
        place["system"],
        *map(str, places.get(place["system"], ("–", "–"))),
        points(place["rating"]),
        points(place["star_rating"]),
    )
