"""Effects of length, form and position on a board's judge, or the reason why they are unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, StatisticsError
from data.models.words import to_json
from leaderboard.battles import BattleTable
from leaderboard.ratings import (
    CovariateColumn,
    LeftOutCovariate,
    RatingTable,
    Settings,
    marked_column,
    rate_under_control,
    relative_columns,
)
from leaderboard.ratings.models.covariates import FIRST
from leaderboard.standings.answer_stats import AnswerFact
from leaderboard.vocabulary import COUNTS, Covariate

NO_TEXTS = "The texts of the answers are unknown, so their form is too."
BOTH_ORDERS = "The judge read every battle in both orders, so position gave no advantage."
NO_POSITION = "The order in which the judge saw the answers is unknown."


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class JudgeContext:
    """Information that a judge had in addition to the texts.

    `position` is (N,) by battle: 1 if side a came first, -1 if b did, 0 for both orders; None if unknown or
    irrelevant, with the reason in `no_position`.
    """

    position: NDArray[np.float64] | None = None
    no_position: str = NO_POSITION


def style_section(
    table: BattleTable,
    settings: Settings,
    answers: Mapping[str, Sequence[AnswerFact]],
    judge_context: JudgeContext,
    reference: str | None = None,
) -> dict[str, object]:
    """Return the section of a board's JSON: one fit of all known terms, or the reason why it failed.

    Empty if no covariate is known.
    """
    columns, left_out = _columns(table, answers, judge_context)
    if not columns:
        return {}
    own = Settings(cluster=settings.cluster, anchor=settings.anchor, seed=settings.seed)
    note = ""
    # If the fit of all terms fails, try only length and only position.
    for terms in dict.fromkeys((tuple(columns), tuple(columns[:1]), tuple(columns[-1:]))):
        try:
            fit = rate_under_control(table, terms, own)
        except (StatisticsError, InputError) as error:
            note = note or str(error)
        else:
            complete = replace(fit, left_out=(*left_out, *fit.left_out))
            first = _first(fit.ratings, reference)
            return {"fits": [{"note": note, "first": first, **complete.as_json()}]}
    return {"fits": [{"note": note, "left_out": [to_json(covariate) for covariate in left_out]}]}


def _first(ratings: RatingTable, reference: str | None) -> list[str]:
    """Return the best system and all systems not separated from it, without the reference."""
    names = [row.system for row in ratings.ratings if row.rating is not None and row.system != reference]
    return [name for name in names if name == names[0] or not ratings.separates(names[0], name)]


def _columns(
    table: BattleTable, answers: Mapping[str, Sequence[AnswerFact]], judge_context: JudgeContext
) -> tuple[list[CovariateColumn], list[LeftOutCovariate]]:
    columns: list[CovariateColumn] = []
    left_out: list[LeftOutCovariate] = []
    counts = _counts(table, answers)
    for name, cells in zip(COUNTS, counts, strict=True):
        first, second = (cells[table.question, side] for side in (table.a, table.b))
        if (first < 0).any() or (second < 0).any():
            left_out.append(LeftOutCovariate(name=name, reason=NO_TEXTS))
            continue
        relative, constant = relative_columns({name.value: (first, second)}, len(table))
        columns += relative
        left_out += constant
    position = judge_context.position
    if position is not None and position.any():
        columns.append(marked_column(Covariate.POSITION, position, FIRST))
    else:
        reason = judge_context.no_position if position is None else BOTH_ORDERS
        left_out.append(LeftOutCovariate(name=Covariate.POSITION, reason=reason))
    return columns, left_out


def _counts(table: BattleTable, answers: Mapping[str, Sequence[AnswerFact]]) -> NDArray[np.int32]:
    """(C, Q, S) counts of each of `COUNTS` in each answer, averaged over several answers; −1 if unknown."""
    cells = np.zeros((len(COUNTS), len(table.questions), len(table.systems)), dtype=np.int32)
    answered = np.zeros(cells.shape[1:], dtype=np.int32)
    place = {question: code for code, question in enumerate(table.questions)}
    _, *form = COUNTS
    for code, system in enumerate(table.systems):
        for fact in answers.get(system, ()):
            if fact.question in place:
                values = (fact.words, *(fact.form.get(name, -1) for name in form))
                cells[:, place[fact.question], code] += values
                answered[place[fact.question], code] += 1
    return np.where(answered, np.rint(cells / np.maximum(answered, 1)), -1).astype(np.int32)
