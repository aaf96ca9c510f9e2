"""Assessors of factuality held against labelled claims."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from scipy.stats import ttest_rel

from data.errors import FileFormatError, InvalidFileError, StatisticsError
from data.records import MetricItem, Outcome, Score, unscored
from judges.metrics.factuality.meta_evaluation import ClaimAssessor, assess, compare, constants
from judges.metrics.factuality.meta_files import IRRELEVANT, WORDS, read_labelled_claims
from judges.metrics.registry import build_metric
from judges.metrics.relations.figures import embedded_figures

ROOT = Path(__file__).parents[4]
DEV = ROOT / "../shared/data/wikicontradict/dev.jsonl"
LINE: Mapping[str, Any] = {
    "id": "q1",
    "question": "When was the bridge opened?",
    "passages": [{"id": "p1", "text": "The iron bridge was opened in 1905. Two towers carry it."}],
    "claims": [
        {"text": "The iron bridge was opened in 1905.", "label": "supported"},
        {"text": "The iron bridge was opened in 1911.", "label": "contradicted"},
        {"text": "Two towers carry the bridge.", "label": True},
        {"text": "It is painted green.", "label": False},
    ],
}
WIKI: Mapping[str, Any] = {
    "question": "When?",
    "context1_self_contained": "It opened in 1960.",
    "context2_self_contained": "It opened in 1970.",
    **{f"answer{number}": f"It opened in 19{number}0." for number in range(5)},
    **{f"label{number}": "Correct" for number in range(3)},
    "label3": "Incorrect",
    "label4": "Partially correct",
}


class Fixed:
    """Gives each claim the posterior that a table says; answers that it lacks fail."""

    def __init__(self, name: str, table: Mapping[str, float]) -> None:
        self.name = name
        self._table = table

    async def score_claims(self, item: MetricItem, claims: Sequence[str]) -> Score:
        """Score by the table."""
        if any(claim not in self._table for claim in claims):
            return unscored(item, self.name, Outcome.FAILED, "It is not in the table.")
        found = [self._table[claim] for claim in claims]
        said = [
            {"text": claim, "posterior": p, "label": "supported" if p > 0.5 else "contradicted"}
            for claim, p in zip(claims, found, strict=True)
        ]
        value = sum(p > 0.5 for p in found) / len(found)
        return Score(
            id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=value, details={"claims": said}
        )


def fixed(name: str, **table: float) -> ClaimAssessor:
    """An assessor with a table."""
    return Fixed(name, table)


def rows(*labels: str) -> list[dict[str, Any]]:
    """Lines of two claims each, named by their labels, 1 for true."""
    return [
        {
            **LINE,
            "id": f"q{number}",
            "claims": [
                {"text": f"{name}{number}", "label": digit == "1"}
                for name, digit in zip("ab", label, strict=True)
            ],
        }
        for number, label in enumerate(labels)
    ]


def test_the_measures_are_those_of_the_definitions() -> None:
    """MAE over answers; F1, Brier score and calibration over claims; what fails is counted, not averaged."""
    read = read_labelled_claims(rows("11", "10", "00"), where="file")
    found = asyncio.run(assess(fixed("m", a0=0.9, b0=0.2, a1=0.9, b1=0.1), read)).as_json()
    assert (found["answers"], found["claims"], found["true"]) == (2, 4, 3)
    assert found["unscored"] == {"failed: It is not in the table.": 1}
    assert found["mae"] == pytest.approx((0.5 + 0.0) / 2)
    assert found["f1"] == pytest.approx(2 * 2 / (2 + 3))
    assert found["brier"] == pytest.approx((0.01 + 0.64 + 0.01 + 0.01) / 4)
    curve: Any = found["calibration"]
    assert [(one["claims"], one["share_true"]) for one in curve] == [(1, 0.0), (1, 1.0), (2, 1.0)]
    with pytest.raises(StatisticsError, match="none of 3"):
        asyncio.run(assess(fixed("m"), read))


def test_two_assessors_are_compared_both_ways() -> None:
    """The two one-sided p-values add up to one; equal errors have no test."""
    read = read_labelled_claims(rows("11", "10", "11", "10"), where="file")
    right = {f"{name}{number}": 0.9 for number in range(4) for name in "ab"} | {"b1": 0.1, "b3": 0.1}
    wrong = dict.fromkeys(right, 0.9) | {"a0": 0.1, "a1": 0.1}
    good, bad = (
        asyncio.run(assess(fixed(name, **table), read)) for name, table in (("good", right), ("bad", wrong))
    )
    one, other = compare([good, bad])
    assert (one["better"], one["than"], one["answers"]) == ("good", "bad", 4)
    p, q = one["p"], other["p"]
    assert isinstance(p, float)
    assert isinstance(q, float)
    assert p < 0.5 < q
    assert p + q == pytest.approx(1)
    assert {row["p"] for row in compare([good, good])} == {None}


def test_wikicontradict_answers_are_claims_on_what_they_saw() -> None:
    """Correct and incorrect answers count, partial ones do not; each stands beside its own passages."""
    read = read_labelled_claims([WIKI], where="dev")
    assert [row.truths for row in read] == [(True,), (True,), (True,), (False,)]
    seen = [[passage.id for passage in row.item.passages] for row in read]
    assert seen == [["context1", "context2"], ["context1"], ["context2"], ["context1", "context2"]]


@pytest.mark.parametrize(
    "line",
    [
        {**LINE, "claims": []},
        {**LINE, "passages": []},
        {**LINE, "claims": [{"text": "A.", "label": "perhaps"}]},
        {**WIKI, "context2_self_contained": None} | {"context1": 1, "context1_self_contained": "x"},
        {"question": "Why?"},
        {**WIKI, **{f"label{number}": "Partially correct" for number in range(5)}},
    ],
)
def test_lines_that_cannot_be_meant_are_refused(line: dict[str, Any]) -> None:
    """A file without labelled claims is an error that says what a line is."""
    line = {key: value for key, value in line.items() if value is not None}
    with pytest.raises(FileFormatError):
        read_labelled_claims([line], where="file")


@pytest.mark.parametrize(
    ("label", "truth"),
    [
        *(("S", True), ("s", True), ("Supported", True), ("true", True), (True, True)),
        *(("NS", False), ("not supported", False), ("C", False), ("contradicted", False), (False, False)),
    ],
)
def test_labels_of_the_authors_are_read(label: object, truth: bool) -> None:
    """E15: S is supported, NS and C are not, as in the paper's data and its code."""
    row = {**LINE, "claims": [{"text": "A.", "label": label}]}
    assert read_labelled_claims([row], where="file")[0].truths == (truth,)


