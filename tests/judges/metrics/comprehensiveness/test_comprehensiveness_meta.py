"""Meta-evaluation: label match rates, intervals, and agreement beyond a constant guess."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from data.errors import FileFormatError, InvalidFileError
from data.records import MetricItem, Outcome, Score, unscored
from judges.metrics.comprehensiveness.meta_evaluation import (
    bca,
    evaluate_conflictbank,
    evaluate_wikicontradict,
    group_rows,
)
from judges.metrics.comprehensiveness.meta_files import (
    Label,
    is_conflict_bank,
    read_conflictbank,
    read_wikicontradict,
)
from judges.metrics.registry import build_metric

DEV = Path(__file__).parents[4] / "../shared/data/wikicontradict/dev.jsonl"
WIKI = {
    "question": "How long is the bridge?",
    "context1_self_contained": "The bridge is 400 metres long.",
    "context2_self_contained": "The bridge is 450 metres long.",
    "answer0": "10 km", "label0": "Incorrect",
    "answer1": "400 metres", "label1": "Correct",
    "answer2": "400 metres", "label2": "Incorrect",
    "answer3": "400 or 450 metres", "label3": "Correct",
    "answer4": "450 metres", "label4": "Partially correct",
}  # fmt: skip
CONFLICT = {
    "question": "Where was she born?",
    "default_claim": "She was born in Lyon.",
    "default_evidence": "She was born in Lyon.",
    "misinformation_conflict_claim": "She was born in Ghent.",
    "misinformation_conflict_evidence": "She was born in Ghent.",
    "temporal_conflict_evidence": "Born in Ghent in 1960, she moved.",
    "semantic_conflict_evidence": "The woman of that name was born in Ghent.",
}


class Fixed:
    """A metric that scores by a rule."""

    def __init__(self, rule: Callable[[MetricItem], float | None]) -> None:
        self.name = "fixed"
        self._rule = rule

    async def score(self, item: MetricItem) -> Score:
        """Score by the rule; None is unreadable."""
        value = self._rule(item)
        if value is None:
            return unscored(item, self.name, Outcome.UNREADABLE, "malformed")
        return Score(id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=value)


def test_labels_are_adjusted_for_what_an_answer_could_see() -> None:
    """A correct answer from one passage is partial where both count."""
    labels = [each.label for each in read_wikicontradict([WIKI], where="x")]
    assert labels == [Label.INCORRECT, Label.PARTIAL, Label.INCORRECT, Label.CORRECT, Label.PARTIAL]


def test_match_rate_agreement_and_baseline() -> None:
    """The three figures by hand for one question, and unscored answers counted apart."""
    values = {"10 km": 0.0, "400 metres": 0.5, "400 or 450 metres": 1.0, "450 metres": None}
    items = read_wikicontradict([WIKI], where="x")
    found = asyncio.run(
        evaluate_wikicontradict(Fixed(lambda item: values[item.answer]), items, resamples=200)
    )
    assert (found.answers, found.unscored) == (4, {"unreadable: malformed": 1})
    assert found.estimates["lmr"].value == pytest.approx(3 / 4)
    # Labels: 2 incorrect, 1 partial, 1 correct; said: 1, 2, 1. Chance: (2 + 2 + 1) / 16.
    assert found.estimates["kappa"].value == pytest.approx((3 / 4 - 5 / 16) / (11 / 16))
    assert found.estimates["macro_f1"].value == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert found.estimates["lmr_all"].value == pytest.approx(3 / 5)
    assert found.constants["Incorrect"]["lmr"] == 0.5
    assert found.constants["Partially correct"] == found.baseline
    assert found.baseline == {"lmr": 0.25, "kappa": 0.0, "macro_f1": pytest.approx(0.4 / 3)}


def test_equal_scores_have_a_degenerate_interval() -> None:
    """No NaN where nothing varies: both ends are the value."""
    items = read_wikicontradict([WIKI], where="x")
    found = asyncio.run(evaluate_wikicontradict(Fixed(lambda _item: 0.5), items, resamples=100))
    bounds = found.estimates["kappa"]
    assert (bounds.value, bounds.over_questions.lower, bounds.over_questions.upper) == (0.0, 0.0, 0.0)
    assert found.estimates["lmr"].value == found.baseline["lmr"]
    assert "NaN" not in json.dumps(found.as_json())


def test_conflictbank_by_figure_7() -> None:
    """A perfect scorer gets 1 on both rates; a constant gets the strict middle fifth and no order."""

    def perfect(item: MetricItem) -> float:
        place = item.answer.rsplit(" ", 1)[-1].strip(".")
        return sum(place in passage.text for passage in item.passages) / len(item.passages)

    items = read_conflictbank([CONFLICT], where="x")
    best = asyncio.run(evaluate_conflictbank(Fixed(perfect), items, resamples=100)).estimates
    assert [best[name].value for name in ("lmr_strict", "lmr_lax", "lmr")] == [1.0, 1.0, 1.0]
    flat = asyncio.run(evaluate_conflictbank(Fixed(lambda _item: 0.5), items, resamples=100)).estimates
    assert [flat[name].value for name in ("lmr_strict", "lmr_lax", "lmr")] == pytest.approx([0.2, 0.0, 0.1])
    told = asyncio.run(evaluate_conflictbank(Fixed(perfect), items, resamples=100))
    assert told.constants["0.5"] == pytest.approx({"lmr_strict": 0.2, "lmr_lax": 0.0, "lmr": 0.1})
    assert best["lmr_all"].value == 1.0


@pytest.mark.parametrize("line", [{}, {"question": "?"}, {**WIKI, "label3": "Fine"}])
def test_other_shapes_are_refused_with_the_line(line: dict[str, object]) -> None:
    """E15: rows that cannot be read are named in our words, with how many and what was expected."""
    with pytest.raises(
        InvalidFileError, match=r"x: 1 of 2 rows cannot be used\. Rows of WikiContradict have"
    ):
        read_wikicontradict([WIKI, line], where="x")
    with pytest.raises(InvalidFileError) as caught:
        read_wikicontradict([line, WIKI, line], where="x")
    told = [problem.message for problem in caught.value.problems]
    assert [message.split(":")[0] for message in told] == ["row 1", "row 3"]
    assert all(re.search("is missing|must be Incorrect, Partially correct, Correct", one) for one in told)


def test_rows_of_the_human_evaluation_are_those_of_the_public_file() -> None:
    """E15: WikiContradict's file of human evaluations names the same things otherwise, and reads the same."""
    row = {"question1": WIKI["question"], "modelName": "m", "question_ID": 1}
    for side in (1, 2):
        row[f"question1_context{side}"] = WIKI[f"context{side}_self_contained"]
    number = 0
    while f"answer{number}" in WIKI:
        row[f"ModelAnswer_prompt_{number}"] = f"\nAnswer: {WIKI[f'answer{number}']}"
        row[f"ModelAnswer_prompt_{number}_humanEval"] = WIKI[f"label{number}"]
        number += 1
    assert number == 5
    assert read_wikicontradict([row], where="x") == read_wikicontradict([WIKI], where="x")
    assert not is_conflict_bank(row)


