"""Parts of a system's page: its questions, its card, what exactly was judged, its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import streamlit as st

from arena.services.boards.history import Appearance
from arena.site.boards.downloads import offer_files
from arena.site.boards.said_part import FIGURES
from arena.site.boards.view_model import BoardView
from arena.site.queries import history_of
from arena.site.ui.components import heading, note, verbatim
from arena.site.ui.formats import points
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, plain_table
from data.records import Submission
from data.store.rounds.question_stats import QuestionRecord
from leaderboard.standings.systems import SELF_REPORTED

MOST_RECORDS = 8


def show_records(view: BoardView, title: str, records: Sequence[QuestionRecord]) -> None:
    """Questions with the outcome of a system's battles, the clearest first, each with its permalink."""
    heading(title, anchor=title.lower())
    if not records:
        note("None.")
        return
    note(f"{min(len(records), MOST_RECORDS)} of {len(records)} questions, the clearest first.")
    for record in records[:MOST_RECORDS]:
        with st.container(key=f"fact-{title}-{record.id}"):
            st.text(record.question)
            score = f"{record.wins} won · {record.ties} tied · {record.losses} lost · "
            evidence = anchor("Evidence", "question", board=view.name, id=record.id)
            put(element("p", score, f"{view.label(record.domain)} · ", evidence, class_="aa-eyebrow"))


def show_card(submission: Submission | None) -> None:
    """The system card, as the team wrote it."""
    heading("System card", anchor="card")
    if submission is None:
        note("There is no card: these answers came with the question set, or their submission was withdrawn.")
        return
    note(
        f"Version {submission.version}, {submission.answers:,} answers, {submission.no_answers:,} of them "
        f'"no answer". Submitted {submission.created_at.date().isoformat()}.'
    )
    entries = {"team": submission.team, **asdict(submission.card)}
    st.text("\n".join(f"{name}: {value}" for name, value in entries.items() if value))


def show_figures(view: BoardView, system: str) -> None:
    """What its answers are said to take; nothing where they do not say."""
    said = view.said.get(system)
    if said is None or not said.figures:
        return
    figures = ", ".join(
        f"{name} {format(mean.mean, form)} (of {mean.answers:,} of {said.answers:,} answers)"
        for figure, (name, form) in FIGURES.items()
        if (mean := said.figures.get(figure)) is not None
    )
    note(f"Mean of an answer: {figures}. {SELF_REPORTED}")


def show_provenance(submission: Submission | None) -> None:
    """What exactly was judged: version, day and hash of the answers."""
    if submission is None:
        return
    heading("Provenance", anchor="provenance")
    entries = {
        "question set": submission.set_name,
        "version": f"{submission.version}",
        "state": submission.state.value,
        "answers": f"{submission.answers:,}",
        "submitted": submission.created_at.isoformat(timespec="minutes"),
        "content sha256": submission.content_hash,
    }
    verbatim("\n".join(f"{name}: {value}" for name, value in entries.items()))


def show_history(view: BoardView, system: str) -> None:
    """Its rank and rating on every published board of the set, the newest first."""
    appearances = history_of(view, system)
    heading("History", anchor="history")
    if len(appearances) < 2:  # noqa: PLR2004 - one board is no history
        note("This is the only published board of its question set that has this system.")
        return
    note("Ratings of different rounds have different opponents: compare ranks and intervals, not points.")
    header = ("Board", "Rank", "Rating", "95 % interval", "Published", "Judge")
    put(plain_table(header, [_row(appearance) for appearance in reversed(appearances)], spare=3))
    offer_files(
        view, f"history-{system}", lambda: [_file_row(system, appearance) for appearance in appearances]
    )


def _file_row(system: str, appearance: Appearance) -> Mapping[str, object]:
    best, worst = appearance.ranks or (None, None)
    return {
        "system": system,
        "on_board": appearance.board,
        "published": appearance.published.isoformat(),
        "rank_lower": best,
        "rank_upper": worst,
        "systems": appearance.systems,
        "rating": appearance.rating,
        "lower": appearance.lower,
        "upper": appearance.upper,
        "judge": appearance.judge,
    }


def _row(appearance: Appearance) -> tuple[str, ...]:
    ranks = "–" if appearance.ranks is None else "–".join(map(str, dict.fromkeys(appearance.ranks)))
    has_interval = appearance.lower is not None and appearance.upper is not None
    return (
        appearance.board,
        ranks if appearance.ranks is None else f"{ranks} of {appearance.systems:,}",
        "–" if appearance.rating is None else points(appearance.rating),
        f"{points(appearance.lower or 0)} to {points(appearance.upper or 0)}" if has_interval else "–",
        appearance.published.date().isoformat(),
        appearance.judge or "–",
    )
