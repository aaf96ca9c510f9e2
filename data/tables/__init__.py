"""The tables, by subject; importing this declares all. Rows are made of records, never of user input."""

from data.tables.annotation import (
    annotation_items,
    annotation_labels,
    annotation_people,
    annotation_tasks,
)
from data.tables.columns import metadata
from data.tables.jobs import battle_holds, canary_holds, jobs, seats
from data.tables.judgments import (
    batches,
    judgment_reports,
    judgments,
    replies,
)
from data.tables.public_votes import poll_pairs, polls
from data.tables.questions import answers, question_sets, questions, scores, submissions
from data.tables.rounds import battles, boards, canaries, ledgers, question_digests, rounds
from data.tables.teams import (
    accounts,
    audit,
    memberships,
    phases,
    refused_tokens,
    teams,
    tokens,
    web_sessions,
)

__all__ = [
    "accounts",
    "annotation_items",
    "annotation_labels",
    "annotation_people",
    "annotation_tasks",
    "answers",
    "audit",
    "batches",
    "battle_holds",
    "battles",
    "boards",
    "canaries",
    "canary_holds",
    "jobs",
    "judgment_reports",
    "judgments",
    "ledgers",
    "memberships",
    "metadata",
    "phases",
    "poll_pairs",
    "polls",
    "question_digests",
    "question_sets",
    "questions",
    "refused_tokens",
    "replies",
    "rounds",
    "scores",
    "seats",
    "submissions",
    "teams",
    "tokens",
    "web_sessions",
]