ATOMS: Mapping[str, Any] = {
    "input": "Tell me about the bridge.",
    "output": "It opened in 1905. It is green.",
    "topic": "Bridge",
    "cat": [],
    "atoms": [
        {"id": "a0", "text": "It opened in 1905.", "original": "", "label": "S", "contexts": ["c0"]},
        {"id": "a1", "text": "It is green.", "original": "", "label": "NS", "contexts": []},
    ],
    "contexts": [
        {"id": "c0", "title": "Bridge", "text": "The bridge opened in 1905."},
        {"id": "c1", "title": "Search", "text": "", "snippet": "An old bridge."},
        {"id": "c2", "title": "Nothing", "text": "", "snippet": ""},
    ],
}


def test_rows_of_the_authors_are_read() -> None:
    """E15: FactReasoner's own rows of atoms and contexts are labelled claims with passages."""
    (read,) = read_labelled_claims([ATOMS], where="file")
    assert (read.claims, read.truths) == (("It opened in 1905.", "It is green."), (True, False))
    assert (read.item.question, read.item.answer) == (ATOMS["input"], ATOMS["output"])
    assert [(one.id, one.text) for one in read.item.passages] == [
        ("c0", "The bridge opened in 1905."),
        ("c1", "An old bridge."),
    ]


def test_rows_without_labels_are_told_in_one_message() -> None:
    """E15: what is wrong stands there in our words: each row, how many, and what was expected."""
    unlabelled = {**ATOMS, "atoms": [{"id": "a0", "text": "It opened in 1905."}]}
    odd = {**LINE, "claims": [{"text": "A.", "label": "perhaps"}]}
    bare = {**ATOMS, "contexts": [{"id": "c", "text": ""}]}
    with pytest.raises(InvalidFileError) as caught:
        read_labelled_claims([LINE, unlabelled, odd, bare], where="file")
    assert "3 of 4 rows cannot be used. Rows have id, question, passages and claims" in str(caught.value)
    assert [problem.message for problem in caught.value.problems] == [
        "row 2: atoms.0.label is missing.",
        f"row 3: claims.0.label 'perhaps' is none of {', '.join([*WORDS, *sorted(IRRELEVANT)])}.",
        "row 4: none of its contexts has a text.",
    ]


FACTSCORE: Mapping[str, Any] = {
    "input": "Question: Tell me a bio of Ada.",
    "output": "Ada was born in 1815. She is nice.",
    "annotations": [
        {
            "text": "Ada was born in 1815.",
            "human-atomic-facts": [
                {"text": "Ada was born in 1815.", "label": "S"},
                {"text": "Ada was born in Rome.", "label": "NS"},
            ],
        },
        {"text": "She is nice.", "is-relevant": False, "human-atomic-facts": None},
        {"text": "More.", "human-atomic-facts": [{"text": "There is more.", "label": "IR"}]},
    ],
}
CONFLICT: Mapping[str, Any] = {
    "question": "What did she win?",
    "default_claim": "She won the cup.",
    "default_evidence": "She won the cup in May.",
    "misinformation_conflict_evidence_evidence": "She never won the cup.",
}


