"""Parts of a system's page: its questions, its card, what exactly was judged, its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from xml.etree.ElementTree import Element

from arena.html_pages import macro
from arena.services.boards.history import Appearance
from arena.site.boards.downloads import offer_files
from arena.site.boards.self_reported_columns import FIGURES
from arena.site.boards.view_model import BoardView
from arena.site.queries import history_of
from arena.site.ui.components import heading, note
from arena.site.ui.formats import points
from arena.site.ui.markup import put, put_html
from arena.site.ui.tables import link, plain_table, words_table
from data.records import Submission
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
