"""What sways a board's judge: a choice of what its ratings are controlled for, and what each is worth."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from arena.site.boards.people_view import is_by_people
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.trust.control_figures import LABELS, Controlled
from arena.site.ui.components import note
from arena.site.ui.formats import points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import words_table
from arena.site.ui.url_state import choose_segment, chosen_words
from leaderboard.vocabulary import Control

ADDRESS = "control"
LENGTH_SWITCH = "1"
HEADER = ("Term", "Points", "95 % interval", "Inflation", "Points are")
ADVICE = (
    "Ratings as they would be if both answers of each battle were alike in what may sway a judge. The "
    "headline, the table, the order and the charts of this page follow. Overall only."
)
NOT_THEN = "The board was published without these figures."
MEANING = (
    "What may sway the judge beside how good answers are, fitted together with the ratings. An interval that "
    "holds 0 says that the battles show no such effect. Inflation says how many times larger the squared "
    "error is because a term goes together with others or with the systems: above 10 it can hardly be told."
)


def chosen_control(view: BoardView, domain: str) -> Control | None:
    """What the address says that the ratings are controlled for; None for nothing."""
    if domain != OVERALL or is_by_people(view):
        return None
    word = chosen_words(ADDRESS)
    return next((control for control in _possible(view) if word in {_word(control), control.value}), None)


def choose_control(view: BoardView, domain: str) -> None:
    """Offer what the ratings can be controlled for, and say why not for the rest."""
    possible = _possible(view) if domain == OVERALL and not is_by_people(view) else ()
    options = {"": "Nothing", **{_word(control): LABELS[control].capitalize() for control in possible}}
    choose_segment(ADDRESS, "Control for", options, advice=_advice(view), disabled=not possible)


def show_covariates(view: BoardView) -> None:
    """What each term is worth in each fit, or why there is none."""
    put(element("h2", "What sways the judge", id="covariates"))
    if any(fit.coefficients for fit in view.controls.values()):
        note(MEANING)
    for control, fit in view.controls.items():
        put(element("h3", f"Control for {LABELS[control]}"))
        if fit.coefficients:
            put(coefficient_table(fit))
            note(" ".join((fit.collinearity, *fit.left_out)))
        else:
            note(fit.note or NOT_THEN)


def coefficient_table(fit: Controlled) -> Element:
    """What each covariate of a fit is worth, with its interval."""
    rows = [
        (
            term.name.capitalize(),
            points(term.points.value),
            "{} to {}".format(*map(points, term.points.span)),
            f"{term.inflation:.1f}",
            term.scale,
        )
        for term in fit.coefficients
    ]
    return words_table(HEADER, rows, spare=2)


def _possible(view: BoardView) -> tuple[Control, ...]:
    return tuple(control for control, fit in view.controls.items() if fit.ratings)


def _word(control: Control) -> str:
    """A control in the address; that for length has been a switch."""
    return LENGTH_SWITCH if control is Control.LENGTH else control.value


def _advice(view: BoardView) -> str:
    reasons = [
        f"Not for {LABELS[control]}: {fit.note}" for control, fit in view.controls.items() if not fit.ratings
    ]
    return "\n\n".join((ADVICE, *reasons))
