"""A system: what the board says of it, where it loses, what to fix first, and the rest in tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import streamlit as st

from arena.html_pages import Parts
from arena.services.evidence.losses import LossShare, LossShares
from arena.services.evidence.systems import SystemProfile
from arena.services.evidence.versions import ChangedQuestion, JudgedVersion, VersionChange
from arena.site.boards.charts import profile_plot
from arena.site.boards.downloads import offer_files
from arena.site.boards.pickers import addressed_board, choose_system, chosen_system
from arena.site.boards.sentences import place_of, record_of, separation, standing
from arena.site.boards.view_model import BoardView
from arena.site.queries import earlier_versions_of, fixes_of, profile_of, version_change_of, weaknesses_of
from arena.site.systems.fixes_part import show_fixes
from arena.site.systems.profile_table import profile_table
from arena.site.systems.record_parts import (
    show_card,
    show_figures,
    show_history,
    show_records,
)
from arena.site.systems.weaknesses import (
    show_doubtful,
    show_means,
    show_missed,
    show_not_computed,
    show_retrieval,
)
from arena.site.ui.components import heading, lead, name_page, note, page_heading, subheading
from arena.site.ui.formats import Bounded, interval_of_shares, range_of_shares
from arena.site.ui.markup import element, joined, put, put_part
from arena.site.ui.tables import anchor, link, plain_table
from arena.site.ui.url_state import addressed_tabs, choose_one
from data.intervals import Interval
from data.percent import percent, percent_figure
from leaderboard.paired import PairedShare
from leaderboard.rates import Rate

ELSEWHERE = "This board was published elsewhere as counts, so there are no single battles to look at."
MOST_ROWS = 6
MOST_LISTED = 8


def look() -> str:
    """The page without what only Streamlit can offer, up to what is to be fixed first."""
    view = addressed_board()
    system = chosen_system(view)
    return as_parts(view, system, _judged(view, system)).whole()


def show() -> None:
    """Show the system that the address names."""
    view = addressed_board()
    system = chosen_system(view)
    judged = _judged(view, system)
    parts = as_parts(view, system, judged)
    put_part(parts, "crumbs")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page_heading(system)
        choose_system(view)
    name_page(system, "System", view.full_title)
    put_part(parts, "head")
    if judged is None:
        _show_tabs(_parts_of_counts(view, system))
        return
    with joined():
        show_fixes(view.name, fixes_of(view, system))
    _show_tabs(_parts(view, judged.profile, judged.earlier))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is known of a system beside the board where its battles were judged here."""

    profile: SystemProfile
    earlier: tuple[JudgedVersion, ...]


def _judged(view: BoardView, system: str) -> Judged | None:
    if view.round_name is None:
        return None
    return Judged(profile=profile_of(view, system), earlier=earlier_versions_of(view, system))


def as_parts(view: BoardView, system: str, judged: Judged | None) -> Parts:
    """What the page says first: verdict, figures, version, and where the system loses."""
    profile = None if judged is None else judged.profile
    submission = None if profile is None else profile.submission
    earlier = () if judged is None else judged.earlier
    return Parts(
        "pages/system.html",
        {
            "view": view,
            "system": system,
            "board_link": link("", board=view.name),
            "lead": verdict(view, system, None if profile is None else profile.losses.field),
            "record": record_of(view, system),
            "elsewhere": ELSEWHERE if judged is None else "",
            "version": "" if submission is None else submission.version,
            "changed": f"What changed since version {earlier[0].version}" if earlier else "",
            "changed_link": link("system", board=view.name, id=system, part="versions"),
            "report": "" if submission is None else link("report", id=str(submission.id), round=view.name),
            "notice": "" if profile is None else profile.notice,
            "losses": None if profile is None else list(_losses(view, profile.losses)),
        },
    )


