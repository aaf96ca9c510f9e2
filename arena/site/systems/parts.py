"""Parts of a system's page: by domain, its questions, its card, what exactly was judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from markupsafe import Markup

from arena.services.boards.metric_columns import usual_metrics
from arena.site.boards.standings_cells import FIGURES
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.ui.formats import ends_of, whole
from arena.site.ui.html import Cell, figures_table, heading, link, note, put, put_html, words_table
from data.models import Submission
from data.store.question_stats import QuestionRecord
from data.text import percent
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


def show_card(view: BoardView, system: str, submission: Submission | None) -> None:
    """Show the system card, the judged submission, and the costs that its team reports."""
    heading("System card", anchor="card")
    if submission is None:
        note("There is no card: these answers came with the question set, or their submission was withdrawn.")
    else:
        _show_submission(submission)
    said = view.self_reported.get(system)
    if said is None or not said.figures:
        return
    figures = ", ".join(
        f"{name} {format(mean.mean, form)} (of {mean.answers:,} of {said.answers:,} answers)"
        for figure, (name, form) in FIGURES.items()
        if (mean := said.figures.get(figure)) is not None
    )
    note(f"Mean of an answer: {figures}. {SELF_REPORTED}")


def _show_submission(submission: Submission) -> None:
    note(
        f'As its team wrote it. Of its answers {submission.no_answers:,} are "no answer"; the submission is '
        f"{submission.state.value}."
    )
    entries = {
        "team": submission.team,
        **asdict(submission.card),
        "version": f"{submission.version}",
        "answers": f"{submission.answers:,}",
        "submitted": submission.created_at.date().isoformat(),
        "content sha256": submission.content_hash,
    }
    rows = [(name, value) for name, value in entries.items() if value]
    put_html(words_table(("Field", "Value"), rows))


def profile_table(view: BoardView, system: str) -> Markup:
    """One system's record in every domain."""
    against = " against all" if system == view.reference else ""
    rates = (f"Win{against}", f"Win + tie{against}")
    usual = usual_metrics(view.reference_by, view.scored)
    scored = [info for info in usual if info.column is not None and not info.column.asked]
    headings = (info.column.heading for info in scored if info.column is not None)
    header = ("Domain", "Battles", *rates, "95 % interval", *headings, "No answer")
    lines = ((view.label(domain), view.line(system, domain)) for domain in (OVERALL, *view.domains))
    rows = [
        (
            label,
            whole(line.own_rates.battles),
            *(percent(rate.value if rate else None) for rate in (line.own_rates.win, line.own_rates.win_tie)),
            ends_of(line.own_rates.win_tie, share=True),
            *("–" if (mean := line.mean(info)) is None else info.text(mean.value) for info in scored),
            percent(line.no_answer),
        )
        for label, line in lines
        if line is not None
    ]
    return figures_table(header, rows, spare=3)


def profile_rows(view: BoardView, system: str) -> list[Mapping[str, object]]:
    """Return one system's record by domain as file rows, metrics with bounds; shares are 0–1.

    `against` says whose battles the rates count.
    """
    lines = [view.line(system, domain) for domain in (OVERALL, *view.domains)]
    metrics = sorted({name for line in lines if line is not None for name in line.scores})
    rows: list[Mapping[str, object]] = []
    for domain, line in zip((OVERALL, *view.domains), lines, strict=True):
        if line is None:
            continue
        rates = line.own_rates
        values = {"win_rate": rates.win, "win_tie_rate": rates.win_tie}
        values |= {name: line.scores.get(name) for name in metrics}
        against = "all systems" if line.is_reference or not view.reference else view.reference
        row: dict[str, object] = {"system": system, "domain": domain, "against": against}
        row["battles"] = rates.battles
        for name, value in values.items():
            row |= {
                name: value and value.value,
                f"{name}_lower": value and value.lower,
                f"{name}_upper": value and value.upper,
            }
        rows.append({**row, "no_answer_share": line.no_answer, "answers": line.answers})
    return rows
