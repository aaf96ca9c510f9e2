"""How far a board's judge can be trusted, and on what its places rest: a part for each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.accounts.auth import PUBLIC
from arena.services.boards.comparison import RoundComparison
from arena.site.boards.board_parts import back_to_board
from arena.site.boards.cache import cached_html
from arena.site.boards.pickers import choose_board
from arena.site.boards.sentences import named_once
from arena.site.boards.view_model import BoardView
from arena.site.services import arena
from arena.site.trust import covariates, robustness
from arena.site.trust.asked_again import show_asked_again, warn_of_another_judge
from arena.site.trust.basis import basis_query, chosen_basis
from arena.site.trust.reasons import TrustFigure
from arena.site.ui.components import lead, name_page, note, page_heading
from arena.site.ui.errors import public_error
from arena.site.ui.formats import percent, shown
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import SCROLLS, plain_table, words_table
from data.errors import ArenaError
from leaderboard.agreement.coefficients import Estimate
from leaderboard.agreement.comparison import BoardPair
from leaderboard.vocabulary import OVERALL

HEADER = ("Question", "Answer")
QUESTIONS: Mapping[str, str] = MappingProxyType(
    {
        TrustFigure.AGREEMENT: "Does it decide as people do?",
        TrustFigure.VOTES: "Have people checked this board?",
        TrustFigure.FLIPS: "Does the order of the answers sway it?",
        TrustFigure.FAILURES: "How many battles have no verdict?",
        TrustFigure.ATTACKS: "Can an instruction in an answer fool it?",
        TrustFigure.RETEST: "Does it say the same when asked again?",
        TrustFigure.SAME_JUDGE: "Is it the judge that judged before?",
    }
)
ALONE = "No other board of this question set is published, so there is no other judge to compare with."
MEANING = (
    "On the battles that all of them decided. Kendall's tau is 1 where two judges rank all systems alike, 0 "
    "where they have nothing in common, −1 where one ranks the other way round. A system moves where its "
    "rating differs by more than chance, for all systems together."
)
TRUST = (
    "Discrimination is how sharply a judge tells systems apart, 1 on average: one that guesses has 0, one "
    "that contradicts the others less than 0. Weights are those of the best panel of these judges."
)
PAIRS = ("Judges", "Kendall's tau", "Rank correlation", "Moved")
MOVES = ("System", "Place before", "Place after", "Shift in points", "Moved")
JUDGES = ("Judge", "Discrimination", "Interval", "Weight", "Verdicts")


def show() -> None:
    """Show what is known of a board's judge."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page_heading("Judge trust")
        view = choose_board(width=560)
    name_page("Judge trust", view.full_title)
    back_to_board(view, basis_query(chosen_basis(view, OVERALL)))
    lead("A rating's interval counts which questions were asked. Here is what else a board rests on.")
    warn_of_another_judge(view.drift)
    put(words_table(HEADER, answers(view), caption="May I trust this judge?"))
    show_asked_again(view)
    _show_other_judges(view)
    robustness.show_fragility(view)
    robustness.show_cycles(view)
    covariates.show_covariates(view)


def answers(view: BoardView) -> Iterator[tuple[Child, ...]]:
    """Each question of how far a judge can be trusted, and its answer with what the figure is."""
    for label, value, meaning in view.health:
        yield QUESTIONS.get(label, label), _answer(element("strong", value), meaning)
    for question, place, answer in (
        ("What does first place rest on?", "fragility", robustness.first_place(view)),
        ("Does it contradict itself?", "cycles", robustness.cycles_in_short(view)),
        ("Does the length of an answer sway it?", "covariates", covariates.length_in_short(view)),
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
    """How alike the judges rank, who moves, and how sharp each is."""
    return element("div", *_parts(comparison), class_="aa-flow")


def _parts(comparison: RoundComparison) -> Iterator[Element]:
    sides = ", ".join(named_once(side.name, side.judge) for side in comparison.sides)
    yield element("p", f"{comparison.battles:,} battles by {sides}. {MEANING}", class_="aa-note")
    yield plain_table(PAIRS, [_pair(pair) for pair in comparison.pairs], wrap=SCROLLS)
    for pair in comparison.pairs:
        if any(move.moved for move in pair.moves):
            yield element("h3", f"From {pair.first} to {pair.second}")
            yield plain_table(MOVES, _moves(pair))
    if comparison.trust is not None:
        yield element("h3", "How sharp each judge is")
        yield element("p", TRUST, class_="aa-note")
        yield plain_table(
            JUDGES,
            [
                (
                    judge.name,
                    shown(judge.discrimination, ".2f").replace("-", "−"),
                    f"{shown(judge.lower, '.2f')} to {shown(judge.upper, '.2f')}".replace("-", "−"),
                    percent(judge.weight),
                    f"{judge.battles:,}",
                )
                for judge in comparison.trust.judges
            ],
            wrap=SCROLLS,
        )
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
