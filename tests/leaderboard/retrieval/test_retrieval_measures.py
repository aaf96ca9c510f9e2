"""Measures of rankings against an implementation of their definitions in a few lines each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.records.rankings import WHOLE, Qrels, QrelsKind
from leaderboard.retrieval.measures import JUDGED, measure_rankings

PASSAGES = [f"d{number}" for number in range(12)]
Answers = list[set[int]]


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _ndcg(grades: dict[str, float], ranking: Sequence[str], depth: int) -> float:
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    return _dcg([grades.get(name, 0) for name in ranking[:depth]]) / _dcg(ideal[:depth])


def _average_precision(relevant: set[str], ranking: Sequence[str]) -> float:
    hits = [rank for rank, name in enumerate(ranking, start=1) if name in relevant]
    return sum(place / rank for place, rank in enumerate(hits, start=1)) / len(relevant)


def _gains(answers: dict[str, set[str]], ranking: Sequence[str]) -> list[float]:
    """The gains of α-DCG at α = ½."""
    seen: dict[str, int] = {}
    gains = []
    for name in ranking:
        gains.append(sum(0.5 ** seen.get(subtopic, 0) for subtopic in answers.get(name, ())))
        for subtopic in answers.get(name, ()):
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return gains


def _greedy(answers: dict[str, set[str]]) -> list[str]:
    """The ideal order of α-nDCG: at each rank the passage that gains most, of equals the last by id."""
    order: list[str] = []
    left = set(answers)
    while left:
        order.append(max(left, key=lambda name: (round(_gains(answers, [*order, name])[-1], 9), name)))
        left.remove(order[-1])
    return order


grades_of_passages = st.dictionaries(st.sampled_from(PASSAGES), st.integers(0, 3), min_size=1).filter(
    lambda grades: any(grades.values())
)
some_ranking = st.permutations(PASSAGES).flatmap(
    lambda order: st.integers(1, len(order)).map(lambda depth: order[:depth])
)


@given(grades_of_passages, some_ranking)
def test_plain_measures_follow_their_definitions(grades: dict[str, float], ranking: list[str]) -> None:
    """NDCG, MAP, MRR, recall, precision and the judged share are what trec_eval defines."""
    qrels = Qrels(name="q", kind=QrelsKind.GRADED, judgments={"q1": {WHOLE: grades}})
    values = measure_rankings(qrels, {"q1": ranking})
    relevant = {name for name, grade in grades.items() if grade >= 1}
    found = [rank for rank, name in enumerate(ranking, start=1) if name in relevant]
    assert values["nDCG@10"]["q1"] == pytest.approx(_ndcg(grades, ranking, 10))
    assert values["nDCG@20"]["q1"] == pytest.approx(_ndcg(grades, ranking, 20))
    assert values["AP"]["q1"] == pytest.approx(_average_precision(relevant, ranking))
    assert values["RR"]["q1"] == pytest.approx(1 / found[0] if found else 0)
    assert values["R@10"]["q1"] == pytest.approx(len(relevant & set(ranking[:10])) / len(relevant))
    assert values["P@10"]["q1"] == pytest.approx(len(relevant & set(ranking[:10])) / 10)
    first = ranking[:10]
    assert values[JUDGED]["q1"] == pytest.approx(len(set(first) & set(grades)) / len(first))


subtopics_of_passages = st.dictionaries(
    st.sampled_from(PASSAGES), st.sets(st.sampled_from("abcd"), min_size=1), min_size=1
)


@given(subtopics_of_passages, some_ranking)
def test_diversity_measures_follow_their_definitions(
    answers: dict[str, set[str]], ranking: list[str]
) -> None:
    """Subtopic recall, α-nDCG with one ideal a question, and ERR-IA are what ndeval defines."""
    named = sorted(set().union(*answers.values()))
    judgments = {name: {doc: 1.0 for doc in answers if name in answers[doc]} for name in named}
    # Another question with two subtopics, so that ndeval knows the qrels for diversity qrels.
    qrels = Qrels(
        name="q",
        kind=QrelsKind.DIVERSITY,
        judgments={"q1": judgments, "q2": {"1": {"x": 1.0}, "2": {"y": 1.0}}},
    )
    values = measure_rankings(qrels, {"q1": ranking, "q2": ["x"]})
    covered = set().union(*(answers.get(name, set()) for name in ranking[:10]))
    gains = _gains(answers, ranking)
    ideal = _gains(answers, _greedy(answers))
    assert values["StRecall@10"]["q1"] == pytest.approx(len(covered) / len(named))
    assert values["alpha_nDCG@20"]["q1"] == pytest.approx(_dcg(gains) / _dcg(ideal), abs=1e-6)
    # ndeval scales ERR-IA by what a passage with every subtopic at every rank would have.
    most = len(named) * sum(0.5 ** (rank - 1) / rank for rank in range(1, 21))
    expected = sum(gain / rank for rank, gain in enumerate(gains, start=1)) / most
    assert values["ERR_IA@20"]["q1"] == pytest.approx(expected, abs=1e-6)
    assert values["StRecall@10"]["q2"] == pytest.approx(0.5)


def test_missing_questions_score_nothing_and_empty_ones_are_left_out() -> None:
    """A question that a run lacks is 0 everywhere; one without a relevant passage has no value."""
    qrels = Qrels(
        name="q",
        kind=QrelsKind.GRADED,
        judgments={"q1": {WHOLE: {"a": 1.0}}, "q2": {WHOLE: {"a": 1.0}}, "q3": {WHOLE: {"a": 0.0}}},
    )
    values = measure_rankings(qrels, {"q1": ["a"], "q3": ["a"]})
    assert values["AP"] == {"q1": 1.0, "q2": 0.0}
    assert all(set(own) == {"q1", "q2"} for own in values.values())
