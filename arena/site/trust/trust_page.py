"""How far a board's judge can be trusted, and on what its places rest: a part for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.accounts.auth import PUBLIC
from arena.services.boards.comparison import RoundComparison
from arena.services.boards.metric_columns import column_meanings
from arena.site.boards.board_parts import back_to_board, how_made
from arena.site.boards.cache import cached_html
from arena.site.boards.pickers import choose_board
from arena.site.boards.sentences import name_and_model
from arena.site.boards.view_model import BoardView
from arena.site.services import arena
from arena.site.trust import covariates, robustness
from arena.site.trust.basis import basis_query, chosen_basis
from arena.site.trust.control_figures import Placed
from arena.site.trust.metric_agreement import show_agreement
from arena.site.trust.reasons import TrustFigure
from arena.site.trust.retest_part import show_retest
from arena.site.ui.components import lead, name_page, note, page_heading
from arena.site.ui.errors import public_error
from arena.site.ui.formats import points, range_of_points, shown
from arena.site.ui.help_texts import FLAGS
from arena.site.ui.markup import Child, element, folded, joined, put
from arena.site.ui.tables import SCROLLS, plain_table, words_table
from data.errors import ArenaError
from leaderboard.agreement.coefficients import Estimate
from leaderboard.agreement.comparison import BoardPair
from leaderboard.vocabulary import OVERALL

LEFT_OUT = "They leave out what the judge makes of the reference."
HEADER = ("Question", "Answer")
QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        TrustFigure.AGREEMENT: "Does it decide as people do?",
        TrustFigure.VOTES: "Have people checked this board?",
        TrustFigure.FLIPS: "Does the order of the answers bias it?",
        TrustFigure.FAILURES: "How many battles have no verdict?",
        TrustFigure.ATTACKS: "Can an instruction in an answer fool it?",
        TrustFigure.RETEST: "Does it say the same when asked again?",
    }
)
ALONE = "No other board of this question set is published, so there is no other judge to compare with."
MEANING = (
    "On the battles that all of them decided. Kendall's tau is 1 where two judges rank all systems alike, 0 "
    "where they have nothing in common, −1 where one ranks the other way round. A system moves where its "
    "rating differs by more than chance, for all systems together."
)
PAIRS = ("Judges", "Kendall's tau", "Rank correlation", "Moved")
MOVES = ("System", "Place before", "Place after", "Shift in points", "Moved")


def opening(view: BoardView) -> None:
    """Answer each question of how far the judge can be trusted."""
    back_to_board(view, basis_query(chosen_basis(view, OVERALL)))
    lead("A rating's interval counts which questions were asked. Here is what else a board depends on.")
    put(words_table(HEADER, answers(view), caption="May I trust this judge?"))
    show_retest(view)
    if shown := [name for name in view.scored if " " not in name]:
        show_agreement(shown)


def show() -> None:
    """Show what is known of a board's judge."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page_heading("Trust and method")
        view = choose_board(width=560)
    name_page("Trust and method", view.full_title)
    with joined():
        opening(view)
    _show_other_judges(view)
    robustness.show_fragility(view)
    covariates.show_covariates(view)
    _show_method(view)


def _show_method(view: BoardView) -> None:
    """How the numbers were computed, what columns mean, and ratings of battles between systems alone."""
    with joined():
        put(element("h2", "How the numbers come about", id="method"))
        note(how_made(view))
        way = element("a", "The whole method", href="./methodology", target="_self")
        put(element("p", way, class_="aa-note"))
        named = (*column_meanings().items(), *FLAGS.values())
        terms = [element("p", element("strong", name), f"  {text}") for name, text in named]
        put(folded("What the columns mean", element("div", *terms, class_="aa-terms")))
        if view.between.ratings:
            inside = element(
                "div", element("p", f"{view.between.note} {LEFT_OUT}", class_="aa-note"), _between(view)
            )
            put(folded("Ratings of battles between systems alone", inside))


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


def answers(view: BoardView) -> Iterator[tuple[Child, ...]]:
    """Each question of how far a judge can be trusted, and its answer with what the figure is."""
    for label, value, meaning in view.health:
        yield QUESTIONS.get(label, label), _answer(element("strong", value), meaning)
    for question, place, answer in (
        ("What does first place depend on?", "fragility", robustness.first_place(view)),
        ("Does the length of an answer bias it?", "covariates", covariates.length_in_short(view)),
    ):
        way = element("a", "More below", href=f"#{place}", target="_self")
        yield question, _answer(answer or element("strong", "not known"), way)


def _answer(said: Child, more: Child) -> Element:
    """An answer with what explains it below."""
    return element("div", said, element("span", more, class_="aa-sub"))


def _show_other_judges(view: BoardView) -> None:
    """Compare the board with those of other judges of its questions; a panel's with its members."""
    put(element("h2", "Other judges", id="judges"))
    if view.round_name is None:
        note("The board has no battles of its own, so that none can be compared.")
        return
    names = arena().comparison.comparable(view.round_name)
    if not names:
        note(ALONE)
        return
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
        if line != comparison.trust_unknown:
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
