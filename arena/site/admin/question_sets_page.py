"""Organisers' page of question sets: import, inspect, set rules, freeze."""

from functools import partial

import streamlit as st

from arena.formats import format_time
from arena.services.accounts.auth import Caller
from arena.services.question_sets.policies import SetView
from arena.site.admin.common import NOTHING, grid, organiser
from arena.site.services import arena
from arena.site.ui.html import anchor, heading, lead, name_page, note, page_heading, paragraph, strip
from arena.site.ui.messages import attempt, confirmed, show_error, show_flash, tell
from arena.site.uploads import choose_file, on_disk
from data.errors import ArenaError, InvalidFileError
from data.files.question_sets.registry import set_formats
from data.models import Phase
from data.models.questions import moment_of

MAX_MB = 64
MAX_PROBLEMS = 50


def bring_set(caller: Caller) -> None:
    """Show the import form, and all problems of a file at once."""
    note(
        "A zip file with set.toml and questions.jsonl, a questions file, or an LFRQA file. "
        "Gzipped files work too."
    )
    with st.form("import", border=False):
        endings = ("zip", *(ending for set_format in set_formats() for ending in set_format.endings))
        file = choose_file("File", key="set-file", types=endings, max_mb=MAX_MB)
        name = st.text_input("Name", placeholder="As in the file")
        if not st.form_submit_button("Import", type="primary", icon=":material/upload:") or file is None:
            return
    try:
        with on_disk(file, max_mb=MAX_MB) as path:
            content = path.read_bytes()
        imported = arena().set_admin.upload(file.name, content, name=name.strip() or None, caller=caller)
    except ArenaError as error:
        show_error(error)
        if isinstance(error, InvalidFileError):
            problems = error.problems[:MAX_PROBLEMS]
            grid(("Line", "Problem"), [(str(row.line or NOTHING), row.message) for row in problems])
        return
    word = "imported" if imported.created else "already there, unchanged"
    warnings = f", {len(imported.warnings):,} warnings" if imported.warnings else ""
    tell(f"{imported.summary.name}: {imported.summary.questions:,} questions, {word}{warnings}.", "import")


def set_facts(view: SetView) -> None:
    """Show counts, domains and checksum."""
    summary = view.summary
    strip(
        [
            ("questions", f"{summary.questions:,}"),
            *((f"in the {split} split", f"{count:,}") for split, count in view.splits.items()),
            ("with a reference", f"{view.references:,}"),
            ("systems", f"{len(view.entrants):,}"),
            ("submissions", "closed for good" if view.frozen else "allowed"),
        ]
    )
    about = ("name", "version", "licence", "source", "reference_name", "reference_by", "content_hash")
    facts = {name.replace("_", " "): getattr(summary, name) for name in about}
    facts |= {label: f"{summary.counts[domain]:,} questions" for domain, label in summary.domains.items()}
    grid(("About", "The set"), [(label, value or NOTHING) for label, value in facts.items()])


def policy_part(view: SetView, caller: Caller) -> None:
    """Show phases, hidden references and the freeze, with their forms."""
    name, policies = view.summary.name, arena().policies
    heading("Submissions", anchor="submissions")
    show_flash("policy")
    if not view.policy.phases:
        note("There are no phases: the set is always open, without quotas.")
    else:
        rows = [
            (
                phase.name,
                *map(format_time, (phase.opens_at, phase.closes_at)),
                *(str(quota or "no limit") for quota in (phase.daily_quota, phase.total_quota)),
            )
            for phase in view.policy.phases
        ]
        grid(("Phase", "Opens", "Closes", "Daily limit", "Total limit"), rows)
    hidden = st.toggle("Hide the references of test questions", view.policy.hidden_references)
    if hidden != view.policy.hidden_references:
        done = f"The references of test questions are {'hidden' if hidden else 'shown'}."
        attempt(lambda: policies.hide_references(name, hidden=hidden, caller=caller), done, "policy")
    with st.expander("Add a phase, or change one by using its name"):
        _phase_form(name, caller)
    names = [phase.name for phase in view.policy.phases]
    if names:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            phase = st.selectbox("Phase", names, width=240)
            if confirmed("Remove the phase", "Yes, remove it", icon="delete", key=f"phase-{phase}"):
                drop = partial(policies.drop_phase, name, phase, caller=caller)
                attempt(drop, "Phase removed.", "policy")
    sure = "I understand that submissions will be closed permanently"
    if confirmed("Freeze", sure, icon="ac_unit", key="freeze", enabled=not view.frozen):
        attempt(lambda: arena().set_admin.freeze(name, caller=caller), "Set frozen.", "policy")


def _phase_form(set_name: str, caller: Caller) -> None:
    with st.form("phase", border=False):
        name = st.text_input("Name", value="open")
        left, right = st.columns(2)
        hint = "2026-11-28 (whole day, UTC) or 2026-11-28T18:00+02:00"
        opens = left.text_input("Opens", placeholder=hint).strip()
        closes = right.text_input("Closes", placeholder=hint).strip()
        daily = left.number_input("Submissions per team per day", 1, value=None)
        total = right.number_input("Submissions per team in the phase", 1, value=None)
        if not st.form_submit_button("Save the phase", icon=":material/save:"):
            return

    def save() -> None:
        phase = Phase(
            name=name.strip(),
            opens_at=moment_of(opens, closes=False) if opens else None,
            closes_at=moment_of(closes, closes=True) if closes else None,
            daily_quota=daily,
            total_quota=total,
        )
        arena().policies.put_phase(set_name, phase, caller=caller)

    attempt(save, "Phase saved.", "policy")


def show() -> None:
    """Show the set in the address, or all sets and the import form."""
    caller = organiser()
    name = st.query_params.get("set")
    if name is None:
        page_heading("Organise sets")
        lead("The questions of a set never change; its rules for submissions can.")
        _list()
        heading("Import a set", anchor="import")
        show_flash("import")
        bring_set(caller)
        return
    view = arena().set_admin.view(name, caller=caller)
    paragraph(anchor("All sets", "admin-data"), class_="aa-eyebrow")
    page_heading(view.summary.title)
    name_page(view.summary.name, "Organise sets")
    set_facts(view)
    policy_part(view, caller)


def _list() -> None:
    sets = arena().sets.summaries()
    if not sets:
        note("There are no sets yet.")
        return
    rows = [
        (
            anchor(summary.name, "admin-data", set=summary.name),
            summary.title,
            f"{summary.questions:,}",
            str(len(summary.domains)),
            summary.content_hash[:12],
        )
        for summary in sets
    ]
    grid(("Set", "Title", "Questions", "Domains", "Content"), rows)
