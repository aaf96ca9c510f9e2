"""Coverage beside people's labels of aspects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.errors import InvalidFileError, RecordError
from data.files.text_files import ReadLimits
from judges.metrics.coverage.correlation import Coefficient
from judges.metrics.coverage.judgments import (
    AspectLabel,
    human_coverage,
    label_agreement,
    read_aspect_labels,
)


def label(question: str, system: str, aspect: str, votes: str) -> list[AspectLabel]:
    """One label an annotator, y or n."""
    return [
        AspectLabel(
            question=question, system=system, aspect=aspect, covered=vote == "y", annotator=f"p{number}"
        )
        for number, vote in enumerate(votes)
    ]


def test_the_majority_of_annotators_holds() -> None:
    """Two of three make an aspect covered; an even split is left out and counted."""
    labels = [
        *label("q1", "s", "a", "yyn"),
        *label("q1", "s", "b", "nny"),
        *label("q1", "s", "c", "yn"),
        *label("q2", "s", "a", "yn"),
    ]
    shares, undecided = human_coverage(labels)
    assert dict(shares) == {("q1", "s"): 0.5}
    assert undecided == 2


def test_nobody_labels_an_aspect_twice() -> None:
    """A second label by one annotator is an error."""
    with pytest.raises(RecordError, match="twice"):
        human_coverage(label("q", "s", "a", "y") + label("q", "s", "a", "n"))


def test_agreement_is_a_correlation_over_answers_with_both() -> None:
    """Answers without labels or without a score are left out and counted."""
    labels = [
        row
        for number in range(8)
        for aspect in range(8)
        for row in label(f"q{number}", "s", f"a{aspect}", "y" if aspect < number else "n")
    ]
    coverage = {(f"q{number}", "s"): number / 8 + 0.01 * (number % 2) for number in range(1, 10)}
    found = label_agreement(labels, coverage, resamples=100)
    assert (found.answers, found.questions, found.unlabelled, found.unscored) == (7, 7, 2, 1)
    pearson = found.correlations[Coefficient.PEARSON]
    assert pearson.value is not None
    assert pearson.value > 0.99
    assert pearson.lower is not None


def test_labels_are_read_from_jsonl(tmp_path: Path) -> None:
    """Every problem of a file is listed with its line."""
    good = {"question_id": "q", "system": "s", "aspect": "a", "covered": True, "annotator": "x"}
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(good) + "\n", encoding="utf-8")
    assert read_aspect_labels(path, ReadLimits()) == (
        AspectLabel(question="q", system="s", aspect="a", covered=True, annotator="x"),
    )
    bad = [{**good, "covered": "yes"}, {**good, "aspect": ""}, [1]]
    path.write_text("\n".join(map(json.dumps, bad)), encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        read_aspect_labels(path, ReadLimits())
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]
