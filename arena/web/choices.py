"""What the reader chose: board and domain, kept in the address so that it can be passed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from arena.web.readings import board_named, titles_of_boards
from arena.web.views import OVERALL, BoardView
from data.errors import NotFoundError


def boards() -> Mapping[str, str]:
    """Names of the published boards to their titles, newest first.

    Stops the page with what to do where nothing is published.
    """
    titles = titles_of_boards()
    if not titles:
        st.title("Nothing is published yet")
        st.markdown(
            "A board appears here when a judged round is published.\n\n"
            "- `arena demo` judges and publishes the bundled question set.\n"
            "- `arena rounds publish ROUND` publishes a round of your own."
        )
        st.stop()
    return titles


def choose_board(*, width: int | Literal["stretch"] = "stretch") -> BoardView:
    """The board that the address names, or that the reader picks; by default the newest.

    Raises:
        NotFoundError: The address names a board that is not published.
    """
    titles = boards()
    names = tuple(titles)
    _require_known("board", names, "The board of this address is not published here.")
    key = _from_address("board", names, names[0])
    chosen = st.selectbox(
        "Board",
        names,
        key=key,
        format_func=titles.__getitem__,
        width=width,
        on_change=_other_board,
        args=(key,),
    )
    return board_named(str(chosen))


def addressed_board() -> BoardView:
    """The board that the address names; by default the newest.

    Raises:
        NotFoundError: The address names a board that is not published.
    """
    names = tuple(boards())
    _require_known("board", names, "The board of this address is not published here.")
    return board_named(st.query_params.get("board", names[0]))


def choose_system(view: BoardView) -> str:
    """The system that the address names, or that the reader picks; by default the first.

    Raises:
        NotFoundError: The address names a system that the board does not have.
    """
    _require_known("id", view.systems, "The board has no system of this name.")
    key = _from_address("id", view.systems, view.systems[0])
    chosen = st.selectbox(
        "System", view.systems, key=key, width=360, on_change=_into_address, args=("id", key)
    )
    return str(chosen)


def chosen_words(name: str) -> str:
    """What the address says that the reader looks for."""
    return st.query_params.get(name, "")


def choose_maybe(name: str, label: str, options: Mapping[str, str], nothing: str) -> str | None:
    """One of several things that the address may name, or none of them.

    Args:
        name: In the address.
        label: Of the choice.
        options: Values in the address to what the reader sees.
        nothing: What the reader sees where nothing is chosen.
    """
    return choose_one(name, label, {"": nothing, **options}) or None


def chosen_many(name: str, options: Sequence[str], default: Sequence[str]) -> list[str]:
    """Several things, which the address names with commas between them."""
    wanted = st.query_params.get(name, "").split(",")
    return [one for one in options if one in wanted] or list(default)


def choose_pills(name: str, label: str, options: Mapping[str, str], default: Sequence[str]) -> None:
    """Offer a handful of things to switch on and off; `chosen_many` reads them."""
    key = f"choice-{name}"
    st.session_state[key] = chosen_many(name, tuple(options), default)
    st.pills(
        label,
        tuple(options),
        selection_mode="multi",
        format_func=options.__getitem__,
        key=key,
        on_change=_list_into_address,
        args=(name, key),
    )


def choose_switch(name: str, label: str, advice: str, *, disabled: bool = False) -> None:
    """Offer to switch something on; `is_on` reads it."""
    key = f"choice-{name}"
    st.session_state[key] = is_on(name) and not disabled
    st.toggle(
        label, key=key, help=advice, disabled=disabled, on_change=_switch_into_address, args=(name, key)
    )


def is_on(name: str) -> bool:
    """Whether the address switches something on."""
    return st.query_params.get(name) == "1"


def choose_words(name: str, label: str, *, width: int | Literal["stretch"] = 480) -> str:
    """What the reader looks for."""
    key = f"choice-{name}"
    st.session_state[key] = chosen_words(name)
    words = st.text_input(
        label, key=key, icon=":material/search:", width=width, on_change=_into_address, args=(name, key)
    )
    return words or ""


def choose_domain(view: BoardView) -> str:
    """The domain that the address names, or that the reader picks; by default all together."""
    options = (OVERALL, *view.domains)
    key = _from_address("domain", options, OVERALL)
    chosen = st.segmented_control(
        "Domain",
        options,
        required=True,
        format_func=view.label,
        key=key,
        wrap=True,
        on_change=_into_address,
        args=("domain", key),
    )
    return str(chosen or OVERALL)


def chosen_domain(view: BoardView) -> str:
    """The domain that the address names; by default all together."""
    wanted = st.query_params.get("domain", OVERALL)
    return wanted if wanted in view.domains else OVERALL


def choose_one(name: str, label: str, options: Mapping[str, str]) -> str:
    """One of several things that the address may name.

    Args:
        name: In the address.
        label: Of the choice.
        options: Values in the address to what the reader sees; the first is the default.
    """
    key = _from_address(name, tuple(options), next(iter(options)))
    chosen = st.selectbox(
        label,
        tuple(options),
        key=key,
        format_func=options.__getitem__,
        on_change=_into_address,
        args=(name, key),
    )
    return str(chosen)


def choose_part(parts: Mapping[str, str]) -> str:
    """The part of a page that the address names, or that the reader picks; by default the first.

    Args:
        parts: Values in the address to what the reader sees.
    """
    options = tuple(parts)
    key = _from_address("part", options, options[0])
    chosen = st.segmented_control(
        "Part",
        options,
        required=True,
        format_func=parts.__getitem__,
        key=key,
        label_visibility="collapsed",
        on_change=_into_address,
        args=("part", key),
    )
    return str(chosen or options[0])


def _from_address(name: str, options: Sequence[str], default: str) -> str:
    """Set a widget to what the address says, and return the widget's key.

    Streamlit's own binding puts labels into the address; permalinks need ids, which stay.
    """
    key = f"choice-{name}"
    wanted = st.query_params.get(name)
    st.session_state[key] = wanted if wanted in options else default
    return key


def _into_address(name: str, key: str) -> None:
    chosen = st.session_state[key]
    if chosen:
        st.query_params[name] = chosen
    else:
        st.query_params.pop(name, None)


def _list_into_address(name: str, key: str) -> None:
    chosen = st.session_state[key]
    if chosen:
        st.query_params[name] = ",".join(chosen)
    else:
        st.query_params.pop(name, None)


def _switch_into_address(name: str, key: str) -> None:
    if st.session_state[key]:
        st.query_params[name] = "1"
    else:
        st.query_params.pop(name, None)


def _other_board(key: str) -> None:
    """Another board has other domains, systems and questions."""
    st.query_params.from_dict({"board": st.session_state[key]})


def _require_known(name: str, options: Sequence[str], message: str) -> None:
    wanted = st.query_params.get(name)
    if wanted is not None and wanted not in options:
        raise NotFoundError(message, advice="Choose one on the leaderboard page.")
