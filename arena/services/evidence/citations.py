"""What the citations of a submission support: precision, recall, and the sentences that lack support."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from arena.services.evidence.claims import source_of
from data.records import Submission
from data.store import Store
from data.store.boards.scores import ScoredAnswer
from judges.metrics.citation import CITATION_SUPPORT

MOST_SENTENCES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakSentence:
    """A sentence that cites nothing, or whose citations do not support it; `cited` are the numbers it has."""

    question: str
    domain: str
    text: str
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationReport:
    """Citation support of a submission.

    Attributes:
        source: Who scored: the embedded version, or an LLM.
        answers: How many answers have a score, those that cite nothing included.
        without: How many of them cite nothing; their recall and F1 are 0, their precision is undefined.
        unscored: How many answers have no score, as they say nothing or there is nothing to cite.
        precision: Mean over answers that cite, 0–1; None without any.
        recall: Mean over answers, 0–1; None without any. `f1` likewise.
        sentences: Of all scored answers; so many of them `uncited`, and cited but `unsupported`.
        uncited_first: The first of the sentences without a citation, of answers that cite.
        unsupported_first: The first of those that their citations do not support.
    """

    source: str
    answers: int
    without: int
    unscored: int
    precision: float | None
    recall: float | None
    f1: float | None
    sentences: int
    uncited: int
    unsupported: int
    uncited_first: tuple[WeakSentence, ...]
    unsupported_first: tuple[WeakSentence, ...]

    @property
    def silence(self) -> str:
        """How many answers cite nothing, in a sentence; empty where all cite."""
        if not self.without:
            return ""
        return (
            f"{self.without:,} of {self.answers:,} answers cite nothing: they count 0 in recall and F1, and "
            "not in precision."
        )


def citation_report(store: Store, submission: Submission) -> CitationReport | None:
    """What is known of a submission's citations, by the embedded scores if there are any; None without."""
    judges = store.scores.judges([submission.id], metric=CITATION_SUPPORT)
    judge = next(iter(judges), "")
    scores = list(
        store.scores.detailed([submission.id], metric=CITATION_SUPPORT, judge=judge, former=not judges)
    )
    return _report(scores) if scores else None


def uncited_of(details: Mapping[str, Any]) -> bool:
    """Whether a score of citation support is of an answer that cites nothing."""
    counts = details.get("counts")
    return isinstance(counts, Mapping) and counts.get("citations") == 0


def _report(scores: Iterable[ScoredAnswer]) -> CitationReport:
    rows = list(scores)
    scored = [score for score in rows if score.score is not None]
    without = [score for score in scored if uncited_of(score.details)]
    cited = [score for score in scored if not uncited_of(score.details)]
    precisions = [value for score in cited if (value := score.details["precision"]) is not None]
    uncited = [sentence for score in cited for sentence in _weak(score, cites=False)]
    unsupported = [sentence for score in cited for sentence in _weak(score, cites=True)]
    return CitationReport(
        source=source_of(rows[0]).name,
        answers=len(scored),
        without=len(without),
        unscored=len(rows) - len(scored),
        precision=fmean(precisions) if precisions else None,
        recall=fmean(float(score.details["recall"]) for score in scored) if scored else None,
        f1=fmean(score.score or 0.0 for score in scored) if scored else None,
        sentences=sum(_count(score, "sentences") for score in scored),
        uncited=sum(_count(score, "uncited") for score in scored),
        unsupported=sum(_count(score, "unsupported") for score in scored),
        uncited_first=tuple(uncited[:MOST_SENTENCES]),
        unsupported_first=tuple(unsupported[:MOST_SENTENCES]),
    )


def _weak(score: ScoredAnswer, *, cites: bool) -> Iterable[WeakSentence]:
    for sentence in score.details.get("sentences", ()):
        numbers = tuple(int(citation["number"]) for citation in sentence["citations"])
        if bool(numbers) == cites and sentence["weight"] == 0:
            yield WeakSentence(
                question=score.question_id, domain=score.domain, text=str(sentence["text"]), cited=numbers
            )


def _count(score: ScoredAnswer, name: str) -> int:
    return int(score.details["counts"][name])
