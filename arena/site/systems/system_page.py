"""A system: what the board says of it, where it loses, what to fix first, and the rest in tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from arena.services.evidence.systems import SystemProfile
from arena.services.evidence.versions import JudgedVersion
from arena.site.boards.board_parts import back_to_board, left_out
from arena.site.boards.charts import profile_plot
from arena.site.boards.pickers import addressed_board, choose_system
from arena.site.boards.sentences import record_of
from arena.site.boards.view_model import BoardView
from arena.site.queries import earlier_versions_of, fixes_of, profile_of, weaknesses_of
from arena.site.systems.fixes_part import show_fixes
from arena.site.systems.profile_table import profile_table
from arena.site.systems.record_parts import (
    show_card,
    show_figures,
    show_history,
    show_provenance,
    show_records,
)
from arena.site.systems.verdict import show_losses, verdict
from arena.site.systems.versions_part import show_versions
from arena.site.systems.weaknesses import (
    show_doubtful,
    show_means,
    show_missed,
    show_not_computed,
    show_retrieval,
)
from arena.site.ui.components import lead, name_page, note, strip
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import anchor
from arena.site.ui.url_state import addressed_tabs

ELSEWHERE = "This board was published elsewhere as counts, so there are no single battles to look at."


def show() -> None:
    """Show the system that the address names."""
    view = addressed_board()
    back_to_board(view)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        heading = st.container()
        system = choose_system(view)
    heading.title(system, anchor=False)
    name_page(system, "System", view.full_title)
    if view.round_name is None:
        lead(verdict(view, system, None))
        strip(record_of(view, system))
        note(ELSEWHERE)
        _show_tabs(_parts_of_counts(view, system))
        return
    profile = profile_of(view, system)
    earlier = earlier_versions_of(view, system)
    lead(verdict(view, system, profile.losses.field))
    strip(record_of(view, system))
    _show_links(view, profile, earlier)
    left_out(profile.notice)
    show_losses(view, profile.losses)
    show_fixes(view.name, fixes_of(view, system))
    _show_tabs(_parts(view, profile, earlier))


def _show_links(view: BoardView, profile: SystemProfile, earlier: tuple[JudgedVersion, ...]) -> None:
    """Its version, what changed since the one before, and the report of its team."""
    if profile.submission is None:
        return
    links: list[Child] = []
    if earlier:
        changed = f"What changed since version {earlier[0].version}"
        links += [anchor(changed, "system", board=view.name, id=profile.system, part="versions"), " · "]
    links.append(anchor("Report for its team", "report", id=str(profile.submission.id), round=view.name))
    put(element("p", f"Version {profile.submission.version} · ", *links, class_="aa-eyebrow"))


def _parts(
    view: BoardView, profile: SystemProfile, earlier: tuple[JudgedVersion, ...]
) -> Mapping[str, tuple[str, Callable[[], None]]]:
    """The tabs by their names in the address: title and what shows them."""
    system = profile.system
    return {
        "questions": ("Questions", lambda: _show_questions(view, profile)),
        "versions": ("Versions", lambda: show_versions(view, system, earlier)),
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
    st.header("By domain", anchor="domains")
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
    show_provenance(profile.submission)
