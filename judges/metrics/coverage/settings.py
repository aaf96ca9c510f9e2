"""Settings, tasks and formulas of ICAT."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from data.corpora.documents import OVERLAP, WORDS, Chunking
from judges.llm.tasks import Task
from judges.llm.templates import Input
from judges.metrics.dry_run import ids, numbered_questions

BETA = 1.0


def share(part: int, whole: int) -> float | None:
    """Return a share; None for an empty whole (ICAT, section 3: S_fact and S_coverage)."""
    return part / whole if whole else None


def icat(factuality: float | None, coverage: float | None, beta: float = BETA) -> float | None:
    """Compute ICAT_β, the harmonic mean of factuality and coverage with weight β for coverage.

    Returns:
        0–1; 0 without coverage, even without claims; otherwise None if a value is undefined.

    Source: ICAT, section 3, ICAT_β.
    """
    if coverage == 0:
        return 0.0
    if factuality is None or coverage is None:
        return None
    square = beta * beta
    weighted = square * factuality + coverage
    return (1 + square) * factuality * (coverage / weighted) if weighted else 0.0


RETRIEVED = 10
MAX_ASPECTS = 10


class CoverageSettings(BaseModel):
    """Settings of ICAT.

    Attributes:
        beta: Weight of coverage relative to factuality.
        retrieved: Number of chunks per claim (k, section 4.3).
        aspects: Maximum number of generated aspects (section 3.3).
        words, overlap: Maximum number of words in a chunk, and number shared by neighbouring chunks.
        judgments: For variant M: question id → passage id → aspects for which the passage is relevant.
        nli: Folder of an NLI model that replaces words or the LLM for grounding claims (section 4.3).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    beta: Annotated[float, Field(gt=0, le=1_000)] = BETA
    retrieved: Annotated[int, Field(ge=1, le=1_000)] = RETRIEVED
    aspects: Annotated[int, Field(ge=1, le=100)] = MAX_ASPECTS
    words: Annotated[int, Field(ge=1)] = WORDS
    overlap: Annotated[int, Field(ge=0)] = OVERLAP
    judgments: dict[str, dict[str, tuple[str | int, ...]]] = {}
    nli: str = ""

    @property
    def chunking(self) -> Chunking:
        """Method of splitting passages."""
        return Chunking(words=self.words, overlap=self.overlap)


NonEmpty = Annotated[str, Field(min_length=1)]


class AspectsReply(BaseModel):
    """The aspects of a question, the most important first."""

    aspects: tuple[NonEmpty, ...] = Field(min_length=1)


class AlignedAspect(BaseModel):
    """An aspect that claims cover, by its id, and those claims by theirs."""

    aspect: str
    claims: tuple[str, ...]


class AlignmentReply(BaseModel):
    """The aspects that the claims cover; those that no claim covers are left out."""

    covered: tuple[AlignedAspect, ...]


def _aligned(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    claims = ids(inputs["claims"])
    return {"covered": [{"aspect": aspect, "claims": claims[:2]} for aspect in ids(inputs["aspects"])]}


ASPECTS = Task(name="generate_aspects", reply=AspectsReply, stub=numbered_questions("aspects"))
ALIGNMENT = Task(name="align_aspects", reply=AlignmentReply, max_tokens=4_096, stub=_aligned)
