"""What a system brought and how it fared, shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from arena.web.markup import element, put
from arena.web.pieces import note
from arena.web.tables import link
from arena.web.views import BoardView
from data.records import Submission
from data.store.digests import QuestionRecord

MOST_RECORDS = 8


def show_records(view: BoardView, title: str, records: Sequence[QuestionRecord]) -> None:
    """Questions with the outcome of a system's battles, the clearest first, each with its permalink."""
    st.subheader(title, anchor=title.lower())
    if not records:
        note("None.")
        return
    note(f"{min(len(records), MOST_RECORDS)} of {len(records)} questions, the clearest first.")
    for record in records[:MOST_RECORDS]:
        with st.container(key=f"fact-{title}-{record.id}"):
            st.text(record.question)
            score = f"{record.wins} won · {record.ties} tied · {record.losses} lost · "
            place = link("question", board=view.name, id=record.id)
            evidence = element("a", "Evidence", href=place, target="_self")
            put(element("p", score, f"{view.label(record.domain)} · ", evidence, class_="aa-eyebrow"))


def show_card(submission: Submission | None) -> None:
    """The system card, as the team wrote it."""
    st.subheader("System card", anchor="card")
    if submission is None:
        note("There is no card: these answers came with the question set, or their submission was withdrawn.")
        return
    note(
        f"Version {submission.version}, {submission.answers:,} answers, {submission.no_answers:,} of them "
        f'"no answer". Submitted {submission.created_at.date().isoformat()}.'
    )
    entries = {"team": submission.team, **asdict(submission.card)}
    st.text("\n".join(f"{name}: {value}" for name, value in entries.items() if value))


def show_provenance(submission: Submission | None) -> None:
    """What exactly was judged: version, day and hash of the answers."""
    if submission is None:
        return
    st.subheader("Provenance", anchor="provenance")
    entries = {
        "question set": submission.set_name,
        "version": f"{submission.version}",
        "state": submission.state.value,
        "answers": f"{submission.answers:,}",
        "submitted": submission.created_at.isoformat(timespec="minutes"),
        "content sha256": submission.content_hash,
    }
    st.code("\n".join(f"{name}: {value}" for name, value in entries.items()), language=None, wrap_lines=True)