def _parts(
    view: BoardView, profile: SystemProfile, earlier: tuple[JudgedVersion, ...]
) -> Mapping[str, tuple[str, Callable[[], None]]]:
    """The tabs by their names in the address: title and what shows them."""
    system = profile.system
    return {
        "questions": ("Questions", lambda: _show_questions(view, profile)),
        "versions": ("Versions", lambda: _show_versions(view, system, earlier)),
        "facts": ("Missed facts", lambda: show_missed(view, system, weaknesses_of(view, system))),
        "claims": ("Claims to check", lambda: show_doubtful(view, system, weaknesses_of(view, system))),
        "retrieval": ("Retrieval", lambda: show_retrieval(view, system, weaknesses_of(view, system))),
        **_parts_of_counts(view, system),
        "scores": ("Scores", lambda: _show_scores(view, system)),
        "card": ("Card", lambda: _show_card(view, profile)),
    }


def _parts_of_counts(view: BoardView, system: str) -> Mapping[str, tuple[str, Callable[[], None]]]:
    """The tabs that need no single battles."""
    return {
        "domains": ("Domains", lambda: _show_domains(view, system)),
        "scores": ("Scores", lambda: show_means(view, system)),
        "history": ("History", lambda: show_history(view, system)),
    }


def _show_tabs(parts: Mapping[str, tuple[str, Callable[[], None]]]) -> None:
    """Show the tab that the address or the reader chose; the others are made when they are opened."""
    tabs = addressed_tabs("part", "Shown", {name: title for name, (title, _) in parts.items()})
    for tab, (_, show_part) in zip(tabs, parts.values(), strict=True):
        if tab.open:
            with tab:
                show_part()


def _show_domains(view: BoardView, system: str) -> None:
    heading("By domain", anchor="domains")
    profile_plot(view, system)
    put(profile_table(view, system))


def _show_scores(view: BoardView, system: str) -> None:
    show_means(view, system)
    show_not_computed(weaknesses_of(view, system))


def _show_questions(view: BoardView, profile: SystemProfile) -> None:
    lost, won = st.columns(2, gap="large")
    with lost:
        show_records(view, "Lost", profile.worst)
    with won:
        show_records(view, "Won", profile.best)


def _show_card(view: BoardView, profile: SystemProfile) -> None:
    show_card(profile.submission)
    show_figures(view, profile.system)


def verdict(view: BoardView, system: str, field: Rate | None) -> str:
    """Its places, and how often it wins or ties against the reference and against the other systems."""
    line = view.line(system)
    if line is None or line.rating is None or line.own_rates.win_tie is None:
        return standing(view, system)
    against = "all systems" if line.is_reference or not view.reference else view.the_reference
    own = line.own_rates.win_tie
    parts = [f"{percent(own.value)} of its battles against {against} ({interval_of_shares(own)})"]
    if field is not None and view.reference and not line.is_reference:
        others = _bounded(field.win_tie_rate, field.win_tie_interval)
        parts.append(
            f"{percent(others.value)} of those against the other systems ({range_of_shares(others)})"
        )
    return f"{place_of(view, system)}: it wins or ties {' and '.join(parts)}. {separation(view, line)}"


def _losses(view: BoardView, losses: LossShares) -> Iterator[tuple[Element, str]]:
    """In which domains, on what kinds of question and against whom it loses, the worst first."""
    groups: Sequence[tuple[str, Sequence[LossShare], Mapping[str, str]]] = (
        ("Domain", losses.domains, view.domains),
        ("Kind of question", losses.kinds, {}),
        ("Against", losses.opponents, {}),
    )
    for name, shares, labels in groups if losses.opponents else ():
        rows = [_loss_row(share, labels.get(share.name, share.name)) for share in shares[:MOST_ROWS]]
        more = f"The worst {MOST_ROWS} of {len(shares)}." if len(shares) > MOST_ROWS else ""
        yield plain_table((name, "Lost", "95 % interval"), rows), more


