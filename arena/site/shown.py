"""Every page: its address, and what shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from arena.site import about_page, notifications
from arena.site.admin import (
    annotation_page,
    audit_page,
    calibration_page,
    overview_page,
    people_page,
    question_sets_page,
    rounds_page,
)
from arena.site.annotation import annotate_page
from arena.site.boards import (
    data_page,
    history_page,
    leaderboard_page,
    matrix_page,
    methodology_page,
)
from arena.site.compare import compare_page
from arena.site.questions import list_page, question_page
from arena.site.references import references_page
from arena.site.retrieval import retrieval_page
from arena.site.systems import system_page
from arena.site.teams import register_page, report_page, submit_page, team_page
from arena.site.trust import trust_page

SHOWN: Mapping[str, Callable[[], None]] = MappingProxyType(
    {
        "": leaderboard_page.show,
        "compare": compare_page.show,
        "questions": list_page.show,
        "matrix": matrix_page.show,
        "retrieval": retrieval_page.show,
        "rounds": history_page.show,
        "data": data_page.show,
        "trust": trust_page.show,
        "methodology": methodology_page.show,
        "about": about_page.show,
        "submit": submit_page.show,
        "team": team_page.show,
        "annotate": annotate_page.show,
        "references": references_page.show,
        "admin": overview_page.show,
        "admin-rounds": rounds_page.show,
        "admin-data": question_sets_page.show,
        "admin-calibration": calibration_page.show,
        "admin-annotation": annotation_page.show,
        "admin-people": people_page.show,
        "admin-notifications": notifications.show,
        "admin-audit": audit_page.show,
        "system": system_page.show,
        "question": question_page.show,
        "report": report_page.show,
        "register": register_page.show,
        "admin-inbox": overview_page.show,
    }
)
"""Every page by its address, without the slash."""
