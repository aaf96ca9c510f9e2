"""Shared models; those with a table load SQLModel on first use."""

from importlib import import_module
from typing import TYPE_CHECKING

from data.errors import Problem, Severity
from data.models.judgments import (
    EMBEDDED_ENGINE,
    ENGINE,
    LARGEST_GRADE,
    HumanLabel,
    Json,
    Judgment,
    MetricItem,
    Reply,
    Score,
    TokenUsage,
    Verdict,
    battle_id,
    unscored,
)
from data.models.questions import (
    DEFAULT_PHASE,
    ENGLISH,
    PEOPLE,
    Answer,
    Nugget,
    Passage,
    Phase,
    Question,
    QuestionSet,
    SetPolicy,
    SystemCard,
    require_name,
    require_system_name,
    written_by_people,
)
from data.models.words import (
    OUT_OF_BUDGET,
    GroundTruth,
    Importance,
    JobKind,
    JobState,
    JudgeKind,
    MissingRule,
    OrderPolicy,
    Outcome,
    Preference,
    Presentation,
    ProblemList,
    Role,
    RoundState,
    Split,
    SubmissionKind,
    SubmissionState,
    TokenScope,
)

if TYPE_CHECKING:
    from data.models.jobs import Job, Lease, WorkerId
    from data.models.rounds import (
        Account,
        BattleColumns,
        BattleEvidence,
        BattleRecord,
        Board,
        BoardHead,
        PendingBattle,
        PlannedBattle,
        Round,
        RoundCounts,
        VoteColumns,
    )
    from data.models.submissions import SetSummary, Submission
    from data.models.teams import (
        CreatedToken,
        Membership,
        Team,
        TeamWithMembers,
        Token,
        UserAccount,
        require_label,
    )

_WITH_TABLES = {
    "jobs": ("Job", "Lease", "WorkerId"),
    "rounds": (
        *("Account", "BattleColumns", "BattleEvidence", "BattleRecord", "Board", "BoardHead"),
        *("PendingBattle", "PlannedBattle", "Round", "RoundCounts", "VoteColumns"),
    ),
    "submissions": ("SetSummary", "Submission"),
    "teams": (
        *("CreatedToken", "Membership", "Team", "TeamWithMembers", "Token", "UserAccount"),
        "require_label",
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _WITH_TABLES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["DEFAULT_PHASE", "EMBEDDED_ENGINE", "ENGINE", "ENGLISH", "LARGEST_GRADE", "OUT_OF_BUDGET"]
__all__ += ["PEOPLE", "Account", "Answer", "BattleColumns", "BattleEvidence", "BattleRecord", "Board"]
__all__ += ["BoardHead", "CreatedToken", "GroundTruth", "HumanLabel", "Importance", "Job", "JobKind"]
__all__ += ["JobState", "Json", "JudgeKind", "Judgment", "Lease", "Membership", "MetricItem", "MissingRule"]
__all__ += ["Nugget", "OrderPolicy", "Outcome", "Passage", "PendingBattle", "Phase", "PlannedBattle"]
__all__ += ["Preference", "Presentation", "Problem", "ProblemList", "Question", "QuestionSet", "Reply"]
__all__ += ["Role", "Round", "RoundCounts", "RoundState", "Score", "SetPolicy", "SetSummary", "Severity"]
__all__ += ["Split"]
__all__ += ["Submission", "SubmissionKind", "SubmissionState", "SystemCard", "Team", "TeamWithMembers"]
__all__ += ["Token", "TokenScope", "TokenUsage", "UserAccount", "Verdict", "VoteColumns", "WorkerId"]
__all__ += ["battle_id", "require_label", "require_name", "require_system_name", "unscored"]
__all__ += ["written_by_people"]