def test_an_empty_file_is_refused() -> None:
    """Nothing to evaluate on is an error, not a figure."""
    with pytest.raises(FileFormatError, match="nothing to evaluate"):
        read_conflictbank([], where="x")
    assert is_conflict_bank(CONFLICT)
    assert not is_conflict_bank(WIKI)


def test_intervals_agree_with_scipy() -> None:
    """Two implementations of BCa agree to a few thousandths on the mean of skewed values."""
    values = np.random.default_rng(3).beta(2, 5, 120)
    rows = np.stack([values, np.ones_like(values)], axis=1)
    ours = bca(rows, lambda sums: sums[..., 0] / sums[..., 1])
    theirs = stats.bootstrap((values,), np.mean, method="BCa", rng=1, batch=500).confidence_interval
    assert (ours.lower, ours.upper) == pytest.approx((theirs.low, theirs.high), abs=3e-3)


def test_rows_are_added_up_by_name() -> None:
    """Answers to one question form one unit of resampling."""
    grouped = group_rows(np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 0.0]]), ["a", "b", "a"])
    assert grouped.tolist() == [[5.0, 0.0], [2.0, 1.0]]


@pytest.mark.slow
@pytest.mark.skipif(not DEV.exists(), reason="WikiContradict's development set is not beside the checkout")
@pytest.mark.parametrize("name", ["comprehensiveness-nli", "comprehensiveness-end-to-end"])
def test_the_embedded_version_beats_the_constant(name: str) -> None:
    """On real answers kappa's intervals exclude the constant's 0, and macro-F1 is above the constant's."""
    lines = [json.loads(line) for line in DEV.read_text(encoding="utf-8").splitlines()]
    items = read_wikicontradict(lines, where="dev.jsonl")
    found = asyncio.run(evaluate_wikicontradict(build_metric(name), items))
    kappa, macro_f1 = found.estimates["kappa"], found.estimates["macro_f1"]
    assert min(kappa.over_answers.lower, kappa.over_questions.lower) > found.baseline["kappa"]
    assert macro_f1.over_answers.lower > found.baseline["macro_f1"]
