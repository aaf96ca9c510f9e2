"""The one switch of a board: whose ratings it shows, controlled for what, and what intervals count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType

import streamlit as st

from arena.site.boards.people_view import as_people_say
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.trust.control_figures import LABELS as CONTROL_LABELS
from arena.site.trust.covariates import under_control
from arena.site.ui.markup import element, put
from arena.site.ui.url_state import chosen_words
from leaderboard.vocabulary import Control

ADDRESS = "ratings"
FORMER = ("says", "control")
"""What addresses said of the same before there was one switch; they still open what they opened."""


class Basis(StrEnum):
    """What the ratings of a page depend on, as the address names it."""

    JUDGE = "judge"
    PEOPLE = "people"
    LENGTH = "length"
    STYLE = "style"
    POSITION = "position"
    FAMILY = "family"
    EVERY_CONTROL = "controls"


CONTROLS: Mapping[Basis, Control] = MappingProxyType(
    {
        Basis.LENGTH: Control.LENGTH,
        Basis.STYLE: Control.STYLE,
        Basis.POSITION: Control.POSITION,
        Basis.FAMILY: Control.FAMILY,
        Basis.EVERY_CONTROL: Control.ALL,
    }
)
LABELS: Mapping[Basis, str] = MappingProxyType(
    {
        Basis.JUDGE: "As the judge says",
        Basis.PEOPLE: "As people would say",
        **{basis: f"Controlled for {CONTROL_LABELS[control]}" for basis, control in CONTROLS.items()},
    }
)
USUAL = (Basis.JUDGE, Basis.PEOPLE, Basis.LENGTH)
"""Those that stand side by side; others are in a list beside them."""
MEANINGS = (
    "Headline, table, chart, domains, head to head and downloads of this page follow this choice.",
    "As the judge says: ratings of the judge's verdicts; intervals count which questions were asked.",
    "As people would say: votes of people on some battles correct the judge's verdicts on all.",
    "Controlled for length: as if both answers of each battle were equally long.",
)
NO_VOTES = "there are no votes of people on these battles"
OVERALL_ALONE = "it is known overall only"
MORE = "More"


def addressed_basis() -> Basis | None:
    """What the address asks for, in today's words or the former ones; None for a word that is neither."""
    word = chosen_words(ADDRESS)
    if word:
        return Basis(word) if word in set(Basis) else None
    if chosen_words("says") == "people":
        return Basis.PEOPLE
    control = {"1": Control.LENGTH.value}.get(chosen_words("control"), chosen_words("control"))
    return {kind.value: basis for basis, kind in CONTROLS.items()}.get(control, Basis.JUDGE)


def possible(view: BoardView, domain: str) -> tuple[Basis, ...]:
    """What the board can show in a domain, in the order of the switch."""
    return tuple(basis for basis in Basis if not why_not(view, domain, basis))


def chosen_basis(view: BoardView, domain: str) -> Basis:
    """What the address asks for where the board has it, else the judge's own."""
    asked = addressed_basis()
    return asked if asked is not None and not why_not(view, domain, asked) else Basis.JUDGE


def on_basis(view: BoardView, basis: Basis) -> BoardView:
    """The board with the ratings, places, intervals and order of a basis."""
    if basis is Basis.PEOPLE:
        return as_people_say(view)
    return under_control(view, CONTROLS[basis]) if basis in CONTROLS else view


def why_not(view: BoardView, domain: str, basis: Basis) -> str:
    """Why the board does not have a basis in a domain; empty where it has."""
    if basis is Basis.JUDGE:
        return ""
    if basis is Basis.PEOPLE:
        return "" if view.people is not None else NO_VOTES
    if basis in CONTROLS:
        fit = view.controls.get(CONTROLS[basis])
        if fit is None or not fit.ratings:
            return fit.note.rstrip(".") if fit and fit.note else "the board was published without it"
    return OVERALL_ALONE if domain != OVERALL and is_overall_only(basis) else ""


def basis_warning(view: BoardView, domain: str) -> str:
    """That the address asks for ratings that the board does not have; empty where it has them."""
    asked = addressed_basis()
    if asked is None:
        reason = "The address asks for ratings that do not exist"
    elif why := why_not(view, domain, asked):
        reason = f"{LABELS[asked]}: {why}"
    else:
        return ""
    return f"{reason}. The ratings below are as the judge says."


def warn_of_basis(view: BoardView, domain: str) -> None:
    """Say that the address asks for ratings that the board does not have; nothing where it has them."""
    if text := basis_warning(view, domain):
        put(element("p", text, class_="aa-notice", role="status"))


def choose_basis(view: BoardView, domain: str) -> Basis:
    """Offer what the board has; what it lacks is in the help, with the reason."""
    offered, chosen = possible(view, domain), chosen_basis(view, domain)
    shown = usual(view, domain)
    further = [basis for basis in offered if basis not in USUAL]
    key, more = f"choice-{ADDRESS}", f"choice-{ADDRESS}-more"
    st.session_state[key] = chosen
    st.segmented_control(
        "Ratings",
        shown,
        required=True,
        format_func=LABELS.__getitem__,
        key=key,
        wrap=True,
        help="\n\n".join((*MEANINGS, *_lacking(view, domain))),
        disabled=len(shown) == 1,
        on_change=_into_address,
        args=(key,),
    )
    if further:
        st.session_state[more] = chosen if chosen in further else None
        st.selectbox(
            "Further ratings",
            further,
            format_func=LABELS.__getitem__,
            key=more,
            placeholder=MORE,
            width=160,
            on_change=_into_address,
            args=(more,),
        )
    return chosen


def is_overall_only(basis: Basis) -> bool:
    """Whether the ratings of a basis are known of all domains together alone."""
    return basis not in {Basis.JUDGE, Basis.PEOPLE}


def basis_query(basis: Basis) -> Mapping[str, str]:
    """What a link carries so that the next page shows the same; nothing for the judge's own."""
    return {} if basis is Basis.JUDGE else {ADDRESS: basis.value}


def usual(view: BoardView, domain: str) -> tuple[Basis, ...]:
    """Of what the board can show in a domain, what stands side by side: the usual, and what is chosen."""
    chosen = chosen_basis(view, domain)
    return tuple(basis for basis in possible(view, domain) if basis in USUAL or basis is chosen)


def _lacking(view: BoardView, domain: str) -> Iterator[str]:
    for basis in Basis:
        if why := why_not(view, domain, basis):
            yield f"Not here – {LABELS[basis].lower()}: {why}."


def _into_address(key: str) -> None:
    chosen = st.session_state[key]
    for name in (ADDRESS, *FORMER):
        st.query_params.pop(name, None)
    if chosen is not None and chosen is not Basis.JUDGE:
        st.query_params[ADDRESS] = Basis(chosen).value
