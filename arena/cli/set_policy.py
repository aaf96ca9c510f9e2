"""`arena sets policy`: when and how much may be submitted to a set."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import show_fields, show_json, show_table
from data.errors import InputError
from data.records import DEFAULT_PHASE, Phase, SetPolicy

NONE = "none"
Limit = str | None


def policy(
    name: Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")],
    phase: Annotated[
        str, typer.Option("--phase", help="The phase that is added or changed.")
    ] = DEFAULT_PHASE,
    opens: Annotated[Limit, typer.Option("--opens", help="From when on, ISO 8601, or none.")] = None,
    closes: Annotated[Limit, typer.Option("--closes", help="Until when, ISO 8601, or none.")] = None,
    daily: Annotated[Limit, typer.Option("--daily", help="Submissions of a team a day, or none.")] = None,
    total: Annotated[Limit, typer.Option("--total", help="Those in the phase, or none.")] = None,
    file_mb: Annotated[Limit, typer.Option("--file-mb", help="Largest file in MiB, or none.")] = None,
    chars: Annotated[Limit, typer.Option("--answer-chars", help="Longest answer, or none.")] = None,
    drop: Annotated[str | None, typer.Option("--drop", help="Take this phase away.")] = None,
    hidden: Annotated[
        bool | None,
        typer.Option("--hide-references/--show-references", help="References of the test questions."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what holds for submissions to a set, or change it."""
    service = open_arena().policies
    found = service.get(name)
    if drop is not None:
        found = service.drop_phase(name, drop)
    if any(value is not None for value in (opens, closes, daily, total, file_mb, chars)):
        before = next((one for one in found.phases if one.name == phase), Phase(name=phase))
        after = replace(
            before,
            opens_at=_moment(opens, before.opens_at),
            closes_at=_moment(closes, before.closes_at),
            daily_quota=_number(daily, before.daily_quota),
            total_quota=_number(total, before.total_quota),
            file_mb=_number(file_mb, before.file_mb),
            answer_chars=_number(chars, before.answer_chars),
        )
        found = service.put_phase(name, after)
    if hidden is not None:
        found = service.hide_references(name, hidden=hidden)
    _show(found, as_json=as_json)


def _show(found: SetPolicy, *, as_json: bool) -> None:
    from arena.services.policies import policy_json

    fields = policy_json(found)
    if as_json:
        show_json(fields)
        return
    show_fields({"set": found.set_name, "references": "hidden" if found.hidden_references else "shown"})
    if found.phases:
        columns = tuple(fields["phases"][0])
        show_table(columns, [tuple(phase[column] for column in columns) for phase in fields["phases"]])


def _moment(text: Limit, before: datetime | None) -> datetime | None:
    if text is None:
        return before
    if text == NONE:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no moment.", advice="Write 2026-05-01T12:00Z, or none.") from error
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _number(text: Limit, before: int | None) -> int | None:
    if text is None:
        return before
    if text == NONE:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"{text!r} is no limit.", advice="Use a whole number from 1, or none.")
    return int(text)
