"""A system: its figures on the board, its losses, and its battles with another."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from arena.formats import ends_of, interval_of, points
from arena.html_pages import Parts, macro
from arena.models.boards import BoardView
from arena.services.boards.sentences import record_of, system_verdict
from arena.services.evidence.systems import LossShare, LossShares, SystemProfile
from arena.site.boards.matrix_page import opponents_table
from arena.site.boards.pickers import addressed_board, chosen_opponent, chosen_system
from arena.site.compare.parts import show_compared
from arena.site.queries import profile_of, weaknesses_of
from arena.site.systems.parts import show_by_domain, show_card, show_records
from arena.site.systems.weaknesses import show_doubtful, show_missed, show_not_computed, show_retrieval
from arena.site.ui.html import anchor, figures_table, heading, link, name_page, paragraph, put_html, put_part
from arena.site.ui.url_state import chosen_words, say_unknown
from data.text import percent

IMPORTED = "This board was imported as counts, so it has no individual battles."
MAX_ROWS = 6


def show() -> None:
    """Show the system in the address, or its comparison with an opponent."""
    view = addressed_board()
    system = chosen_system(view)
    opponent = chosen_opponent(view, system)
    profile = None if view.round_name is None else profile_of(view, system)
    parts = as_parts(view, system, opponent, profile)
    name_page(f"{system} and {opponent}" if opponent else system, "System", view.full_title)
    put_part(parts, "head")
    if opponent:
        show_compared(view, (system, opponent))
        paragraph(anchor("Compare more systems", "compare", board=view.name, a=system, b=opponent))
    else:
        _show_parts(view, system, _parts(view, system, profile))


def as_parts(view: BoardView, system: str, opponent: str, profile: SystemProfile | None) -> Parts:
    """Build the verdict, figures, version and losses; against an opponent only the figures."""
    submission = None if profile is None else profile.submission
    return Parts(
        "pages/system.html",
        {
            "view": view,
            "system": system,
            "board_link": link("", board=view.name),
            "opponent": opponent,
            "title": macro("titled", system, _menus(view, system, opponent)),
            "meetings": opponents_table(view, system) if view.meetings.systems and not opponent else None,
            "lead": system_verdict(view, system, None if profile is None else profile.losses.field),
            "record": (*_rating(view, system), *record_of(view, system)),
            "elsewhere": IMPORTED if profile is None else "",
            "version": "" if submission is None else submission.version,
            "mark": view.marks.get(system, ""),
            "notice": "" if profile is None else profile.notice,
            "losses": None if profile is None or opponent else list(_losses(view, profile.losses)),
        },
    )


def _rating(view: BoardView, system: str) -> Iterator[tuple[str, str]]:
    line = view.line(system)
    if line is not None and line.rating is not None:
        yield f"Rating ({interval_of(line.rating)})", points(line.rating.value)


def _menus(view: BoardView, system: str, opponent: str) -> Iterator[tuple[str, list[tuple[str, str, bool]]]]:
    board = view.name
    yield "System", [(name, link("system", board=board, id=name), name == system) for name in view.systems]
    back = [("No opponent", link("system", board=board, id=system), False)] if opponent else []
    pairs = (
        (name, link("system", board=board, id=system, against=name), name == opponent)
        for name in view.systems
        if name != system
    )
    yield f"against {opponent or '…'}", [*back, *pairs]


Part = tuple[str, Callable[[], None]]
"""Title and renderer of a part of the page."""


def _parts(view: BoardView, system: str, profile: SystemProfile | None) -> Mapping[str, Part]:
    domains = {"domains": ("Domains and scores", lambda: _show_domains(view, system))}
    if profile is None:
        return domains
    return {
        "questions": ("Questions", lambda: _show_questions(view, profile)),
        "facts": ("Facts and claims", lambda: _show_facts(view, system)),
        **domains,
        "card": ("Card", lambda: show_card(view, system, profile.submission)),
    }


def _show_parts(view: BoardView, system: str, parts: Mapping[str, Part]) -> None:
    chosen = chosen_words("part")
    if chosen not in parts:
        if chosen:
            say_unknown(chosen, "The first part of the page is shown.")
        chosen = next(iter(parts))
    here = {"board": view.name, "id": system}
    links = [(title, link("system", **here, part=name), name == chosen) for name, (title, _) in parts.items()]
    put_html(macro("tabs", "Parts", links))
    parts[chosen][1]()


def _show_domains(view: BoardView, system: str) -> None:
    from arena.site.boards.charts import profile_plot  # noqa: PLC0415 - loads Altair

    heading("By domain", anchor="domains")
    profile_plot(view, system)
    show_by_domain(view, system)
    if view.round_name is not None:
        show_not_computed(weaknesses_of(view, system))


def _show_facts(view: BoardView, system: str) -> None:
    weaknesses = weaknesses_of(view, system)
    show_missed(view, system, weaknesses)
    show_doubtful(view, system, weaknesses)
    show_retrieval(view, system, weaknesses)


def _show_questions(view: BoardView, profile: SystemProfile) -> None:
    lost, won = st.columns(2, gap="large")
    with lost:
        show_records(view, "Lost", profile.worst)
    with won:
        show_records(view, "Won", profile.best)


def _losses(view: BoardView, losses: LossShares) -> Iterator[tuple[Markup, str]]:
    groups: Sequence[tuple[str, Sequence[LossShare], Mapping[str, str]]] = (
        ("Domain", losses.domains, view.domains),
        ("Kind of question", losses.kinds, {}),
        ("Against", losses.opponents, {}),
    )
    for name, shares, labels in groups if losses.opponents else ():
        rows = [
            (
                labels.get(loss.name, loss.name),
                percent(loss.share, decimals=0),
                ends_of(loss.interval, share=True, decimals=0),
            )
            for loss in shares[:MAX_ROWS]
        ]
        more = f"The worst {MAX_ROWS} of {len(shares)}." if len(shares) > MAX_ROWS else ""
        yield figures_table((name, "Lost", "95 % interval"), rows), more
