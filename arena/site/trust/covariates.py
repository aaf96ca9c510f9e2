"""What biases a board's judge: the board under a control, and what each control is worth in points."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element

from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.trust.control_figures import LABELS, Controlled
from arena.site.ui.components import note
from arena.site.ui.formats import points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import words_table
from leaderboard.vocabulary import Control

HEADER = ("Term", "Points", "95 % interval", "Inflation", "Points are")
NOT_THEN = "The board was published without these figures."
MEANING = (
    "What may bias the judge beside how good answers are, fitted together with the ratings. An interval that "
    "holds 0 says that the battles show no such effect. A term that goes together with others, or with the "
    "systems, has a larger error. Inflation says how many times larger its square is: above 10 it can hardly "
    "be told."
)


def under_control(view: BoardView, control: Control) -> BoardView:
    """The board with overall ratings, places and order under a control; rates stay as judged."""
    fit = view.controls[control]
    return replace(
        view,
        lines={**view.lines, OVERALL: _controlled_lines(view, fit)},
        method=f"{view.method} Overall ratings are controlled for {LABELS[control]}. {fit.note}",
        gaps={},
        controlled_for=control,
    )


def _controlled_lines(view: BoardView, fit: Controlled) -> tuple[Line, ...]:
    """Those without a controlled rating stand last."""
    lines = {line.system: line for line in view.lines.get(OVERALL, ())}
    rated = [
        replace(
            lines[name],
            rating=placed.rating,
            rank_lower=placed.rank_lower,
            rank_upper=placed.rank_upper,
            letters=placed.letters,
            component=placed.component,
            ladder=placed.ladder,
        )
        for name, placed in fit.ratings.items()
        if name in lines
    ]
    rest = [
        replace(line, rating=None, rank_lower=None, rank_upper=None, letters=None)
        for name, line in lines.items()
        if name not in fit.ratings
    ]
    return (*rated, *rest)


def length_in_short(view: BoardView) -> str:
    """What length is worth, in a sentence; empty where nothing tells it."""
    fit = view.controls.get(Control.LENGTH)
    return "" if fit is None else fit.note


def show_covariates(view: BoardView) -> None:
    """What each term is worth in each fit, or why there is none."""
    put(element("h3", "What biases the judge"))
    if any(fit.coefficients for fit in view.controls.values()):
        note(MEANING)
    for control, fit in view.controls.items():
        if fit.coefficients:
            put(coefficient_table(fit, f"Control for {LABELS[control]}"))
            note(" ".join((fit.collinearity, *fit.left_out)))
    for control, fit in view.controls.items():
        if not fit.coefficients:
            note(f"Control for {LABELS[control]}: {fit.note or NOT_THEN}")


def coefficient_table(fit: Controlled, caption: str = "") -> Element:
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
    return words_table(HEADER, rows, caption=caption, spare=2)
