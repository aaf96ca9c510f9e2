"""Frozen values that every room speaks in."""

from data.records.judging import HumanLabel, Judgment, Reply, Verdict, battle_id
from data.records.problems import Problem, ProblemList
from data.records.questions import Passage, Question, QuestionSet, SetSummary, require_name
from data.records.rounds import (
    Account,
    BattleEvidence,
    BattleRecord,
    Board,
    CanaryRecord,
    PendingBattle,
    PlannedBattle,
    PlannedCanary,
    Round,
    RoundCounts,
)
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
    "Account",
    "Answer",
    "BattleEvidence",
    "BattleRecord",
    "Board",
    "CanaryRecord",
    "HumanLabel",
    "Json",
    "JudgeKind",
    "Judgment",
    "MetricItem",
    "OrderPolicy",
    "Outcome",
    "Passage",
    "PendingBattle",
    "PlannedBattle",
    "PlannedCanary",
    "Preference",
    "Presentation",
    "Problem",
    "ProblemList",
    "Question",
    "QuestionSet",
    "Reply",
    "Round",
    "RoundCounts",
    "RoundState",
    "Score",
    "SetSummary",
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
