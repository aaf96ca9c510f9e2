"""The ratings that a board shows: of the judge's verdicts, or corrected by votes of people."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from arena.site.boards.people_view import as_people_say
from arena.site.boards.view_model import BoardView
from arena.site.ui.url_state import chosen_words

ADDRESS = "ratings"


class Basis(StrEnum):
    """Origin of a page's ratings, as the address names it."""

    JUDGE = "judge"
    PEOPLE = "people"


LABELS: Mapping[Basis, str] = MappingProxyType(
    {Basis.JUDGE: "As the judge says", Basis.PEOPLE: "As people would say"}
)


def possible(view: BoardView) -> tuple[Basis, ...]:
    """Ratings that the board can show."""
    return tuple(Basis) if view.people is not None else (Basis.JUDGE,)


def chosen_basis(view: BoardView) -> Basis:
    """The ratings that the address asks for where the board has them, else the judge's own."""
    word = chosen_words(ADDRESS)
    return Basis(word) if word in possible(view) else Basis.JUDGE


def on_basis(view: BoardView, basis: Basis) -> BoardView:
    """The board with the ratings, places, intervals and order of a basis."""
    return as_people_say(view) if basis is Basis.PEOPLE else view


def basis_warning(view: BoardView) -> str:
    """That the address asks for ratings that the board does not have; empty where it has them."""
    word = chosen_words(ADDRESS)
    if not word or word in possible(view):
        return ""
    reason = (
        f"{LABELS[Basis.PEOPLE]}: there are no votes of people on these battles"
        if word == Basis.PEOPLE
        else "The address asks for ratings that do not exist"
    )
    return f"{reason}. The ratings below are as the judge says."


def basis_query(basis: Basis) -> Mapping[str, str]:
    """The part of a link that keeps the choice; nothing for the judge's own."""
    return {} if basis is Basis.JUDGE else {ADDRESS: basis.value}
