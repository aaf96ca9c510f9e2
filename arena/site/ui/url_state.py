"""Choices in the address, board and domain, so that they can be shared."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, TypeVar

import streamlit as st

from arena.site.services import address
from arena.site.ui.html import paragraph

Value = TypeVar("Value", bound=Hashable)
LONGEST_SHOWN = 60
"""Characters that are repeated of what an address names in vain."""


def distinct(labels: Mapping[Value, str]) -> dict[Value, str]:
    """Labels that say what they stand for where several things have the same one."""
    # Streamlit finds what was chosen by its label, so that of two equal ones the wrong one may be taken.
    counts = Counter(labels.values())
    return {value: f"{label} ({value})" if counts[label] > 1 else label for value, label in labels.items()}


def chosen_words(name: str) -> str:
    """Return the search words in the address."""
    return address().get(name, "")


def optional_select(name: str, label: str, options: Mapping[str, str], nothing: str) -> str | None:
    """One of several things that the address may name, or none of them."""
    return choose_one(name, label, {"": nothing, **options}) or None


def chosen_many(name: str, options: Sequence[str], default: Sequence[str]) -> list[str]:
    """Several things, which the address names with commas between them."""
    addressed = chosen_words(name).split(",")
    return [option for option in options if option in addressed] or list(default)


def text_filter(name: str, label: str) -> str:
    """Ask for the search words."""
    key = f"choice-{name}"
    st.session_state[key] = chosen_words(name)
    words = st.text_input(label, key=key, icon=":material/search:", on_change=_into_address, args=(name, key))
    return words or ""


def choose_one(
    name: str, label: str, options: Mapping[str, str], *, width: int | Literal["stretch"] = "stretch"
) -> str:
    """One of several things that the address may name."""
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
    """One of a few things side by side that the address may name; the first is the default."""
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
    """Fold a part of the page until it is opened, or the address has one of its parameters."""
    named = any(chosen_words(name) for name in parameters)
    key = f"part-{'-'.join(parameters)}"
    with st.expander(label, expanded=named, key=key, on_change="rerun") as box:
        yield bool(box.open)


def _from_address(name: str, label: str, options: Mapping[str, str]) -> str:
    """Set a widget to what the address says, or to the first of its options, and return the widget's key."""
    # Streamlit's own binding puts labels into the address; permalinks need ids, which stay.
    key, wanted = f"choice-{name}", st.query_params.get(name)
    st.session_state[key] = wanted if wanted in options else next(iter(options))
    if wanted is not None and wanted not in options:
        say_unknown(wanted, f"{label}: {next(iter(options.values()))}.")
    return key


def unknown_choice(wanted: str, instead: str) -> str:
    """Return a warning on an unknown choice in the address, with its replacement."""
    return f"The address names “{wanted[:LONGEST_SHOWN]}”, which is not a choice here. {instead}"


def say_unknown(wanted: str, instead: str) -> None:
    """Say that the address names something that cannot be chosen here, and what is shown instead."""
    paragraph(unknown_choice(wanted, instead), class_="aa-note", role="status")


def _into_address(name: str, key: str) -> None:
    chosen = st.session_state[key]
    if chosen:
        st.query_params[name] = chosen
    else:
        st.query_params.pop(name, None)
