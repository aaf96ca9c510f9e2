"""`arena sets policy`: dates and limits for submissions to a set."""

from dataclasses import astuple, replace
from datetime import datetime
from typing import Annotated

import typer

from arena.cli.options import AsJson, SetArgument, Yes, confirm
from arena.cli.output import show_fields, show_json, show_table
from arena.container import open_arena
from arena.formats import format_time
from data.errors import InputError
from data.models import DEFAULT_PHASE, Phase, SetPolicy
from data.models.questions import moment_of

NONE = "none"
Limit = str | None


def policy(
    name: SetArgument,
    phase: Annotated[str, typer.Option(metavar="PHASE", help="The phase to add or change.")] = DEFAULT_PHASE,
    opens: Annotated[Limit, typer.Option(metavar="TIME", help="When it opens, ISO 8601, or `none`.")] = None,
    closes: Annotated[
        Limit, typer.Option(metavar="TIME", help="When it closes; a date means its end in UTC; or `none`.")
    ] = None,
    daily: Annotated[
        Limit, typer.Option(metavar="N", help="Maximum submissions per team and day, or `none`.")
    ] = None,
    total: Annotated[
        Limit, typer.Option(metavar="N", help="Maximum submissions per team in the phase, or `none`.")
    ] = None,
    file_mb: Annotated[Limit, typer.Option(metavar="N", help="Maximum file size in MiB, or `none`.")] = None,
    chars: Annotated[
        Limit, typer.Option("--answer-chars", metavar="N", help="Maximum characters in an answer, or `none`.")
    ] = None,
    drop: Annotated[str | None, typer.Option(metavar="PHASE", help="Remove this phase.")] = None,
    hidden: Annotated[
        bool | None,
        typer.Option(
            "--hide-references/--show-references",
            help="Hide the references of the test questions, or show them.",
        ),
    ] = None,
    public_texts: Annotated[
        bool | None,
        typer.Option(
            "--public-texts/--no-public-texts",
            help="Show the set's texts to everyone, if its licence allows it; required for labels by "
            "visitors.",
        ),
    ] = None,
    *,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show the rules for submissions to a set, or change them.

    $ arena sets policy fiqa --closes 2027-05-01 --daily 5
    """
    if drop is not None:
        confirm(f"Remove the phase {drop}?", yes=yes)
    service = open_arena().policies
    set_policy = service.get(name)
    if drop is not None:
        set_policy = service.drop_phase(name, drop)
    if any(value is not None for value in (opens, closes, daily, total, file_mb, chars)):
        current = next(
            (existing for existing in set_policy.phases if existing.name == phase), Phase(name=phase)
        )
        after = replace(
            current,
            opens_at=_moment(opens, current.opens_at, closes=False),
            closes_at=_moment(closes, current.closes_at, closes=True),
            daily_quota=_number(daily, current.daily_quota),
            total_quota=_number(total, current.total_quota),
            file_mb=_number(file_mb, current.file_mb),
            answer_chars=_number(chars, current.answer_chars),
        )
        set_policy = service.put_phase(name, after)
    if hidden is not None:
        set_policy = service.hide_references(name, hidden=hidden)
    if public_texts is not None:
        set_policy = service.show_texts(name, public=public_texts)
    _show(set_policy, as_json=as_json)


def _show(set_policy: SetPolicy, *, as_json: bool) -> None:
    from arena.services.question_sets.policies import policy_json

    fields = policy_json(set_policy)
    if as_json:
        show_json(fields)
        return
    show_fields(
        {"set": set_policy.set_name, "references": "hidden" if set_policy.hidden_references else "shown"}
    )
    if set_policy.phases:
        rows = [
            tuple(format_time(value) if isinstance(value, datetime) else value for value in astuple(phase))
            for phase in set_policy.phases
        ]
        show_table(tuple(fields["phases"][0]), rows)


def _moment(text: Limit, current: datetime | None, *, closes: bool) -> datetime | None:
    if text is None:
        return current
    if text == NONE:
        return None
    return moment_of(text, closes=closes)


def _number(text: Limit, current: int | None) -> int | None:
    if text is None:
        return current
    if text == NONE:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"{text!r} is not a valid limit.", advice="Use a whole number from 1, or none.")
    return int(text)
