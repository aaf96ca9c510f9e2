"""How far a board's judge can be trusted, and on what its places rest: a part for each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from xml.etree.ElementTree import Element

import streamlit as st

from arena.site.boards.board_parts import back_to_board
from arena.site.boards.pickers import choose_board
from arena.site.boards.view_model import BoardView
from arena.site.trust import covariates, other_judges, robustness
from arena.site.trust.asked_again import show_asked_again, warn_of_another_judge
from arena.site.trust.basis import basis_query, chosen_basis
from arena.site.trust.reasons import TrustFigure
from arena.site.ui.components import lead, name_page
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import words_table
from leaderboard.vocabulary import OVERALL

SECTIONS: tuple[Callable[[BoardView], None], ...] = (
    show_asked_again,
    other_judges.show_other_judges,
    robustness.show_fragility,
    robustness.show_cycles,
    covariates.show_covariates,
)
"""The parts of the page in their order; each shows its heading, and says why where it has no figures."""
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


def show() -> None:
    """Show what is known of a board's judge."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Judge trust", anchor=False)
        view = choose_board(width=560)
    name_page("Judge trust", view.full_title)
    back_to_board(view, basis_query(chosen_basis(view, OVERALL)))
    lead("A rating's interval counts which questions were asked. Here is what else a board rests on.")
    warn_of_another_judge(view.drift)
    put(words_table(HEADER, answers(view), caption="May I trust this judge?"))
    for section in SECTIONS:
        section(view)


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
