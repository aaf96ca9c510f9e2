from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import ArenaError, RecordError
from data.models import Json, MetricItem, Outcome, Score, unscored
from judges.metrics.context.diagnosis import losses, total
from judges.metrics.context.measures import (
    context_report,
    coverage,
    density,
    pooled_ranked_coverage,
    ranked_coverage,
)
from judges.metrics.context.ratings import Order, Ratings, Use, required_subset, uses
from tests.cases import cases
from tests.narrow import known, mapping

CASE_STUDY = [[0, 0, 5, 5, 0, 0, 0, 0, 5, 0], [5, 0, 0, 0, 5, 0, 5, 0, 0, 0], [0, 0, 0, 0, 5, 5, 0, 0, 0, 5]]
TABLES = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([0, 2, 3, 5]), min_size=width, max_size=width), min_size=1, max_size=6
    )
)


def test_paper_case_study_is_reproduced() -> None:
    """CRUX's Table 5: three required passages answer 8 of 10 sub-questions; the summary is rated for 4."""
    ratings = Ratings.of(CASE_STUDY)
    assert ratings.answerable == (0, 2, 3, 4, 5, 6, 8, 9)
    assert required_subset(ratings, Order.STATIC) == required_subset(ratings, Order.DYNAMIC) == (0, 1, 2)
    assert coverage(ratings, (0, 1, 2)) == 1
    assert coverage(ratings, (0,)) == 3 / 8
    answer = Ratings.of([*CASE_STUDY, [5, 0, 0, 0, 0, 5, 5, 0, 0, 5]])
    assert coverage(answer, (3,)) == 4 / 8


def test_ranked_coverage_matches_trec() -> None:
    """120 random rankings score as with ir-measures over pyndeval (cutoff 20), ties in the ideal included."""
    golden = Path(__file__).parents[3] / "golden" / "alpha_ndcg.jsonl"
    for line in golden.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        ratings = Ratings.of([[5 * int(digit) for digit in row] for row in case["answers"]])
        result = ranked_coverage(ratings, case["ranking"], alpha=case["alpha"])
        assert result == pytest.approx(case["alpha_ndcg"], abs=1e-9)


def _scored(name: str, contexts: Mapping[str, list[float]], oracle: Mapping[str, list[float]]) -> Score:
    rows: dict[str, Json] = {
        part: [{"passage": passage, "ratings": ratings} for passage, ratings in passages.items()]
        for part, passages in (("ratings", contexts), ("oracle_ratings", oracle))
    }
    return Score(
        id=name, metric="context-crux", outcome=Outcome.JUDGED, score=0.5, details={"threshold": 3, **rows}
    )


def test_systems_share_one_ideal() -> None:
    """Passages outside the question change the ideal of all systems equally."""
    oracle = {"p1": [5, 5, 0, 0.0], "p2": [0, 0, 5, 0.0], "p3": [0, 0, 0, 5.0]}
    both = {"p1": oracle["p1"], "p2": oracle["p2"]}
    contexts = {
        "two": both,
        "three": {**both, "p3": oracle["p3"]},
        "found": {**both, "z3": [0, 0, 5, 5.0]},
        "nothing": {"z4": [0.0, 0, 0, 0]},
    }
    scores = {name: _scored(name, result, oracle) for name, result in contexts.items()}
    scores["unscored"] = unscored(
        MetricItem(id="q", question="?", answer=""), "context-crux", Outcome.REFUSED, "refused"
    )
    result = pooled_ranked_coverage(scores)
    assert known(result["two"]) < known(result["three"]) < known(result["found"]) < 1
    assert (result["nothing"], result["unscored"]) == (0, None)
    twice = replace(scores["three"], details={**scores["three"].details, "ranking": [0, 0, 1, 2]})
    repeated = pooled_ranked_coverage({**scores, "three": twice})["three"]
    assert known(repeated) < known(result["three"])
    with pytest.raises(RecordError, match="thresholds"):
        pooled_ranked_coverage({**scores, "x": replace(twice, details={**twice.details, "threshold": 4})})


@given(TABLES)
def test_required_subsets_are_complete_and_minimal(rows: list[list[float]]) -> None:
    ratings = Ratings.of(rows)
    for order in Order:
        chosen = required_subset(ratings, order)
        answered: set[int] = set()
        for place in chosen:
            new = set(np.flatnonzero(ratings.answers[place]))
            assert new - answered
            answered |= new
        assert answered == set(ratings.answerable)
        assert coverage(ratings, chosen) in {None, 1.0}


