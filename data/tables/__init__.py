"""The tables, by subject; importing this declares all of them.

Rows are made from records, never from user input: SQLModel does not validate tables.
"""

from data.tables.annotation import annotation_pairs, annotation_tasks, given_labels
from data.tables.base import Base
from data.tables.boards import boards, question_digests
from data.tables.jobs import battle_holds, canary_holds, jobs, seats
from data.tables.judgments import batches, judgment_reports, judgments, replies
from data.tables.questions import question_sets, questions
from data.tables.rounds import battles, canaries, ledgers, rounds
from data.tables.submissions import answers, scores, submissions
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
    "Base",
    "accounts",
    "annotation_pairs",
    "annotation_tasks",
    "answers",
    "audit",
    "batches",
    "battle_holds",
    "battles",
    "boards",
    "canaries",
    "canary_holds",
    "given_labels",
    "jobs",
    "judgment_reports",
    "judgments",
    "ledgers",
    "memberships",
    "phases",
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
