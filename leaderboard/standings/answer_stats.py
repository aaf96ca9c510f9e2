"""Statistics of answers for a board: lengths, "no answer", metrics' scores."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from data.errors import RecordError
from leaderboard.battles import BattleTable
from leaderboard.stats import Interval, bca_mean, bounds_json, wilson
from leaderboard.vocabulary import Covariate

RANKED_SHARE = 0.2
RANKED_QUESTIONS = 5
"""Least share, and number, of a board's questions that a ranked system answered."""


class BoardQuestion(NamedTuple):
    """A question of a board; `undefined` names the metrics for which the set has no data on it."""

    domain: str
    answerable: bool = True
    undefined: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFact:
    """Facts on one non-empty answer, without its text.

    Attributes:
        words: Its length in words, after cleaning.
        no_answer: Whether it declines to answer.
        form: How many headings, bold spans and items of lists it has; empty if unknown.
        scores: By metric, in the metric's unit; None if the metric is undefined for the answer.
    """

    question: str
    domain: str
    words: int
    no_answer: bool = False
    form: Mapping[Covariate, int] = field(default_factory=lambda: MappingProxyType({}))
    scores: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for metric, score in self.scores.items():
            if score is not None and not math.isfinite(score):
                message = f"The {metric} score of the answer to {self.question} is {score}."
                raise RecordError(message, advice="An undefined score is None.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanScore:
    """A metric's mean over a system's answers.

    Attributes:
        mean: None if no answer has the score.
        interval: BCa interval over questions; None for fewer than two.
        undefined: How many answers were scored without a defined value; they enter no mean.
        missing: How many answers are missing; they count 0.
    """

    mean: float | None
    interval: Interval | None
    answers: int
    undefined: int
    missing: int = 0

    def as_json(self) -> dict[str, object]:
        """Mean, bounds and counts."""
        counts = {"answers": self.answers, "undefined": self.undefined, "missing": self.missing}
        return {"mean": self.mean, **bounds_json(self.interval), **counts}


def mean_score(facts: Sequence[AnswerFact], metric: str, lacking: Collection[str] = ()) -> MeanScore:
    """Return a metric's mean over answers, 0 for each `lacking`, with its BCa interval over questions."""
    scored = [fact for fact in facts if metric in fact.scores]
    defined = [(fact.question, score) for fact in scored if (score := fact.scores[metric]) is not None]
    answers, undefined = len(defined), len(scored) - len(defined)
    defined += [(question, 0.0) for question in sorted(lacking)]
    if not defined:
        return MeanScore(mean=None, interval=None, answers=0, undefined=undefined)
    values = np.array([score for _, score in defined])
    _, codes = np.unique([question for question, _ in defined], return_inverse=True)
    sums = np.bincount(codes, values).astype(np.float64)
    interval = bca_mean(sums, np.bincount(codes).astype(np.float64))
    return MeanScore(
        mean=float(values.mean()),
        interval=interval,
        answers=answers,
        undefined=undefined,
        missing=len(lacking),
    )


def declines_of(
    facts: Sequence[AnswerFact], asked: Mapping[str, BoardQuestion], *, marked: bool
) -> dict[str, Any]:
    """Count the answers that decline; if questions are `marked` unanswerable, also how many rightly do.

    A missing answer neither declines nor answers.

    Returns:
        `count` and `share` of the answers; `where_should` and `answered_where_should`, each null or `count`,
        `of`, `share` and the ends of Wilson's interval.
    """
    declined = {fact.question for fact in facts if fact.no_answer}
    answered = {fact.question for fact in facts} - declined
    unanswerable = {question for question, one in asked.items() if not one.answerable}
    return {
        "count": len(declined),
        "share": len(declined) / len(facts) if facts else None,
        "where_should": _share(declined & unanswerable, unanswerable) if marked else None,
        "answered_where_should": _share(answered - unanswerable, asked.keys() - unanswerable)
        if marked
        else None,
    }


def _share(part: Collection[str], whole: Collection[str]) -> dict[str, float | None]:
    share = len(part) / len(whole) if whole else None
    interval = None if share is None else wilson(share, len(whole))
    return {"count": len(part), "of": len(whole), "share": share, **bounds_json(interval)}


def too_few_answers(
    table: BattleTable,
    answers: Mapping[str, Sequence[AnswerFact]],
    *,
    asked: Collection[str] | None = None,
    reference: str | None = None,
) -> dict[str, str]:
    """Systems that answered too few of a board's questions for a rank, each with the reason.

    A board of fewer than `RANKED_QUESTIONS` questions asks for the share alone. Of systems whose answers are
    not known, the questions of their battles count.

    The share is of the questions that any system answered; `asked` are all questions, without which those of
    battles count too. The reference needs no rank, and is among these only where battles without it rank the
    others.
    """
    counts = _questions_met(table)
    counts |= {name: len(facts) for name, facts in answers.items() if facts or asked is not None}
    known = {fact.question for name, facts in answers.items() if name != reference for fact in facts}
    if asked is None:
        used = table.names_used[1].tolist()
        known |= {name for name, met in zip(table.questions, used, strict=True) if met}
    questions = len(known)
    few = {
        system: f"It answered {count:,} of {questions:,} questions, too few for a rank."
        for system, count in counts.items()
        if count < RANKED_SHARE * questions or count < RANKED_QUESTIONS <= questions
    }
    if reference in few:
        left_out = np.array([system in few for system in table.systems])
        if (left_out[table.a] | left_out[table.b]).all():
            del few[reference]
    return few


def _questions_met(table: BattleTable) -> dict[str, int]:
    met = np.zeros((len(table.systems), len(table.questions)), dtype=bool)
    met[table.a, table.question] = met[table.b, table.question] = True
    return dict(zip(table.systems, met.sum(axis=1).tolist(), strict=True))
