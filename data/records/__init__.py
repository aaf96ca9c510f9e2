"""Frozen values that every room speaks in."""

from data.records.judging import HumanLabel, Judgment, Reply, Verdict, battle_id
from data.records.problems import Problem, ProblemList
from data.records.questions import Passage, Question, QuestionSet, require_name
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
    "JudgeKind",
    "Judgment",
    "OrderPolicy",
    "Outcome",
    "Passage",
    "Preference",
    "Presentation",
    "Problem",
    "ProblemList",
    "Question",
    "QuestionSet",
    "Reply",
    "RoundState",
    "Severity",
    "Split",
    "Submission",
    "SubmissionState",
    "SystemCard",
    "Verdict",
    "Yardstick",
    "battle_id",
    "require_name",
]
