"""The records of Every Eval Ever: one a system, each figure with its interval and its judge.

Source: EvalEval Coalition, Every Eval Ever, `eval.schema.json`, version 0.2.2. Fields that a board
has nothing for are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

SCHEMA = "0.2.2"
LEVEL = 0.95
Details = Mapping[str, str]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ModelInfo(_Part):
    """A system, or the LLM of a judge."""

    name: str
    id: str
    developer: str | None = None
    additional_details: Details | None = None


class Library(_Part):
    """What evaluated."""

    name: str
    version: str


class SourceMetadata(_Part):
    """Who evaluated, and where it is published."""

    source_name: str
    source_type: Literal["documentation", "evaluation_run"]
    source_organization_name: str
    source_organization_url: str | None = None
    evaluator_relationship: Literal["first_party", "third_party", "collaborative", "other"]
    additional_details: Details


class SourceData(_Part):
    """The questions."""

    dataset_name: str
    source_type: Literal["other"] = "other"
    additional_details: Details


class JudgeConfig(_Part):
    """One LLM that judges."""

    model_info: ModelInfo
    temperature: float | None = None
    weight: float | None = None
    additional_details: Details | None = None


class LlmScoring(_Part):
    """The LLMs that judge, and in which words they are asked."""

    judges: Sequence[JudgeConfig]
    input_prompt: str
    aggregation_method: Literal["majority_vote", "average", "weighted_average", "median"] | None = None
    additional_details: Details | None = None


class MetricConfig(_Part):
    """What a figure is."""

    evaluation_description: str
    metric_id: str
    metric_name: str
    metric_kind: str
    metric_unit: str
    metric_parameters: Mapping[str, str | float | bool | None] | None = None
    lower_is_better: bool = False
    score_type: Literal["continuous"] = "continuous"
    min_score: float
    max_score: float
    llm_scoring: LlmScoring | None = None
    additional_details: Details | None = None


class StandardError(_Part):
    """Of a figure."""

    value: float
    method: str


class ConfidenceInterval(_Part):
    """Of a figure."""

    lower: float
    upper: float
    confidence_level: float = LEVEL
    method: str


class Uncertainty(_Part):
    """How sure a figure is."""

    standard_error: StandardError | None = None
    confidence_interval: ConfidenceInterval | None = None
    num_samples: int | None = None
    num_bootstrap_samples: int | None = None


class ScoreDetails(_Part):
    """A figure."""

    score: float
    details: Details | None = None
    uncertainty: Uncertainty | None = None


class Result(_Part):
    """A figure of one system in one domain."""

    evaluation_result_id: str
    evaluation_name: str
    source_data: SourceData
    metric_config: MetricConfig
    score_details: ScoreDetails


class Evaluation(_Part):
    """Everything that a board says of one system: a file of the format."""

    schema_version: str = SCHEMA
    evaluation_id: str
    evaluation_timestamp: str | None = None
    retrieved_timestamp: str
    source_metadata: SourceMetadata
    eval_library: Library
    model_info: ModelInfo
    evaluation_results: Sequence[Result]

    def text(self) -> str:
        """The file; equal boards give equal text."""
        return self.model_dump_json(indent=1, exclude_none=True) + "\n"
