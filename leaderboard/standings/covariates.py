"""What biases a board's judge: the fits that a reader may choose among, and why others do not exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.ratings import (
    ControlledRatings,
    CovariateColumn,
    IntervalKind,
    LeftOutCovariate,
    Settings,
    marked_column,
    rate_under_control,
    relative_columns,
)
from leaderboard.ratings.models.covariates import FIRST
from leaderboard.standings.answer_stats import AnswerFact
from leaderboard.vocabulary import COUNTS, Control, Covariate

NO_TEXTS = "The texts of the answers are not known here, so nothing of their form is."
BOTH_ORDERS = "The judge read every battle in both orders, so no answer had the advantage of the first place."
NO_POSITION = "Which answer the judge was shown first is not known here."
NO_FAMILY = "Of which family of models the judge and the systems are is not known here."


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class JudgeContext:
    """What a judge saw beside the texts, and what it may know of who wrote them.

    Attributes:
        position: (N,) by battle: 1 where side a was shown first, -1 where b was, 0 for both orders; None
            where that is not known or cannot matter.
        no_position: Why there is none.
        no_family: Why favour for the judge's own family of models cannot be told.
        families: By system the family of models that its card or name speaks of, empty where unknown.
    """

    position: NDArray[np.float64] | None = None
    no_position: str = NO_POSITION
    no_family: str = NO_FAMILY
    families: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ControlFit:
    """The ratings under one control; `note` says why there are none, `tried` whether there could be."""

    control: Control
    fit: ControlledRatings | None
    note: str = ""
    tried: bool = False

    def as_json(self) -> dict[str, object]:
        """Ratings and coefficients as of `battles rate --method style`, with the note."""
        named: dict[str, object] = {"control": self.control.value, "note": self.note}
        if self.fit is None:
            return named
        return named | self.fit.as_json() | {"ratings": [row.as_json() for row in self.fit.ratings.ratings]}


def covariate_section(fits: Sequence[ControlFit], judge_context: JudgeContext) -> dict[str, object]:
    """The section of a board's JSON: `fits`, one for each control, and the systems' `families`.

    Empty where nothing is known that a fit could control for.
    """
    if not any(fit.tried for fit in fits):
        return {}
    return {"fits": [fit.as_json() for fit in fits], "families": dict(judge_context.families)}


def control_fits(
    table: BattleTable, settings: Settings, counts: AnswerCounts, judge_context: JudgeContext
) -> tuple[ControlFit, ...]:
    """The ratings of a board under each control; one that would repeat another is named instead."""
    columns, reasons = _columns(table, counts, judge_context)
    fits: dict[tuple[str, ...], ControlFit] = {}
    listed = []
    for control in Control:
        usable = [columns[name] for name in control.covariates if name in columns]
        missing = [reasons[name] for name in control.covariates if name in reasons]
        names = tuple(column.name for column in usable)
        if not usable:
            listed.append(ControlFit(control=control, fit=None, note=_joined(missing)))
        elif names in fits:
            same = fits[names].control
            others = [reason for reason in missing if reason.name not in same.covariates]
            note = f"The same as control for {same.words}. {_joined(others)}".strip()
            listed.append(ControlFit(control=control, fit=None, note=note))
        else:
            fits[names] = _fitted(control, table, usable, missing, sandwiched(settings))
            listed.append(fits[names])
    return tuple(listed)


def _joined(reasons: Sequence[LeftOutCovariate]) -> str:
    return " ".join(dict.fromkeys(reason.reason for reason in reasons))


def _fitted(
    control: Control,
    table: BattleTable,
    columns: Sequence[CovariateColumn],
    missing: Sequence[LeftOutCovariate],
    settings: Settings,
) -> ControlFit:
    try:
        fit = rate_under_control(table, columns, settings)
    except (StatisticsError, InputError) as error:
        return ControlFit(control=control, fit=None, note=str(error), tried=True)
    complete = ControlledRatings(
        ratings=fit.ratings,
        effects=fit.effects,
        left_out=(*missing, *fit.left_out),
        collinearity=fit.collinearity,
    )
    return ControlFit(control=control, fit=complete, tried=True)


def _columns(
    table: BattleTable, counts: AnswerCounts, judge_context: JudgeContext
) -> tuple[Mapping[Covariate, CovariateColumn], Mapping[Covariate, LeftOutCovariate]]:
    """The terms that there are, and why there are no others."""
    columns: dict[Covariate, CovariateColumn] = {}
    reasons: dict[Covariate, str] = {}
    for name, sides in zip(COUNTS, sides_of(table, counts), strict=True):
        if sides is None:
            reasons[name] = NO_TEXTS
            continue
        relative, constant = relative_columns({name.value: sides}, len(sides[0]))
        if relative:
            columns[name] = relative[0]
        else:
            reasons[name] = constant[0].reason
    if judge_context.position is None:
        reasons[Covariate.POSITION] = judge_context.no_position
    elif not judge_context.position.any():
        reasons[Covariate.POSITION] = BOTH_ORDERS
    else:
        columns[Covariate.POSITION] = marked_column(Covariate.POSITION, judge_context.position, FIRST)
    reasons[Covariate.SAME_FAMILY] = judge_context.no_family
    left_out = {name: LeftOutCovariate(name=name, reason=reason) for name, reason in reasons.items()}
    return columns, left_out


AnswerCounts = NDArray[np.int32]
Sides = tuple[NDArray[np.int32], NDArray[np.int32]]


def counts_of(table: BattleTable, answers: Mapping[str, Sequence[AnswerFact]]) -> AnswerCounts:
    """(C, Q, S) counts of each of `COUNTS` in each answer, −1 where not known."""
    cells = np.full((len(COUNTS), len(table.questions), len(table.systems)), -1, dtype=np.int32)
    place = {question: code for code, question in enumerate(table.questions)}
    for code, system in enumerate(table.systems):
        known = [fact for fact in answers.get(system, ()) if fact.question in place]
        cells[:, [place[fact.question] for fact in known], code] = _counts(known, COUNTS)
    return cells


def sides_of(table: BattleTable, counts: AnswerCounts) -> Iterator[Sides | None]:
    """Yield (N,) counts of the two sides of each battle for each covariate; None where one is not known.

    One battle stands for all where every answer has the same count.
    """
    for cells in counts:
        if cells.size and (cells == cells.flat[0]).all() and len(table):
            first, second = cells[:1, 0], cells[:1, 0]
        else:
            first, second = (cells[table.question, side] for side in (table.a, table.b))
        yield None if (first < 0).any() or (second < 0).any() else (first, second)


def _counts(facts: Sequence[AnswerFact], covariates: Sequence[Covariate]) -> NDArray[np.int32]:
    """(C, N) counts of each covariate in each answer, −1 where not known."""
    # Many answers share one form, so that each form is read once.
    forms = {id(fact.form): fact.form for fact in facts}
    place = {number: code for code, number in enumerate(forms)}
    form = np.fromiter((place[id(fact.form)] for fact in facts), np.int64, len(facts))
    words = np.fromiter((fact.words for fact in facts), np.int32, len(facts))
    rows = [
        words
        if covariate is Covariate.LENGTH
        else np.array([one.get(covariate, -1) for one in forms.values()], dtype=np.int32)[form]
        for covariate in covariates
    ]
    return np.stack(rows)


def sandwiched(settings: Settings) -> Settings:
    """The same settings, with the intervals that fits beside a board's own have."""
    return Settings(
        interval=IntervalKind.SANDWICH,
        bootstrap=None,
        cluster=settings.cluster,
        anchor=settings.anchor,
        seed=settings.seed,
    )
