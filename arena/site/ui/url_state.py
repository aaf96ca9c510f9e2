"""Choices in the address, so that they can be shared."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, TypeVar

import streamlit as st

from arena.site.services import address
from arena.site.ui.html import paragraph

Value = TypeVar("Value", bound=Hashable)
MAX_ECHOED_CHARACTERS = 60


def distinct(labels: Mapping[Value, str]) -> dict[Value, str]:
    """Add the value to labels that several values share."""
    # Streamlit finds the chosen option by its label, so equal labels could select the wrong one.
    counts = Counter(labels.values())
    return {value: f"{label} ({value})" if counts[label] > 1 else label for value, label in labels.items()}


def chosen_words(name: str) -> str:
    """Return the search words in the address."""
    return address().get(name, "")


def optional_select(name: str, label: str, options: Mapping[str, str], nothing: str) -> str | None:
    """Let the visitor choose an option or none; the choice is in the address."""
    return choose_one(name, label, {"": nothing, **options}) or None


def chosen_many(name: str, options: Sequence[str], default: Sequence[str]) -> list[str]:
    """Return the options in the address, separated by commas."""
    addressed = chosen_words(name).split(",")
    return [option for option in options if option in addressed] or list(default)


def text_filter(name: str, label: str) -> str:
    """Show a search field."""
    key = f"choice-{name}"
    st.session_state[key] = chosen_words(name)
    words = st.text_input(label, key=key, icon=":material/search:", on_change=_into_address, args=(name, key))
    return words or ""


def choose_one(
    name: str, label: str, options: Mapping[str, str], *, width: int | Literal["stretch"] = "stretch"
) -> str:
    """Let the visitor choose an option; the choice is in the address."""
    key = _from_address(name, label, options)
    chosen = st.selectbox(
        label,
        tuple(options),
        key=key,
        format_func=distinct(options).__getitem__,
        width=width,
        on_change=_into_address,
        args=(name, key),
    )
    return str(chosen)


def choose_segment(name: str, label: str, options: Mapping[str, str], *, shown: bool = True) -> str:
    """Like `choose_one`, for a few options side by side; the first is the default."""
    key = _from_address(name, label, options)
    chosen = st.segmented_control(
        label,
        tuple(options),
        required=True,
        format_func=distinct(options).__getitem__,
        key=key,
        label_visibility="visible" if shown else "collapsed",
        on_change=_into_address,
        args=(name, key),
    )
    return str(chosen or next(iter(options)))


@contextmanager
def opened(label: str, *parameters: str) -> Iterator[bool]:
    """Fold a part of the page until the visitor opens it or the address has one of its parameters."""
    is_chosen = any(chosen_words(name) for name in parameters)
    key = f"part-{'-'.join(parameters)}"
    with st.expander(label, expanded=is_chosen, key=key, on_change="rerun") as box:
        yield bool(box.open)


def _from_address(name: str, label: str, options: Mapping[str, str]) -> str:
    """Set a widget to the choice in the address, or to its first option, and return the widget's key."""
    # Streamlit's own binding puts labels into the address; permalinks need stable ids.
    key, wanted = f"choice-{name}", st.query_params.get(name)
    st.session_state[key] = wanted if wanted in options else next(iter(options))
    if wanted is not None and wanted not in options:
        say_unknown(wanted, f"{label}: {next(iter(options.values()))}.")
    return key


def unknown_choice(wanted: str, instead: str) -> str:
    """Return a warning about an unknown choice in the address, with its replacement."""
    return f"The address contains “{wanted[:MAX_ECHOED_CHARACTERS]}”, which is not available here. {instead}"


def say_unknown(wanted: str, instead: str) -> None:
    """Warn of an unknown choice in the address, with its replacement."""
    paragraph(unknown_choice(wanted, instead), class_="aa-note", role="status")


def _into_address(name: str, key: str) -> None:
    chosen = st.session_state[key]
    if chosen:
        st.query_params[name] = chosen
    else:
        st.query_params.pop(name, None)