def test_files_of_factscore_and_conflictbank_are_read_as_they_are() -> None:
    """FActScore's S and NS count, IR is left out and counted; ConflictBank's default claim is true."""
    (bio,) = read_labelled_claims([FACTSCORE, {**FACTSCORE, "annotations": None}], where="bios")
    assert (bio.claims, bio.truths) == (("Ada was born in 1815.", "Ada was born in Rome."), (True, False))
    assert (bio.irrelevant, bio.item.passages) == (1, ())
    (claim,) = read_labelled_claims([CONFLICT], where="conflicts")
    assert (claim.claims, claim.truths) == (("She won the cup.",), (True,))
    assert [passage.text for passage in claim.item.passages] == [
        "She won the cup in May.",
        "She never won the cup.",
    ]


def test_a_file_of_another_kind_is_one_line() -> None:
    """Where no row can be used, the first says why, and no list of all of them follows."""
    with pytest.raises(FileFormatError, match="of another kind, none of its 300 rows") as caught:
        read_labelled_claims([{"name": "x"}] * 300, where="file")
    assert not isinstance(caught.value, InvalidFileError)


def test_means_over_answers_stand_beside_constants_as_in_the_paper() -> None:
    """Each answer has its F1, Brier score and F1@K; constants are measured alike; Table 4 tests all three."""
    read = read_labelled_claims(rows("11", "10", "10"), where="file")
    table = {"a0": 0.9, "b0": 0.2, "a1": 0.9, "b1": 0.1, "a2": 0.4, "b2": 0.6}
    found = asyncio.run(assess(fixed("m", **table), read))
    means: Any = found.as_json()["per_answer"]
    assert found.k == 2
    assert means["f1"]["mean"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert means["f1"]["sd"] == pytest.approx(stdev([2 / 3, 1, 0]))
    assert means["brier"]["mean"] == pytest.approx((0.325 + 0.01 + 0.36) / 3)
    assert means["f1_at_k"]["mean"] == pytest.approx(0.5)
    assert means["mae"]["mean"] == pytest.approx((0.5 + 0 + 0) / 3)
    table_of_constants: Any = constants(read)
    everything = table_of_constants["all supported"]
    assert everything["mae"] == pytest.approx((0 + 0.5 + 0.5) / 3)
    assert everything["f1"] == pytest.approx(2 * 4 / (6 + 4))
    share = table_of_constants["the share of true claims, for each"]
    assert share["brier"] == pytest.approx(4 / 6 * 2 / 6)
    assert table_of_constants["none supported"]["per_answer"]["f1"]["mean"] == 0
    other = asyncio.run(assess(fixed("n", **(table | {"b0": 0.9})), read))
    (row, _) = compare([other, found])
    for name in ("precision", "f1"):
        better = [getattr(one, name) for one in other.answers.values()]
        worse = [getattr(one, name) for one in found.answers.values()]
        assert row[f"p_{name}"] == pytest.approx(ttest_rel(better, worse, alternative="greater").pvalue)


@pytest.mark.parametrize("name", ["fr1", "fr2", "fr3", "factscore", "factverify", "veriscore", "direct"])
def test_every_assessor_takes_given_claims(name: str) -> None:
    """The embedded assessors agree with plain labels, and only FactReasoner gives probabilities."""
    metric = build_metric(f"factuality-{name}")
    assert isinstance(metric, ClaimAssessor)
    found = asyncio.run(assess(metric, read_labelled_claims([LINE], where="file"))).as_json()
    assert (found["claims"], found["f1"]) == (4, 1.0)
    assert found["precision"] == found["true_precision"] == 0.5
    assert (found["brier"] is None) == (not name.startswith("fr"))


@pytest.mark.skipif(not DEV.exists(), reason="WikiContradict's development set is not beside the checkout")
def test_the_curve_on_the_method_page_is_the_programs() -> None:
    """The shares of true claims by posterior that the site shows are those that the embedded version gets."""
    lines = [json.loads(line) for line in DEV.read_text(encoding="utf-8").splitlines()]
    metric = build_metric("factuality-fr1")
    assert isinstance(metric, ClaimAssessor)
    found = asyncio.run(assess(metric, read_labelled_claims(lines, where="dev")))
    shown = embedded_figures().claims[0].calibration
    curve: Any = found.as_json()["calibration"]
    assert len(curve) == len(shown)
    for computed, published in zip(curve, shown, strict=True):
        assert computed == pytest.approx(published.model_dump(), abs=5e-5)
