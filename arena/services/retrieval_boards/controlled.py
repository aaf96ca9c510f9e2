"""CRUX's controlled settings: contexts of as many passages, or tokens, as the required subset has.

Source: CRUX, section 4.2: (i) top-k is |Z*|, (ii) the length is at most that of Z*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from data.records import Question
from data.records.rankings import Qrels, QrelsKind, Ranking
from judges.metrics.context.measures import coverage, density, ranked_coverage
from judges.metrics.context.ratings import HIGHEST, THRESHOLD, Ratings, token_count
from judges.metrics.context.subsets import required_subset
from leaderboard.retrieval.measures import Values

COVERAGE, ALPHA_NDCG, WITHIN_TOKENS, DENSITY = "Cov@Z", "alpha_nDCG@Z", "Cov@T", "Den@Z"


def controlled_values(
    qrels: Qrels, questions: Mapping[str, Question], rankings: Mapping[str, Ranking]
) -> Values:
    """The controlled measures of each question with a relevant passage.

    Args:
        qrels: Judgments with subtopics.
        questions: The set's questions, whose passages have the texts where rankings have none.
        rankings: By question; one that is missing scores 0.

    Returns:
        By measure and question; NaN where texts are not known and lengths matter.
    """
    values: dict[str, dict[str, float]] = {
        name: {} for name in (COVERAGE, ALPHA_NDCG, WITHIN_TOKENS, DENSITY)
    }
    for question in qrels.relevant:
        measured = _measured(qrels, questions[question], rankings.get(question))
        for name, value in zip(values, measured, strict=True):
            values[name][question] = value
    return values


def required_passages(qrels: Qrels, question: str) -> tuple[str, ...]:
    """The ids of the required subset of the judged passages, Z*, in the order in which they are chosen."""
    ratings, judged = _ratings(qrels, question)
    return tuple(judged[place] for place in required_subset(ratings))


def _measured(qrels: Qrels, question: Question, ranking: Ranking | None) -> tuple[float, float, float, float]:
    passages = () if ranking is None else ranking.passages
    ratings, judged = _ratings(qrels, question.id)
    places = {passage: place for place, passage in enumerate(judged)}
    unjudged = len(judged)
    ranked = [places.get(passage.id, unjudged) for passage in passages]
    required = required_subset(ratings)
    size = len(required)
    first = set(ranked[:size])
    tokens = {passage.id: token_count(passage.text) for passage in question.passages}
    tokens |= {passage.id: token_count(passage.text) for passage in passages if passage.text}
    lengths = [tokens.get(passage.id) for passage in passages]
    best = [tokens.get(judged[place]) for place in required]
    covered = coverage(ratings, first) or 0.0
    if not passages:
        return 0.0, 0.0, 0.0, 0.0
    most = _total(best)
    return (
        covered,
        ranked_coverage(ratings, ranked[:size], depth=size) or 0.0,
        _within(ratings, ranked, lengths, most),
        _density(covered, _total(lengths[:size]), most),
    )


def _ratings(qrels: Qrels, question: str) -> tuple[Ratings, list[str]]:
    """The judged passages' ratings, with a row of zeros at the end for passages that nobody judged."""
    subtopics = qrels.judgments[question]
    judged = list(qrels.grades[question])
    values = np.zeros((len(judged) + 1, len(subtopics)))
    for column, grades in enumerate(subtopics.values()):
        for place, passage in enumerate(judged):
            values[place, column] = grades.get(passage, 0.0)
    if qrels.kind is QrelsKind.RATINGS:
        return Ratings(values=values, threshold=qrels.relevant_from), judged
    answering = np.where(values >= qrels.relevant_from, float(HIGHEST), 0.0)
    return Ratings(values=answering, threshold=THRESHOLD), judged


def _total(lengths: list[int | None]) -> int | None:
    """The sum; None where one is not known."""
    return None if any(length is None for length in lengths) else sum(filter(None, lengths))


def _within(ratings: Ratings, ranked: list[int], lengths: list[int | None], most: int | None) -> float:
    if most is None:
        return math.nan
    kept = list(_fitting(ranked, lengths, most))
    if None in kept:
        return math.nan
    return coverage(ratings, [place for place in kept if place is not None]) or 0.0


def _fitting(ranked: list[int], lengths: list[int | None], most: int) -> Iterator[int | None]:
    """The first places whose texts are together no longer than `most`; None where a length is not known."""
    used = 0
    for place, length in zip(ranked, lengths, strict=True):
        if length is None:
            yield None
            return
        used += length
        if used > most:
            return
        yield place


def _density(covered: float, tokens: int | None, best: int | None) -> float:
    if tokens is None or best is None:
        return math.nan
    found = density(covered, tokens, best_covered=1.0, best_tokens=best)
    return math.nan if found is None else found
