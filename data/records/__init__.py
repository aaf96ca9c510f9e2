"""Frozen values that every room speaks in."""

from data.records.judging import HumanLabel, Judgment, Reply, Verdict, battle_id
from data.records.questions import Passage, Question, QuestionSet, require_name
from data.records.scores import Json, MetricItem, Score, unscored
from data.records.submissions import Answer, Submission, SystemCard
from data.records.vocabulary import (
    JudgeKind,
    OrderPolicy,
    Outcome,
    Preference,
    Presentation,
    RoundState,
    Severity,
    Split,
    SubmissionState,
    Yardstick,
)

__all__ = [
    "Answer",
    "HumanLabel",
    "Json",
    "JudgeKind",
    "Judgment",
    "MetricItem",
    "OrderPolicy",
    "Outcome",
    "Passage",
    "Preference",
    "Presentation",
    "Question",
    "QuestionSet",
    "Reply",
    "RoundState",
    "Score",
    "Severity",
    "Split",
    "Submission",
    "SubmissionState",
    "SystemCard",
    "Verdict",
    "Yardstick",
    "battle_id",
    "require_name",
    "unscored",
]
