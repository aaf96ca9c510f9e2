"""Two to four systems against each other: how much better, where, on which questions, by which facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from arena.html_pages import macro
from arena.models.results import ContestedQuestion
from arena.services.evidence.covered_facts import FactDiff, fact_diffs, own_facts
from arena.services.evidence.highlights import Stretch, mark_answer
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.systems import FEWEST, MOST, Comparison
from arena.site.boards.downloads import Rows, offer_files, set_note
from arena.site.boards.pickers import titled_board
from arena.site.boards.sentences import record_of
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.queries import comparison_of, evidence_of
from arena.site.questions.answers import Mark
from arena.site.ui.formats import points, whole
from arena.site.ui.html import (
    Cell,
    Child,
    anchor,
    figures_table,
    heading,
    lead,
    link,
    name_page,
    note,
    paragraph,
    put,
    put_html,
    subheading,
)
from arena.site.ui.url_state import choose_one, chosen_words, say_unknown
from data.text import percent, percent_figure
from leaderboard.paired import Deciding, PairedShare

NAMES = ("a", "b", "c", "d")
NONE = "-"
"""Address value of no choice."""
EVEN = 50.0


def choose_systems(view: BoardView) -> tuple[str, ...]:
    """Return the systems that the address names as a to d, or that the reader picks; by default the best two.

    The reference is no competitor: it is compared where it is named.
    """
    key, addressed = "choice-compared", list(map(chosen_words, NAMES))
    for name in addressed:
        if name not in {"", NONE, *view.systems}:
            say_unknown(name, "Choose among the board's systems.")
    best = [line.system for line in view.competitors(OVERALL)] or list(view.systems)
    named = [system for system in dict.fromkeys(addressed) if system in view.systems]
    st.session_state[key] = named if any(addressed) else best[:FEWEST]
    chosen = st.multiselect(
        "Systems, the first against the others",
        view.systems,
        key=key,
        max_selections=MOST,
        on_change=_into_address,
        args=(key,),
    )
    return tuple(str(system) for system in chosen)


def _into_address(key: str) -> None:
    chosen: list[str] = st.session_state[key]
    for at, name in enumerate(NAMES):
        if at < len(chosen):
            st.query_params[name] = chosen[at]
        elif name in st.query_params:
            del st.query_params[name]
    if not chosen:
        st.query_params[NAMES[0]] = NONE


def show() -> None:
    """Show the comparison that the address names."""
    view = titled_board("Compare", "compare")
    systems = choose_systems(view)
    name_page(*filter(None, [" and ".join(systems)]), "Compare", view.full_title)
    if len(systems) < FEWEST:
        st.info("Choose two, three or four systems above.", icon=":material/compare_arrows:")
        return
    show_compared(view, systems)


def show_compared(view: BoardView, systems: tuple[str, ...]) -> None:
    """Compare the first of some systems with each of the others."""
    for other in systems[1:]:
        lead(verdict(view, systems[0], other))
    for system in systems:
        if system in view.marks:
            note(f"{system} is {view.marks[system]}")
    set_note(view)
    if view.round_name is None:
        _show_figures(view, systems)
        note("This board was published elsewhere as counts, so its questions cannot be compared one by one.")
        return
    comparison = comparison_of(view, systems)
    put("notice", comparison.notice)
    _show_paired(view, comparison)
    show_contested(view, comparison)
    _show_figures(view, systems)


def verdict(view: BoardView, first: str, second: str) -> str:
    """Describe the better of two and the certainty, in a sentence."""
    gap = view.gap(first, second)
    if gap is None and view.separates(first, second):
        # Lines come best first, also of groups that are rated on scales of their own.
        better, worse = sorted((first, second), key=view.systems.index)
        return (
            f"{better} is better than {worse}, and the lead is statistically significant; the board does not "
            "say how many points it is."
        )
    if gap is None:
        return f"The board does not say how far {first} and {second} are apart."
    low, high = gap.points.span
    better, worse = (first, second) if gap.points.value >= 0 else (second, first)
    prob_better = max(gap.prob_better, 1 - gap.prob_better)
    size = f"{points(abs(gap.points.value))} points"
    ends = sorted((abs(low), abs(high))) if low * high > 0 else sorted((low, high))
    interval = f"95 % interval {points(ends[0])} to {points(ends[1])}"
    if low * high > 0 and view.separates(first, second):
        return (
            f"{better} is better than {worse} by {size} ({interval}); the lead is statistically significant."
        )
    if low * high > 0:
        return (
            f"{better} stands {size} above {worse} ({interval} for these two alone), but tested together "
            "with all other pairs of the board the battles do not separate them."
        )
    return (
        f"{better} stands {size} above {worse}, but the battles do not separate them ({first} minus "
        f"{second}: {interval}; chance that {better} is the better: {percent(prob_better)})."
    )


def _show_paired(view: BoardView, comparison: Comparison) -> None:
    heading("By domain", anchor="paired")
    note(
        "How much larger the first one's share of the win is, in percentage points. It is on the same "
        f"questions against the same opponents, from {comparison.battles:,} battles. Intervals (95 %) are of "
        "these two alone; who is separated is tested for all pairs of the board at once."
    )
    first = comparison.systems[0]
    for other, paired in comparison.paired.items():
        put_html(_paired_table(view, first, other, paired))
    rows: Rows = [
        {
            "first": first,
            "second": other,
            "domain": share.domain,
            "difference": share.difference,
            "lower": share.interval and share.interval.lower,
            "upper": share.interval and share.interval.upper,
            "questions": share.questions,
            "ahead": share.ahead,
            "behind": share.behind,
            "separated": view.separates(first, other, share.domain),
        }
        for other, paired in comparison.paired.items()
        for share in paired
    ]
    offer_files(view, "paired-differences", lambda: rows)


def _paired_table(view: BoardView, first: str, other: str, paired: Sequence[PairedShare]) -> Markup:
    columns = (
        ("Domain", "aa-left"),
        ("Difference", ""),
        ("", "aa-bar"),
        (f"{first} ahead", "aa-second"),
        (f"{other} ahead", "aa-second"),
        ("Questions", ""),
    )
    rows = [
        _paired_row(view, share, apart=view.separates(first, other, share.domain))
        for share in paired
        if share.questions
    ]
    return macro("table", columns, rows, f"{first} minus {other}, in percentage points of the win")


def _paired_row(view: BoardView, share: PairedShare, *, apart: bool) -> tuple[Child, ...]:
    span, track = "", macro("track", even=EVEN)
    if share.difference is not None:
        ends = (share.interval.lower, share.interval.upper) if share.interval else (None, None)
        if share.interval is not None:
            span = f"{_signed(share.interval.lower)} to {_signed(share.interval.upper)}"
        track = macro(
            "track", *(None if end is None else EVEN + EVEN * end for end in (share.difference, *ends)), EVEN
        )
    return (
        Cell(view.label(share.domain), sub="separated" if apart else "not separated"),
        Cell(_signed(share.difference), class_="aa-main", sub=span),
        track,
        whole(share.ahead),
        whole(share.behind),
        whole(share.questions),
    )


def _signed(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:+.1f}".replace("-", "−")


def _show_figures(view: BoardView, systems: Sequence[str]) -> None:
    records = {system: dict(record_of(view, system)) for system in systems}
    labels = dict.fromkeys(label for record in records.values() for label in record)
    places = {line.system: line.rank for line in view.competitors()}
    lines = [view.line(system) for system in systems]
    ratings = ["–" if line is None or line.rating is None else points(line.rating.value) for line in lines]
    # Ranks are those among the competitors, as on the leaderboard; the reference has none.
    standing = [("Rank", *(places.get(system, "–") for system in systems)), ("Rating", *ratings)]
    rows = [(label, *(records[system].get(label, "–") for system in systems)) for label in labels]
    heading("On the board", anchor="board")
    put_html(figures_table(("", *systems), [*standing, *rows]))
    table: Rows = [{"system": system, **records[system]} for system in systems]
    offer_files(view, "compared", lambda: table)


AT_ONCE = 8


def show_contested(view: BoardView, comparison: Comparison) -> None:
    """Show the questions on which the systems differ most, and the answers to one of them side by side."""
    heading("The questions that decide it", anchor="questions")
    for deciding in comparison.deciding:
        lead(deciding_sentence(deciding))
    note("Share of the win that each system takes over all its battles on the question, the widest first.")
    header = [("Question", "aa-left"), *((system, "") for system in comparison.systems)]
    rows = [_contested_row(view, comparison, question) for question in comparison.questions]
    put("table", header, rows[:AT_ONCE], classes="aa-questions")
    if rows[AT_ONCE:]:
        with st.expander(f"{len(rows) - AT_ONCE} more questions"):
            put("table", header, rows[AT_ONCE:], classes="aa-questions")
    files: Rows = [
        {
            "question_id": question.id,
            "domain": question.domain,
            "question": question.question,
            **question.shares,
        }
        for question in comparison.questions
    ]
    offer_files(view, "contested-questions", lambda: files)
    if comparison.questions:
        show_facts_of(view, comparison)


def deciding_sentence(deciding: Deciding) -> str:
    """Describe the number of questions that the lead of one of two depends on."""
    leader, other = deciding.leader, deciding.other
    if deciding.needed is None:
        return f"{leader} and {other} take the same share of the win over {deciding.questions:,} questions."
    questions = "one question" if deciding.needed == 1 else f"{deciding.needed:,} questions"
    return (
        f"Without the {questions} of {deciding.questions:,} on which {leader} is furthest ahead, its lead "
        f"over {other} would be gone."
    )


def _contested_row(view: BoardView, comparison: Comparison, question: ContestedQuestion) -> tuple[Child, ...]:
    href = link("question", board=view.name, id=question.id)
    best = max(question.shares.values())
    cells = [
        Cell(
            "–" if share is None else percent_figure(share, decimals=0),
            class_="aa-main" if share == best else "",
        )
        for share in map(question.shares.get, comparison.systems)
    ]
    named = Cell(question.question, href=href, sub=f"{view.label(question.domain)} · {question.id}")
    return (named, *cells)


def show_facts_of(view: BoardView, comparison: Comparison) -> None:
    """One question: which facts the answers of the first two cover, then the answers themselves."""
    heading("The answers by the facts they cover", anchor="facts")
    labels = {question.id: f"{question.id}: {question.question}" for question in comparison.questions}
    chosen = choose_one("question", "Question", labels)
    question_view = evidence_of(view, chosen)
    first, *others = comparison.systems
    diffs = {other: fact_diffs(question_view, first, other) for other in others}
    for other, found in diffs.items():
        _show_diffs(found, first, other)
    _show_answers(question_view, comparison.systems, own_facts(first, diffs))
    evidence = anchor("Evidence: battles, rationales, sources", "question", board=view.name, id=chosen)
    paragraph(evidence, class_="aa-note")


def _show_diffs(diffs: Sequence[FactDiff], first: str, second: str) -> None:
    """Show the facts that two answers cover, by kind; for missing kinds the reason and the remedy."""
    if not diffs:
        note(f"{first} or {second} gave no answer to this question, or it is not shown.")
    for diff in diffs:
        if not diff.missing:
            subheading(diff.kind.capitalize())
            note(f"Recorded by {diff.source}.")
            put_html(macro("diff", diff, first, second))
    missing = [(diff.kind.capitalize(), diff.missing) for diff in diffs if diff.missing]
    if missing:
        put("not_compared", missing)


def _show_answers(
    question_view: QuestionView, systems: Sequence[str], own: Mapping[str, Collection[str]]
) -> None:
    """Show the answers in full; passages that only one of them covers are shaded."""
    shown = {answer.system: answer for answer in question_view.answers}
    subheading("In full")
    note(
        "Underlined: covers a statement of the passages; shaded: one that the first covers and another does "
        "not, or the other way round."
    )
    for column, system in zip(st.columns(len(systems)), systems, strict=True):
        with column, st.container(border=True, height="stretch", key=f"prose-compared-{system}"):
            answer = shown.get(system)
            if answer is None:
                paragraph(Cell(system, class_="aa-main"), class_="aa-name")
                note("No answer to this question is shown.")
                continue
            record = f"{answer.wins} won · {answer.ties} tied · {answer.losses} lost"
            paragraph(Cell(system, class_="aa-main", sub=record), class_="aa-name")
            parts = mark_answer(answer.answer.answer, answer.scores)
            put("marked", [_mark(part, own.get(system, ())) for part in parts])


def _mark(part: Stretch, own: Collection[str]) -> Mark | str:
    if not part.covers:
        return part.text
    alone = any(statement in own for statement in part.covers)
    classes = "aa-covers aa-only" if alone else "aa-covers"
    return Mark(text=part.text, class_=classes, meaning="covers: " + " | ".join(part.covers))
