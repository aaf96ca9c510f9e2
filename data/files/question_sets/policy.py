"""The policy of a set, as `[submissions]` in its `set.toml` gives it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from data.errors import RecordError
from data.records import Phase, ProblemList, SetPolicy

MOMENTS = ("opens_at", "closes_at")
NUMBERS = ("daily_quota", "total_quota", "file_mb", "answer_chars")
HIDDEN = "hidden_references"
PUBLIC = "public_texts"
FLAGS = (HIDDEN, PUBLIC)


def read_policy(found: object, set_name: str, problems: ProblemList) -> SetPolicy | None:
    """The policy that a head of a set gives; None where it gives none, or has problems, which are noted."""
    if found is None:
        return None
    tables = found if isinstance(found, list) else [found]
    phases: list[Phase] = []
    hidden, public = False, True
    for table in tables:
        if not isinstance(table, dict):
            problems.add(
                0, "wrong-type", "submissions in set.toml is no table.", advice="Write [submissions]."
            )
            return None
        hidden = hidden or table.get(HIDDEN) is True
        public = public and table.get(PUBLIC) is not False
        wrong = [name for name, value in table.items() if not _fits(name, value)]
        if wrong:
            message = f"[submissions] in set.toml has unusable fields: {', '.join(sorted(wrong))}."
            advice = f"Use phase, {', '.join((*MOMENTS, *NUMBERS, *FLAGS))}; moments without quotes."
            problems.add(0, "bad-policy", message, advice=advice)
            return None
        if not table or not set(table) <= set(FLAGS):
            phases.append(_phase(table))
    try:
        return SetPolicy(
            set_name=set_name, phases=tuple(phases), hidden_references=hidden, public_texts=public
        )
    except RecordError as error:
        problems.add(0, "bad-policy", error.message, advice=error.advice)
        return None


def _fits(name: str, value: object) -> bool:
    if name == "phase":
        return isinstance(value, str) and bool(value)
    if name in MOMENTS:
        return isinstance(value, datetime)
    if name in FLAGS:
        return isinstance(value, bool)
    return name in NUMBERS and isinstance(value, int) and not isinstance(value, bool) and value > 0


def _phase(table: dict[str, Any]) -> Phase:
    fields = {name: table[name] for name in NUMBERS if name in table}
    for name in MOMENTS:
        if name in table:
            moment: datetime = table[name]
            fields[name] = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return Phase(name=table.get("phase", "open"), **fields)
