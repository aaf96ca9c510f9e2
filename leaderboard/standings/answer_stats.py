"""Statistics of answers for a board: lengths, declines, scores of metrics."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from data.errors import RecordError
from leaderboard.battles import BattleTable
from leaderboard.stats import Floats, Interval, bca_means, bounds_json, wilson
from leaderboard.vocabulary import Covariate

RANKED_SHARE = 0.2
RANKED_QUESTIONS = 5
"""Minimum share and number of questions that a ranked system must answer."""


class BoardQuestion(NamedTuple):
    """Question of a board; `undefined` names the metrics for which the set has no data on it."""

    domain: str
    answerable: bool = True
    undefined: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFact:
    """Facts on one non-empty answer, without its text.

    Attributes:
        words: Length in words, after cleaning.
        no_answer: Whether it declines to answer.
        form: Number of headings, bold spans and list items; empty if unknown.
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
                raise RecordError(message, advice="Use None for an undefined score.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanScore:
    """Mean of a metric over a system's answers.

    Attributes:
        mean: None if no answer has the score.
        interval: BCa interval over questions; None for fewer than two.
        undefined: Number of answers with an undefined score, which are left out.
        missing: Number of missing answers, which count 0.
    """

    mean: float | None
    interval: Interval | None
    answers: int
    undefined: int
    missing: int = 0

    def as_json(self) -> dict[str, object]:
        """Return mean, bounds and counts."""
        counts = {"answers": self.answers, "undefined": self.undefined, "missing": self.missing}
        return {"mean": self.mean, **bounds_json(self.interval), **counts}


def mean_scores(wanted: Sequence[tuple[Sequence[AnswerFact], str, Collection[str]]]) -> Iterator[MeanScore]:
    """Yield means with BCa intervals over questions, from answers, a metric and missing questions (0)."""
    parts = [_scores(*row) for row in wanted]
    intervals = bca_means([(sums, counts) for _, sums, counts in parts])
    return (replace(mean, interval=interval) for (mean, *_), interval in zip(parts, intervals, strict=True))


def _scores(
    facts: Sequence[AnswerFact], metric: str, missing: Collection[str]
) -> tuple[MeanScore, Floats, Floats]:
    scored = [fact for fact in facts if metric in fact.scores]
    defined = [(fact.question, score) for fact in scored if (score := fact.scores[metric]) is not None]
    answers, undefined = len(defined), len(scored) - len(defined)
    defined += [(question, 0.0) for question in sorted(missing)]
    values = np.array([score for _, score in defined])
    _, codes = np.unique([question for question, _ in defined], return_inverse=True)
    mean = MeanScore(
        mean=float(values.mean()) if defined else None,
        interval=None,
        answers=answers,
        undefined=undefined,
        missing=len(missing),
    )
    return mean, np.bincount(codes, values).astype(np.float64), np.bincount(codes).astype(np.float64)


def declines_of(
    facts: Sequence[AnswerFact], questions: Mapping[str, BoardQuestion], *, marked: bool
) -> dict[str, Any]:
    """Count the answers that decline; if questions are `marked` unanswerable, also those that do so rightly.

    Returns:
        `count` and `share` of the answers; `where_should` and `answered_where_should`, each null or `count`,
        `of`, `share` and Wilson's interval.
    """
    declined = {fact.question for fact in facts if fact.no_answer}
    answered = {fact.question for fact in facts} - declined
    unanswerable = {name for name, question in questions.items() if not question.answerable}
    return {
        "count": len(declined),
        "share": len(declined) / questions_of(facts) if facts else None,
        "where_should": _share(declined & unanswerable, unanswerable) if marked else None,
        "answered_where_should": _share(answered - unanswerable, questions.keys() - unanswerable)
        if marked
        else None,
    }


def _share(part: Collection[str], whole: Collection[str]) -> dict[str, float | None]:
    share = len(part) / len(whole) if whole else None
    interval = None if share is None else wilson(share, len(whole))
    return {"count": len(part), "of": len(whole), "share": share, **bounds_json(interval)}


def questions_of(facts: Sequence[AnswerFact]) -> int:
    """Count the questions that are answered, some of them several times."""
    return len({fact.question for fact in facts})


def too_few_answers(
    table: BattleTable,
    answers: Mapping[str, Sequence[AnswerFact]],
    *,
    questions: Collection[str] | None = None,
    reference: str | None = None,
) -> dict[str, str]:
    """Return the systems that answered too few of a board's questions for a rank, each with the reason.

    The share is of the questions that any system answered. If `questions` are unknown, the questions of
    battles count too; so do a system's battles if its answers are unknown. With fewer than `RANKED_QUESTIONS`
    questions only the share counts. The reference is included only if other systems have battles without it.
    """
    counts = _questions_with_battles(table)
    counts |= {name: questions_of(facts) for name, facts in answers.items() if facts or questions is not None}
    answered = {fact.question for name, facts in answers.items() if name != reference for fact in facts}
    if questions is None:
        used = table.names_used[1].tolist()
        answered |= {name for name, is_used in zip(table.questions, used, strict=True) if is_used}
    total = len(answered)
    few = {
        system: f"It answered {count:,} of {total:,} questions, too few for a rank."
        for system, count in counts.items()
        if count < RANKED_SHARE * total or count < RANKED_QUESTIONS <= total
    }
    if reference in few:
        left_out = np.array([system in few for system in table.systems])
        if (left_out[table.a] | left_out[table.b]).all():
            del few[reference]
    return few


def _questions_with_battles(table: BattleTable) -> dict[str, int]:
    met = np.zeros((len(table.systems), len(table.questions)), dtype=bool)
    met[table.a, table.question] = met[table.b, table.question] = True
    return dict(zip(table.systems, met.sum(axis=1).tolist(), strict=True))
