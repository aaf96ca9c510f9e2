"""Parts of a system's page: its questions, its card, what exactly was judged, its history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from xml.etree.ElementTree import Element

from arena.html_pages import macro
from arena.site.boards.self_reported_columns import FIGURES
from arena.site.boards.view_model import BoardView
from arena.site.ui.components import heading, note
from arena.site.ui.markup import put, put_html
from arena.site.ui.tables import link, words_table
from data.models import Submission
from data.store.rounds.question_stats import QuestionRecord
from leaderboard.standings.systems import SELF_REPORTED

MOST_RECORDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A question on a system's page, and how its battles ended; `address` is empty where it has no page."""

    text: str
    address: str
    score: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The first questions of a list, and how many it has in all."""

    rows: Sequence[Record]
    in_all: int


def records_of(
    view: BoardView, records: Sequence[QuestionRecord], most: int, address_of: Callable[[str], str]
) -> Records:
    """Questions with the outcome of a system's battles, the clearest first; ids give their addresses."""
    rows = [
        Record(
            text=one.question,
            address=address_of(one.id),
            score=f"{one.wins} won · {one.ties} tied · {one.losses} lost · {view.label(one.domain)}",
        )
        for one in records[:most]
    ]
    return Records(rows=rows, in_all=len(records))


def show_records(view: BoardView, title: str, records: Sequence[QuestionRecord]) -> None:
    """The first of such questions, each with its permalink."""
    heading(title, anchor=title.lower())
    found = records_of(view, records, MOST_RECORDS, lambda one: link("question", board=view.name, id=one))
    put_html(macro("records", found))


def card_table(submission: Submission) -> Element:
    """The system card as the team wrote it, and what exactly was judged."""
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
    """The system card and what was judged."""
    heading("System card", anchor="card")
    if submission is None:
        note("There is no card: these answers came with the question set, or their submission was withdrawn.")
        return
    note(
        f'As its team wrote it. Of its answers {submission.no_answers:,} are "no answer"; the submission is '
        f"{submission.state.value}."
    )
    put(card_table(submission))


def show_figures(view: BoardView, system: str) -> None:
    """What its answers are said to take; nothing where they do not say."""
    said = view.self_reported.get(system)
    if said is None or not said.figures:
        return
    figures = ", ".join(
        f"{name} {format(mean.mean, form)} (of {mean.answers:,} of {said.answers:,} answers)"
        for figure, (name, form) in FIGURES.items()
        if (mean := said.figures.get(figure)) is not None
    )
    note(f"Mean of an answer: {figures}. {SELF_REPORTED}")
