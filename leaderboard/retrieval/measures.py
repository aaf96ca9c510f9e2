"""Measures of a ranking by ir_measures, which asks trec_eval and ndeval.

Sources: MacAvaney et al. (2022), "Streamlining evaluation with ir-measures"; trec_eval (NIST); Clarke et al.
(2008) for α-nDCG, Chapelle et al. (2011) for ERR-IA, Zhai et al. (2003) for subtopic recall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from data.records.rankings import Qrels

if TYPE_CHECKING:
    from ir_measures import Measure as IrMeasure
    from ir_measures import Qrel

Values = Mapping[str, Mapping[str, float]]
"""By measure, then by question."""


class Family(StrEnum):
    """What a measure needs."""

    GRADES = "grades"
    """The grades of passages, as they are."""
    RELEVANCE = "relevance"
    """Which passages are relevant."""
    SUBTOPICS = "subtopics"
    """Which passages are relevant to which subtopic."""
    CONTROLLED = "controlled"
    """Subtopics, and the required subset of passages (CRUX)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure of a ranking, 0–1 unless it says otherwise.

    Attributes:
        name: As ir_measures writes it, and in files and addresses.
        label: For readers.
        about: What it is, in a sentence.
        trec_name: In `trec_eval -q` output.
        family: What it needs.
        bounded: Whether it is at most 1.
    """

    name: str
    label: str
    about: str
    trec_name: str
    family: Family
    bounded: bool = True


def _measure(name: str, label: str, about: str, trec_name: str, family: Family) -> Measure:
    return Measure(name=name, label=label, about=about, trec_name=trec_name, family=family)


_NDCG = "Gain of the graded passages, discounted by the logarithm of their ranks, beside the best order."
_RECALL = "Share of the relevant passages among the first {}."
_ALPHA = "nDCG over subtopics, in which a subtopic that was answered before counts half as much (α = 0.5)."
_ERR = "Expected reciprocal rank at which a reader finds their subtopic, averaged over subtopics."
_COVERED = "Share of the subtopics that one of the first {} passages answers: CRUX's coverage."
MEASURES: Sequence[Measure] = (
    _measure("nDCG@10", "nDCG@10", _NDCG, "ndcg_cut_10", Family.GRADES),
    _measure("nDCG@20", "nDCG@20", _NDCG, "ndcg_cut_20", Family.GRADES),
    _measure("AP", "MAP", "Mean precision at the ranks of the relevant passages.", "map", Family.RELEVANCE),
    _measure("RR", "MRR", "1 over the rank of the first relevant passage.", "recip_rank", Family.RELEVANCE),
    _measure("R@10", "Recall@10", _RECALL.format(10), "recall_10", Family.RELEVANCE),
    _measure("R@20", "Recall@20", _RECALL.format(20), "recall_20", Family.RELEVANCE),
    _measure("R@100", "Recall@100", _RECALL.format(100), "recall_100", Family.RELEVANCE),
    _measure("P@10", "Precision@10", "Share of the first 10 that is relevant.", "P_10", Family.RELEVANCE),
    _measure("StRecall@10", "Coverage@10", _COVERED.format(10), "strec@10", Family.SUBTOPICS),
    _measure("StRecall@20", "Coverage@20", _COVERED.format(20), "strec@20", Family.SUBTOPICS),
    _measure("alpha_nDCG@10", "α-nDCG@10", _ALPHA, "alpha-nDCG@10", Family.SUBTOPICS),
    _measure("alpha_nDCG@20", "α-nDCG@20", _ALPHA, "alpha-nDCG@20", Family.SUBTOPICS),
    _measure("ERR_IA@10", "ERR-IA@10", _ERR, "ERR-IA@10", Family.SUBTOPICS),
    _measure("ERR_IA@20", "ERR-IA@20", _ERR, "ERR-IA@20", Family.SUBTOPICS),
    _measure(
        "Cov@Z",
        "Coverage@|Z*|",
        "Coverage of as many passages as the required subset Z* has.",
        "cov@Z",
        Family.CONTROLLED,
    ),
    _measure(
        "alpha_nDCG@Z",
        "α-nDCG@|Z*|",
        "α-nDCG of as many passages as the required subset Z* has.",
        "alpha-nDCG@Z",
        Family.CONTROLLED,
    ),
    _measure(
        "Cov@T",
        "Coverage@tokens(Z*)",
        "Coverage of the first passages that together are no longer than the required subset Z*.",
        "cov@T",
        Family.CONTROLLED,
    ),
    Measure(
        name="Den@Z",
        label="Density@|Z*|",
        about="Coverage a token beside that of the required subset Z*, of as many passages; 1 is Z* itself.",
        trec_name="den@Z",
        family=Family.CONTROLLED,
        bounded=False,
    ),
)
JUDGED = "Judged@10"
"""The share of the first ten passages that somebody judged; it says how far the others can be trusted."""


def measures_for(qrels: Qrels) -> tuple[Measure, ...]:
    """The measures that judgments allow."""
    plain = {Family.GRADES, Family.RELEVANCE}
    return tuple(measure for measure in MEASURES if qrels.has_subtopics or measure.family in plain)


def measure_rankings(qrels: Qrels, rankings: Mapping[str, Sequence[str]]) -> Values:
    """Every measure but the controlled ones, and `Judged@10`, of each question with a relevant passage.

    Args:
        qrels: The judgments. Gains of nDCG are their grades, rounded; negative ones are no judgments.
        rankings: Ids of passages by question, best first. A question that is missing scores 0.

    Returns:
        By measure and question.
    """
    questions = list(qrels.relevant)
    run = {
        question: {passage: float(len(ranking) - place) for place, passage in enumerate(ranking)}
        for question, ranking in rankings.items()
        if question in qrels.relevant
    }
    wanted = [measure for measure in measures_for(qrels) if measure.family is not Family.CONTROLLED]
    judged = {
        question: {passage: grade for passage, grade in qrels.grades[question].items() if grade >= 0}
        for question in questions
    }
    grades = {
        question: {passage: round(grade) for passage, grade in own.items()}
        for question, own in judged.items()
    }
    relevance = {
        question: {passage: int(grade >= qrels.relevant_from) for passage, grade in own.items()}
        for question, own in judged.items()
    }
    values = {measure.name: dict.fromkeys(questions, 0.0) for measure in wanted}
    values[JUDGED] = dict.fromkeys(questions, 0.0)
    by_family = {family: [one.name for one in wanted if one.family is family] for family in Family}
    by_family[Family.RELEVANCE].append(JUDGED)
    for family, judgments in (
        (Family.GRADES, grades),
        (Family.RELEVANCE, relevance),
        (Family.SUBTOPICS, _subtopics(qrels, questions)),
    ):
        for measure, question, value in _calculated(by_family[family], judgments, run):
            values[measure][question] = value
    return values


def _subtopics(qrels: Qrels, questions: Iterable[str]) -> list[Qrel]:
    from ir_measures import Qrel  # noqa: PLC0415 - loads compiled libraries that few commands need

    return [
        Qrel(question, passage, 1, subtopic)
        for question in questions
        for subtopic, passages in qrels.answering(question).items()
        for passage in sorted(passages)
    ]


def _calculated(
    names: Sequence[str], judgments: dict[str, dict[str, int]] | list[Qrel], run: dict[str, dict[str, float]]
) -> Iterable[tuple[str, str, float]]:
    import ir_measures  # noqa: PLC0415 - as above

    if not names or not run or not judgments:
        return
    parsed: dict[IrMeasure, str] = {ir_measures.parse_measure(name): name for name in names}
    for metric in ir_measures.iter_calc(list(parsed), judgments, run):
        yield parsed[metric.measure], metric.query_id, float(metric.value)
