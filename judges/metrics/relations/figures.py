"""Who said that a claim is supported or contradicted, and how often that scorer is right.

The figures of the embedded version are frozen in `figures.json`, which names the version they were measured
on; `benchmarks/relation_figures.py` writes it. A change of the version makes new figures due.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from data.percent import percent, percent_figure
from data.records import EMBEDDED_ENGINE
from judges.metrics.comprehensiveness import COMPREHENSIVENESS
from judges.metrics.reference import REFERENCE_COVERAGE

RECORD = Path(__file__).with_name("figures.json")
CONTRADICTED_BELOW = 0.3
"""The posterior below which people's labels bear a contradiction out in more than four cases of five."""
SUPPORTED_FROM = 0.7
"""The posterior from which they bear support out as often."""


class Verdict(StrEnum):
    """What is said of a claim to people. A score counts by one half; words ask for more."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNCONFIRMED = "not confirmed"


def verdict_of(posterior: float) -> Verdict:
    """What to call a claim of this posterior, 0–1."""
    if posterior >= SUPPORTED_FROM:
        return Verdict.SUPPORTED
    return Verdict.CONTRADICTED if posterior < CONTRADICTED_BELOW else Verdict.UNCONFIRMED


class Measured(BaseModel):
    """A figure on people's labels: its value with the 95 % interval over questions, and of how many."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    lower: float
    upper: float
    of: int

    @property
    def percent(self) -> str:
        """In per cent, with the interval."""
        lower, upper = percent_figure(self.lower, decimals=0), percent(self.upper, decimals=0)
        return f"{percent(self.value, decimals=0)} ({lower} to {upper})"


class Tenth(BaseModel):
    """Claims with posteriors between two ends, and the share of them that is true, 0–1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lower: float
    upper: float
    claims: int
    mean_posterior: float
    share_true: float


class OnClaims(BaseModel):
    """Posteriors beside people's labels of claims.

    Attributes:
        data: Whose labels.
        claims: How many; `questions` likewise.
        true: The share of them that is true: what the constant "supported" gets.
        contradicted: Of those that are called so, the share that is not true.
        unconfirmed: Of those that are called so, the share that is true.
        supported: Of those that are called so, the share that is true.
        auc: The chance that a true claim has a higher posterior than another one; a constant's is 0.5.
        brier: Mean squared difference; `constant_brier` is that of the share of true claims.
        agreement: Share of claims on the same side of one half as their label.
        kappa: The same beyond chance; a constant's is 0.
        calibration: By tenths of the posterior, the lowest first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str
    claims: int
    questions: int
    true: float
    contradicted: Measured
    unconfirmed: Measured
    supported: Measured
    auc: Measured
    brier: Measured
    constant_brier: float
    agreement: Measured
    kappa: Measured
    calibration: tuple[Tenth, ...]

    @property
    def untrue(self) -> float:
        """The share of claims that is not true: what the constant "contradicted" gets."""
        return 1 - self.true


class OnMissing(BaseModel):
    """Comprehensiveness beside what people marked as missing from answers.

    Attributes:
        answers: How many; in the share `lacking` of them people marked something as missing.
        auc: The chance that an answer that lacks something has the lower score; a constant's is 0.5.
        marked: Of the statements that people marked, the share that is listed as missing.
        others: Of the other statements, the share that is listed.
        kappa: Of listed against marked; a constant's is 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str
    answers: int
    lacking: float
    auc: Measured
    marked: Measured
    others: Measured
    kappa: Measured


class KnownAgreement(BaseModel):
    """What is known of a metric's agreement with people.

    Attributes:
        metric: Its name, as it was measured.
        figure: What was measured: an AUC, a kappa, or a share.
        of_what: What people said, in words.
        data: Whose labels.
        measured: The figure with its 95 % interval over questions.
        chance: What a constant gets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: str
    figure: str
    of_what: str
    data: str
    measured: Measured
    chance: float

    @property
    def is_chance(self) -> bool:
        """Whether the interval holds what a constant gets."""
        return self.measured.lower <= self.chance <= self.measured.upper


