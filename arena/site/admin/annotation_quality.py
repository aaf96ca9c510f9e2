"""How people agree in a task, as figures and a table of people."""

from __future__ import annotations

from arena.services.accounts.auth import Caller
from arena.services.annotation.quality import PersonQuality
from arena.site.admin.common import grid
from arena.site.services import arena
from arena.site.ui.components import note, strip
from arena.site.ui.formats import shown, span
from data.records import AnnotationTask
from leaderboard.agreement import Estimate


def show_quality(task: AnnotationTask, caller: Caller) -> None:
    """Show figures of a task and of each of its people."""
    quality = arena().curation.quality(task.name, caller=caller)
    strip(
        [
            ("labels", f"{task.done:,} of {task.wanted:,}"),
            ("items complete", f"{quality.complete:,} of {len(quality.items):,}"),
            ("without a majority", f"{len(quality.disputed):,}"),
            ("unanimous", shown(quality.unanimous, ".0%")),
            ("alpha", _with_interval(quality.alpha)),
            ("alpha of values", _with_interval(quality.alpha_values)),
        ]
    )
    rows = [
        (
            person.name
            if person.aside_reason is None
            else f"{person.name} (set aside: {person.aside_reason})",
            f"{person.labelled:,}",
            f"{person.skipped:,}",
            shown(person.agreement, ".0%"),
            _with_interval(person.alpha),
            f"{person.gold_passed} of {person.gold_seen}",
            shown(person.accuracy, ".0%"),
            "–" if person.seconds is None else span(person.seconds),
        )
        for person in quality.people
    ]
    if rows:
        headings = (
            "Person",
            "Labels",
            "Skips",
            "Agrees with others",
            "Alpha with others",
            "Gold passed",
            "Accuracy",
            "Time a label",
        )
        grid(headings, rows, caption="Everybody who labels")
        note(
            "Accuracy is the chance of being right by Dawid and Skene's model; gold items have known answers."
        )


def _named(person: PersonQuality) -> str:
    if person.aside_reason is None:
        return person.name
    return f"{person.name} (set aside: {person.aside_reason})"


def _with_interval(estimate: Estimate) -> str:
    text = shown(estimate.value, ".2f")
    if estimate.interval is None:
        return text
    return f"{text} ({estimate.interval.lower:.2f} to {estimate.interval.upper:.2f})"
