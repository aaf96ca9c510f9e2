"""Open question sets: phase, deadline, limits, and files to start from."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from arena.formats import format_time
from arena.services.question_sets.policies import closed_error
from arena.services.submissions.eligibility import Quota
from arena.site.auth import present
from arena.site.services import arena
from arena.site.ui.html import anchor, heading, note, offer, paragraph, strip, verbatim
from arena.site.ui.url_state import choose_one
from data.files.text_files import MEBIBYTE
from data.models import Phase, SetPolicy, SetSummary
from submissions.card import CARD_TEMPLATE
from submissions.limits import IntakeLimits

JSONL = "application/x-ndjson"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSet:
    """A set that a visitor wants to submit to; `phase` is None while it is closed."""

    summary: SetSummary
    policy: SetPolicy
    phase: Phase | None
    limits: IntakeLimits

    @property
    def name(self) -> str:
        """The set's name."""
        return self.summary.name


def choose_set() -> OpenSet | None:
    """Return the set that the address or the visitor chooses; None if there are no sets."""
    summaries = {summary.name: summary for summary in arena().sets.summaries()}
    if not summaries:
        st.info("There are no question sets yet. Organisers add them.", icon=":material/inbox:")
        return None
    titles = {name: summary.title or name for name, summary in summaries.items()}
    name = choose_one("set", "Question set", titles)
    policy = arena().policies.get(name)
    return OpenSet(
        summary=summaries[name],
        policy=policy,
        phase=policy.current(datetime.now(UTC)),
        limits=arena().submissions.limits(name),
    )


def show_open_set(open_set: OpenSet, quota: Quota | None) -> None:
    """Show phase, deadline, remaining submissions and limits."""
    if open_set.phase is None:
        error = closed_error(open_set.policy)
        st.warning(f"{error} You can still check a file.", icon=":material/event_busy:")
        strip((("phase", "closed"), ("questions", f"{open_set.summary.questions:,}")))
        return
    phase, quotas = open_set.phase, []
    if quota is not None and phase.daily_quota is not None:
        quotas.append(("left today (UTC)", f"{quota.left_today} of {phase.daily_quota}"))
    if quota is not None and phase.total_quota is not None:
        quotas.append(("left in this phase", f"{quota.left} of {phase.total_quota}"))
    closes = format_time(phase.closes_at) if phase.closes_at else "none"
    strip(
        (
            ("phase", phase.name),
            ("deadline", closes),
            *(quotas or [("submissions", "no limit")]),
            ("questions", f"{open_set.summary.questions:,}"),
            ("longest answer, characters", f"{open_set.limits.answer_chars:,}"),
        )
    )


def starter_files(open_set: OpenSet) -> None:
    """Offer the template, the sample, and a card to fill in."""
    heading("1. Start from a file", anchor="start")
    note(
        "The template has one line per question, with empty answers. The sample is a small valid file for a "
        "trial. Accepted: JSONL, JSON, CSV, Parquet, logs of evaluation harnesses, zips of datasets and runs."
    )
    template = partial(arena().submissions.template, open_set.name, caller=present())
    with st.container(horizontal=True):
        for label, sample in (("Template, JSONL", False), ("Sample, JSONL", True)):
            name = f"{open_set.name}-{'sample' if sample else 'template'}.jsonl"
            offer(label, partial(template, sample=sample), name, JSONL)
        offer("System card, YAML", CARD_TEMPLATE, "card.yaml", "application/yaml")


def show_other_ways(open_set: OpenSet) -> None:
    """Show the ways to submit without a browser."""
    limit = open_set.limits.file_bytes // MEBIBYTE
    with st.expander("Scripts and CI jobs", icon=":material/terminal:"):
        note(f"The API takes files up to {limit:,} MiB and checks them as this page does.")
        verbatim(
            'export ARENA_SERVER=https://…   # this site\nAUTH="Authorization: Bearer aa_…"\n'
            f'SET="$ARENA_SERVER/api/v1/sets/{open_set.name}"\n'
            'curl -H "$AUTH" -X POST -T answers.jsonl.gz "$SET/check"\n'
            'curl -H "$AUTH" -X POST -T answers.jsonl.gz "$SET/submissions?system=my-system"'
        )
        paragraph("See the ", anchor("API reference", "api/v1/"), ".", class_="aa-note")