class Figures(BaseModel):
    """How often the embedded version is right.

    Attributes:
        engine: The version.
        contradicted_below: The words' thresholds when it was measured; `supported_from` likewise.
        held: Of the contradictions told on WikiContradict's pairs of passage and answer, the share that
            holds.
        found: Of the contradictions there, the share that is told.
        against_some: Of QA-Feedback's sentences that some of several passages is told to contradict, the
            share that people marked.
        claims: On WikiContradict and on QA-Feedback.
        missing: Comprehensiveness on QA-Feedback.
        lacking: AUC of reference coverage for answers that people found lacking information, on QA-Feedback.
        graded: Kappa of comprehensiveness with people's three grades on WikiContradict.
        stated: Of QA-Feedback's answers with marked nuggets, the share that scores below its correction.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: str
    contradicted_below: float
    supported_from: float
    held: Measured
    found: Measured
    against_some: Measured
    claims: tuple[OnClaims, OnClaims]
    missing: OnMissing
    lacking: Measured
    graded: Measured
    stated: Measured

    @property
    def agreement(self) -> tuple[KnownAgreement, ...]:
        """What is known of metrics' agreement with people, by metric; of others nothing is."""
        wiki, feedback = self.claims
        lacking, wrong = "answers that lack information", "sentences that are wrong or unverifiable"
        rows = (
            (REFERENCE_COVERAGE, "AUC", lacking, feedback.data, self.lacking, 0.5),
            (COMPREHENSIVENESS, "AUC", lacking, feedback.data, self.missing.auc, 0.5),
            (COMPREHENSIVENESS, "kappa", "three grades of answers", wiki.data, self.graded, 0.0),
            ("factuality-fr2", "AUC", wrong, feedback.data, feedback.auc, 0.5),
            ("factuality-fr2", "kappa", wrong, feedback.data, feedback.kappa, 0.0),
            ("factuality-fr1", "AUC", "answers that are wrong", wiki.data, wiki.auc, 0.5),
            ("nuggets", "share", "answers below their corrections", feedback.data, self.stated, 0.5),
        )
        names = ("metric", "figure", "of_what", "data", "measured", "chance")
        return tuple(KnownAgreement(**dict(zip(names, row, strict=True))) for row in rows)


@lru_cache(maxsize=1)
def embedded_figures() -> Figures:
    """The figures of the embedded version."""
    return Figures.model_validate_json(RECORD.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """Who scored.

    Attributes:
        name: The embedded version, with the NLI model where there is one; or the LLM.
        right: How often claims that it calls contradicted or supported are so, in a sentence.
        contradictions: How often a contradiction that it tells of one passage holds, in a sentence.
    """

    name: str
    right: str
    contradictions: str


def scorer_of(judge: str, engine: str) -> Scorer:
    """Who scored.

    Args:
        judge: Under what name the score is stored; empty, or options alone, for the embedded version.
        engine: The detail of the score that names its version; empty where it has none.
    """
    if "@" in judge.partition("=")[0]:
        unknown = f"Decided by {judge}; how often it is right was not measured here."
        return Scorer(name=judge, right=unknown, contradictions=unknown)
    version, _, model = engine.partition(", ")
    if model:
        name = model.removeprefix("nli:")
        unknown = f"Decided by the NLI model {name}; how often it is right was not measured here."
        return Scorer(name=f"{version} with {model}", right=unknown, contradictions=unknown)
    if version != EMBEDDED_ENGINE:
        former = version or "an earlier lexical version"
        unknown = (
            f"Decided by {former}, which compares words; how often it is right was measured for "
            f"{EMBEDDED_ENGINE} alone."
        )
        return Scorer(name=former, right=unknown, contradictions=unknown)
    return Scorer(name=version, right=_right(embedded_figures()), contradictions=_held(embedded_figures()))


def _right(figures: Figures) -> str:
    """On both data sets, how often the words are borne out."""
    wiki, feedback = figures.claims
    return (
        f"Decided by {figures.engine}, which compares words: of the claims that it calls contradicted, "
        f"{wiki.contradicted.percent} are wrong by people's labels on {wiki.data} and "
        f"{feedback.contradicted.percent} on {feedback.data}; of those that it calls supported "
        f"{wiki.supported.percent} and {feedback.supported.percent} are right; it was made seeing these "
        "data, so expect less elsewhere."
    )


def _held(figures: Figures) -> str:
    return (
        f"Decided by {figures.engine}, which compares words: {figures.held.percent} of its contradictions "
        f"hold on {figures.claims[0].data}, whose passages are about the same point."
    )
