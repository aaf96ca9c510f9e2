"""The constants of ICAT, the paper's where it gives one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.corpora.chunking import OVERLAP, WORDS, Chunking
from data.errors import SpecError
from data.records import Json
from judges.coverage.judgments import AspectJudgments
from judges.coverage.measures import BETA

RETRIEVED = 10
MOST_ASPECTS = 10


class CoverageSettings(BaseModel):
    """What the metrics can be told.

    Attributes:
        beta: How many times as much coverage counts as factuality.
        retrieved: Chunks looked at for each claim (k, section 4.3).
        aspects: Aspects generated at most (section 3.3).
        words: Words of a chunk at most.
        overlap: Words that neighbouring chunks share.
        judgments: For `coverage-icat-m`: question id → passage id → the aspects that the passage is
            relevant to, each by its text or its number from 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    beta: Annotated[float, Field(gt=0, le=1_000)] = BETA
    retrieved: Annotated[int, Field(ge=1, le=1_000)] = RETRIEVED
    aspects: Annotated[int, Field(ge=1, le=100)] = MOST_ASPECTS
    words: Annotated[int, Field(ge=1)] = WORDS
    overlap: Annotated[int, Field(ge=0)] = OVERLAP
    judgments: dict[str, dict[str, tuple[str | int, ...]]] = {}

    @property
    def chunking(self) -> Chunking:
        """How passages are cut."""
        return Chunking(words=self.words, overlap=self.overlap)

    @property
    def aspect_judgments(self) -> AspectJudgments:
        """The judgments on passages."""
        return AspectJudgments.of(self.judgments)


def read_settings(name: str, options: Mapping[str, Json]) -> CoverageSettings:
    """Check the options of a metric.

    Raises:
        SpecError: An option is unknown or out of bounds.
        RecordError: Chunks would not advance.
    """
    try:
        settings = CoverageSettings.model_validate(dict(options))
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        message = f"The metric {name} cannot use its options: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(CoverageSettings.model_fields)}.") from error
    _ = settings.chunking
    return settings
