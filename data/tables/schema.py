"""Every table, declared: what reads only some of them imports their own modules, which is quicker."""

from data.tables import annotation, jobs, judgments, notifications, questions, retrieval, rounds, teams
from data.tables.columns import metadata

__all__ = [
    "annotation",
    "jobs",
    "judgments",
    "metadata",
    "notifications",
    "questions",
    "retrieval",
    "rounds",
    "teams",
]
