"""Parts of a system's page: results by domain, questions, card and judged submission."""

from collections.abc import Sequence
from dataclasses import asdict

from arena.formats import Bounded, ends_of, whole
from arena.models.boards import OVERALL, BoardView
from arena.services.boards.metric_columns import column_metrics
from arena.site.boards.standings_cells import FIGURES
from arena.site.ui.html import Cell, Column, heading, link, note, put, put_html, words_table
from data.models import Submission
from data.store.question_stats import QuestionRecord
from data.text import percent
from judges.metrics.registry import MetricInfo
from leaderboard.standings.sections import SELF_REPORTED

MAX_RECORDS = 8


def show_records(view: BoardView, title: str, records: Sequence[QuestionRecord]) -> None:
    """Show the clearest of these questions, each with its permalink."""
    heading(title, anchor=title.lower())
    if not records:
        note("None.")
        return
    clearest = records[:MAX_RECORDS]
    note(f"{len(clearest)} of {len(records)} questions, clearest first.")
    rows = [
        Cell(
            row.question,
            href=link("question", board=view.name, id=row.id),
            sub=f"{row.wins} won · {row.ties} tied · {row.losses} lost · {view.label(row.domain)}",
        )
        for row in clearest
    ]
    put("records", rows)


def show_card(view: BoardView, system: str, submission: Submission | None) -> None:
    """Show the system card, the judged submission, and the costs that its team reports."""
    heading("System card", anchor="card")
    if submission is None:
        note("No card: the answers came with the question set, or the submission was withdrawn.")
    else:
        _show_submission(submission)
    reported = view.self_reported.get(system)
    if reported is None or not reported.figures:
        return
    figures = ", ".join(
        f"{name} {format(mean.mean, form)} ({mean.answers:,} of {reported.answers:,} answers)"
        for figure, (name, form) in FIGURES.items()
        if (mean := reported.figures.get(figure)) is not None
    )
    note(f"Mean per answer: {figures}. {SELF_REPORTED}")


def _show_submission(submission: Submission) -> None:
    note(f"Written by the team. {submission.no_answers:,} answers decline; status: {submission.state.value}.")
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


def show_by_domain(view: BoardView, system: str) -> None:
    """Show one system's rates and mean scores in every domain, with their intervals."""
    lines = {view.label(domain): view.line(system, domain) for domain in (OVERALL, *view.domains)}
    names = {name for line in lines.values() if line is not None for name in line.scores}
    known = column_metrics()
    order = [*(name for name in known if name in names), *sorted(names - known.keys())]
    note(
        "Rates, and mean scores of the answers (0–100 %) with 95 % BCa intervals over questions (10,000 "
        "resamples). A missing answer counts as 0; one that could not be scored is left out."
        if names
        else "Its answers were not scored."
    )
    for name in order:
        if name in known and known[name].lexical:
            note(known[name].lexical)
    against = " against all" if system == view.reference else ""
    labels = [known[name].lexical_label or known[name].called if name in known else name for name in order]
    columns: list[Column] = [("Domain", "aa-left"), ("Battles", "")]
    columns += [
        (Cell(name, class_="aa-turned"), "")
        for name in (f"Win{against}", f"Win + tie{against}", *labels, "Declined")
    ]
    rows = [
        (
            label,
            whole(line.own_rates.battles),
            _mean(line.own_rates.win),
            _mean(line.own_rates.win_tie),
            *(_mean(line.scores.get(name), known.get(name.partition(" ")[0])) for name in order),
            percent(line.no_answer),
        )
        for label, line in lines.items()
        if line is not None
    ]
    put("table", columns, rows, classes="aa-means", scrolls=True)


def _mean(score: Bounded | None, info: MetricInfo | None = None) -> Cell:
    if score is None:
        return Cell("–", class_="aa-muted")
    if info is not None and not info.is_share:
        return Cell(info.text(score.value), class_="aa-main")
    return Cell(
        percent(score.value), class_="aa-main", sub=ends_of(score, share=True, decimals=0, unknown="")
    )