def _loss_row(share: LossShare, label: str) -> tuple[str, ...]:
    ends = share.interval
    bounds = (
        "–"
        if ends is None
        else f"{percent_figure(ends.lower, decimals=0)} to {percent(ends.upper, decimals=0)}"
    )
    return label, percent(share.share, decimals=0), bounds


def _bounded(value: float, interval: Interval | None) -> Bounded:
    if interval is None:
        return Bounded(value=value)
    return Bounded(value=value, lower=interval.lower, upper=interval.upper)


def _change_in_words(change: VersionChange) -> str:
    """Whether the new version is better, worse, or neither is shown."""
    overall = change.overall
    if overall.difference is None:
        return "No question compares the two versions."
    told = (
        "is better than"
        if overall.significant and overall.difference > 0
        else "is worse than"
        if overall.significant
        else "is not shown to differ from"
    )
    bounds = overall.interval
    interval = (
        "" if bounds is None else f" (95 % interval {_points(bounds.lower)} to {_points(bounds.upper)})"
    )
    same = overall.questions - overall.ahead - overall.behind
    return (
        f"Version {change.new.version} {told} version {change.old.version}: {_points(overall.difference)} "
        f"percentage points of the share of the win{interval}. It takes more on {overall.ahead:,} questions, "
        f"less on {overall.behind:,}, and as much on {same:,}."
    )


def _show_versions(view: BoardView, system: str, earlier: Sequence[JudgedVersion]) -> None:
    """The versions side by side, against the one that the reader chooses."""
    if not earlier:
        note("No earlier version of this system was judged.")
        return
    options = {str(one.version): f"Version {one.version}, judged in {one.round_name}" for one in earlier}
    chosen = choose_one("since", "What changed since", options, width=360)
    change = version_change_of(view, system, int(chosen))
    lead(_change_in_words(change))
    domains, won, lost = st.columns(3, gap="medium")
    with domains:
        subheading("By domain", anchor="since-by-domain")
        header = ("Domain", "Difference", "95 % interval")
        put(plain_table(header, [_changed_row(view, share) for share in change.shares]))
        for text in change.notes:
            note(text)
        offer_files(view, f"versions-{system}", lambda: change_rows(change))
    with won:
        _show_changed(view, change, "Won since", change.won)
    with lost:
        _show_changed(view, change, "Lost since", change.lost)


def change_rows(change: VersionChange) -> Sequence[Mapping[str, object]]:
    """Every question that changed, those won first; differences are shares of the win, −1 to 1."""
    return [
        {
            "system": change.system,
            "version": change.new.version,
            "since": change.old.version,
            "question_id": one.id,
            "domain": one.domain,
            "difference": one.difference,
        }
        for one in (*change.won, *change.lost)
    ]


def _show_changed(
    view: BoardView, change: VersionChange, title: str, questions: Sequence[ChangedQuestion]
) -> None:
    subheading(title, anchor=title.lower().replace(" ", "-"))
    if not questions:
        note("None.")
        return
    note(f"{min(len(questions), MOST_LISTED)} of {len(questions):,} questions, the clearest first.")
    for one in questions[:MOST_LISTED]:
        with st.container(key=f"fact-{title}-{one.id}"):
            st.text(one.question)
            now = anchor("now", "question", board=change.new.round_name, id=one.id)
            then = anchor("before", "question", board=change.old.round_name, id=one.id)
            told = f"{_points(one.difference)} points · {view.label(one.domain)} · "
            put(element("p", told, now, ", ", then, class_="aa-eyebrow"))


def _changed_row(view: BoardView, share: PairedShare) -> tuple[str, ...]:
    bounds = share.interval
    return (
        view.label(share.domain),
        "–" if share.difference is None else _points(share.difference),
        "–" if bounds is None else f"{_points(bounds.lower)} to {_points(bounds.upper)}",
    )


def _points(share: float) -> str:
    """Percentage points with their sign."""
    return f"{100 * share:+.1f}".replace("-", "−")
