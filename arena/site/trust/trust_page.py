"""How far a board's judge can be trusted: a question each, details folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from xml.etree.ElementTree import Element

from arena.html_pages import Parts
from arena.services.accounts.auth import PUBLIC
from arena.services.boards.comparison import RoundComparison
from arena.services.boards.metric_columns import column_meanings
from arena.site.boards.board_parts import how_made
from arena.site.boards.cache import cached_html
from arena.site.boards.pickers import addressed_board, boards, title_of_page
from arena.site.boards.sentences import name_and_model
from arena.site.boards.view_model import BoardView
from arena.site.services import arena
from arena.site.trust import covariates
from arena.site.trust.basis import basis_query, chosen_basis
from arena.site.trust.control_figures import Placed
from arena.site.trust.reasons import TrustFigure, as_sentences
from arena.site.ui.components import name_page, note
from arena.site.ui.errors import public_error
from arena.site.ui.formats import points, range_of_points, shown
from arena.site.ui.help_texts import FLAGS
from arena.site.ui.markup import as_flow, element, html_put_by, put, put_part
from arena.site.ui.tables import SCROLLS, anchor, link, plain_table
from arena.site.ui.url_state import chosen_words
from data.errors import ArenaError
from leaderboard.agreement.coefficients import Estimate
from leaderboard.agreement.comparison import BoardPair
from leaderboard.vocabulary import OVERALL

LEFT_OUT = "They leave out what the judge makes of the reference."
QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        TrustFigure.AGREEMENT: "Does it decide as people do?",
        TrustFigure.VOTES: "Have people checked this board?",
        TrustFigure.FLIPS: "Does the order of the answers bias it?",
        TrustFigure.FAILURES: "How many battles have no verdict?",
    }
)
COMPARED = "judges"
ALONE = "No other board of this question set is published, so there is no other judge to compare with."
MEANING = (
    "On the battles that all of them decided. Kendall's tau is 1 where two judges rank all systems alike, 0 "
    "where they have nothing in common, −1 where one ranks the other way round. A system moves where its "
    "rating differs by more than chance, for all systems together."
)
PAIRS = ("Judges", "Kendall's tau", "Rank correlation", "Moved")
MOVES = ("System", "Place before", "Place after", "Shift in points", "Moved")


def show() -> None:
    """Show what is known of a board's judge."""
    view = addressed_board()
    name_page("Trust and method", view.full_title)
    put_part(as_parts(view), "page")


def as_parts(view: BoardView) -> Parts:
    """Each question with its answer, and folded what is known beside; then how the numbers come about."""
    return Parts(
        "pages/trust.html",
        {
            "view": view,
            "title": title_of_page("Trust and method", "trust", boards()),
            "board_link": link("", board=view.name, **basis_query(chosen_basis(view, OVERALL))),
            "questions": list(_questions(view)),
            "made": how_made(view),
            "terms": (*column_meanings().items(), *FLAGS.values()),
            "between": _between(view) if view.between.ratings else None,
            "between_note": f"{view.between.note} {LEFT_OUT}",
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of how far the judge can be trusted: its answer, and as HTML what unfolds below.

    `place` is its anchor, `is_open` where the address asks for what is below.
    """

    place: str
    asked: str
    answer: str
    more: str
    is_open: bool = False


def _questions(view: BoardView) -> Iterator[Question]:
    for label, value, meaning in view.health:
        more = [html_put_by(partial(note, meaning))]
        yield Question(
            place="",
            asked=QUESTIONS.get(label, label),
            answer=as_sentences(label, value, meaning),
            more=as_flow(more),
        )
    for place, asked, answer, show_more, word in (
        (
            "covariates",
            "Does the length of an answer bias it?",
            covariates.length_in_short(view),
            covariates.show_covariates,
            "",
        ),
        ("judges", "Would another judge rank alike?", _others(view), _show_other_judges, COMPARED),
    ):
        yield Question(
            place=place,
            asked=asked,
            answer=answer or "This board does not tell.",
            more=as_flow([html_put_by(partial(show_more, view))]),
            is_open=bool(chosen_words(word)),
        )


def _between(view: BoardView) -> Element:
    rows = [
        (_places(placed), system, points(placed.rating.value), range_of_points(placed.rating))
        for system, placed in view.between.ratings.items()
    ]
    return plain_table(("Rank", "System", "Rating", "95 % interval"), rows)


def _places(placed: Placed) -> str:
    if placed.rank_lower == placed.rank_upper:
        return str(placed.rank_lower)
    return f"{placed.rank_lower}–{placed.rank_upper}"


def _others(view: BoardView) -> str:
    """How many other judges there are to compare with, in a sentence."""
    names = () if view.round_name is None else arena().comparison.comparable(view.round_name)
    return f"{len(names)} boards of this question set can be compared." if names else ALONE


def _show_other_judges(view: BoardView) -> None:
    """Compare the board with those of other judges of its questions; a panel's with its members."""
    names = () if view.round_name is None else arena().comparison.comparable(view.round_name)
    if not names:
        note("Nothing to compare.")
    elif not chosen_words(COMPARED):
        put(anchor("Compare them", "trust", board=view.name, **{COMPARED: "shown"}))
    else:
        try:
            cached_html(
                view,
                f"judges {' '.join(names)}",
                lambda: comparison_element(arena().comparison.compare(names, caller=PUBLIC)),
            )
        except ArenaError as error:
            note(str(public_error(error)))


def comparison_element(comparison: RoundComparison) -> Element:
    """How alike the judges rank, and who moves."""
    return element("div", *_parts(comparison), class_="aa-flow")


def _parts(comparison: RoundComparison) -> Iterator[Element]:
    sides = ", ".join(name_and_model(side.name, side.judge) for side in comparison.sides)
    yield element("p", f"{comparison.battles:,} battles by {sides}. {MEANING}", class_="aa-note")
    yield plain_table(PAIRS, [_pair(pair) for pair in comparison.pairs], wrap=SCROLLS)
    for pair in comparison.pairs:
        if any(move.moved for move in pair.moves):
            yield element("h3", f"From {pair.first} to {pair.second}")
            yield plain_table(MOVES, _moves(pair))
    for line in comparison.notes:
        yield element("p", line, class_="aa-note")


def _pair(pair: BoardPair) -> tuple[str, ...]:
    moved = sum(move.moved for move in pair.moves)
    agreement = pair.agreement
    return (
        f"{pair.first}, {pair.second}",
        _with_interval(agreement.kendall),
        _with_interval(agreement.spearman),
        f"{moved:,} of {len(pair.moves):,}",
    )


def _moves(pair: BoardPair) -> list[tuple[str, ...]]:
    return [
        (
            move.system,
            shown(move.rank_before, "d"),
            shown(move.rank_after, "d"),
            _with_interval(move.shift, "+.0f"),
            "yes" if move.moved else "within noise",
        )
        for move in pair.moves
    ]


def _with_interval(part: Estimate, form: str = ".2f") -> str:
    if part.value is None:
        return "–"
    bounds = part.interval
    interval = "" if bounds is None else f" ({bounds.lower:{form}} to {bounds.upper:{form}})"
    return f"{part.value:{form}}{interval}".replace("-", "−")
