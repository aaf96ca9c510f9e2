"""Parts of a system's page: its questions, its card, what exactly was judged, its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from markupsafe import Markup

from arena.site.boards.standings_cells import FIGURES
from arena.site.boards.view_model import BoardView
from arena.site.ui.html import Cell, heading, link, note, put, put_html, words_table
from data.models import Submission
from data.store.question_stats import QuestionRecord
from leaderboard.standings.sections import SELF_REPORTED

MOST_RECORDS = 8


def show_records(view: BoardView, title: str, records: Sequence[QuestionRecord]) -> None:
    """Show the first of these questions, the clearest first, each with its permalink."""
    heading(title, anchor=title.lower())
    if not records:
        note("None.")
        return
    shown = records[:MOST_RECORDS]
    note(f"{len(shown)} of {len(records)} questions, the clearest first.")
    rows = [
        Cell(
            one.question,
            href=link("question", board=view.name, id=one.id),
            sub=f"{one.wins} won · {one.ties} tied · {one.losses} lost · {view.label(one.domain)}",
        )
        for one in shown
    ]
    put("records", rows)


def card_table(submission: Submission) -> Markup:
    """Return the system card as the team wrote it, and what exactly was judged."""
    entries = {
        "team": submission.team,
        **asdict(submission.card),
        "version": f"{submission.version}",
        "answers": f"{submission.answers:,}",
        "submitted": submission.created_at.date().isoformat(),
        "content sha256": submission.content_hash,
    }
    return words_table(("Field", "Value"), [(name, value) for name, value in entries.items() if value])


def show_card(submission: Submission | None) -> None:
    """Show the system card and the judged submission."""
    heading("System card", anchor="card")
    if submission is None:
        note("There is no card: these answers came with the question set, or their submission was withdrawn.")
        return
    note(
        f'As its team wrote it. Of its answers {submission.no_answers:,} are "no answer"; the submission is '
        f"{submission.state.value}."
    )
    put_html(card_table(submission))


def show_figures(view: BoardView, system: str) -> None:
    """Show the reported costs of its answers; nothing where there are none."""
    said = view.self_reported.get(system)
    if said is None or not said.figures:
        return
    figures = ", ".join(
        f"{name} {format(mean.mean, form)} (of {mean.answers:,} of {said.answers:,} answers)"
        for figure, (name, form) in FIGURES.items()
        if (mean := said.figures.get(figure)) is not None
    )
    note(f"Mean of an answer: {figures}. {SELF_REPORTED}")