def test_static_and_dynamic_subsets_differ() -> None:
    ratings = Ratings.of([[5, 5, 5, 0, 0, 0], [0, 5, 5, 5, 0, 0], [0, 0, 0, 5, 5, 0], [0, 0, 0, 0, 0, 5]])
    assert required_subset(ratings, Order.STATIC) == (0, 1, 2, 3)
    assert required_subset(ratings, Order.DYNAMIC) == (0, 2, 3)


def test_passages_are_required_or_redundant() -> None:
    ratings = Ratings.of([[5, 5, 5, 0, 0], [0, 0, 0, 5, 5], [5, 5, 0, 0, 0], [0, 0, 5, 5, 0], [0] * 5])
    required = required_subset(ratings)
    assert required == (0, 1)
    spare = (Use.REDUNDANT, Use.PARTLY_REDUNDANT, Use.IRRELEVANT)
    assert uses(ratings, required) == (Use.REQUIRED, Use.REQUIRED, *spare)


def test_density_halves_with_fourfold_tokens() -> None:
    assert density(1.0, 100, best_covered=1.0, best_tokens=100) == 1
    assert density(1.0, 400, best_covered=1.0, best_tokens=100) == 0.5
    assert density(0.5, 100, best_covered=1.0, best_tokens=100) == pytest.approx(math.sqrt(0.5))
    assert density(1.0, 50, best_covered=1.0, best_tokens=100) == pytest.approx(math.sqrt(2))
    assert density(0.5, 100, best_covered=1.0, best_tokens=100, weight=1.0) == 0.5
    assert density(0.0, 100, best_covered=1.0, best_tokens=100) == 0


@pytest.mark.parametrize("alpha", [-0.1, 1.5])
def test_ranked_coverage_rejects_invalid_alpha(alpha: float) -> None:
    with pytest.raises(RecordError):
        ranked_coverage(Ratings.of([[5]]), (0,), alpha=alpha)


def test_losses_are_counted_in_retrieval_and_writing() -> None:
    result = losses(range(8), retrieved=(0, 1, 2, 3, 4, 9), written=(0, 1, 2, 7))
    assert (result.answerable, result.retrieved, result.used, result.written) == (8, 5, 3, 4)
    assert result.lost_in_retrieval == 3 / 8
    assert result.lost_in_writing == 2 / 8
    nothing = losses((), (0,), (0,))
    assert nothing.context_coverage is None
    assert nothing.lost_in_writing is None
    assert total([result, result, nothing]).lost_in_retrieval == 3 / 8


CASE: dict[str, Any] = {"ratings": CASE_STUDY, "tokens": [80, 90, 70], "context": [0, 2], "threshold": 3}


def test_case_study_report_is_reproduced() -> None:
    result = context_report(CASE)
    assert result["answerable"] == (0, 2, 3, 4, 5, 6, 8, 9)
    assert result["coverage"] == 6 / 8
    assert result["missing"] == (0, 6)
    assert result["required"] == {"static": (0, 1, 2), "dynamic": (0, 1, 2)}
    assert result["density"] == pytest.approx(((6 / 8 / 150) / (1 / 240)) ** 0.5)
    assert result["undefined"] == {}
    json.dumps(result, allow_nan=False)


def test_missing_context_uses_all_passages() -> None:
    result = context_report({"ratings": CASE["ratings"]})
    assert result["coverage"] == 1
    assert result["alpha_ndcg"] == pytest.approx(1)
    assert result["density"] is None
    assert result["undefined"] == {"density": "The tokens of the passages are missing."}


@pytest.mark.parametrize("obj", [{"ratings": [[0, 1]], "tokens": [3]}, {"ratings": []}, {"ratings": [[]]}])
def test_unanswerable_questions_are_undefined_with_reason(obj: dict[str, Any]) -> None:
    result = context_report(obj)
    assert result["coverage"] is result["alpha_ndcg"] is result["density"] is None
    assert mapping(result["undefined"])["coverage"] == "No sub-question is answerable from these passages."


def test_empty_context_covers_nothing() -> None:
    result = context_report({**CASE, "context": []})
    assert result["coverage"] == 0
    assert result["alpha_ndcg"] == 0
    assert result["density"] is None


@pytest.mark.parametrize("change", cases(__file__, "value_other_than_a_matrix_is_refused_with_advice"))
def test_invalid_matrix_reports_error(change: dict[str, Any]) -> None:
    with pytest.raises(ArenaError) as caught:
        context_report({**CASE, **change})
    assert caught.value.advice
