"""HTML of pages: elements, and what follows directly on other HTML joins it."""

from __future__ import annotations

import re
from collections.abc import Callable

from streamlit.testing.v1 import AppTest


def _one_after_the_other() -> None:
    from arena.site.ui.components import heading, lead, note  # noqa: PLC0415 - the script runs by itself

    heading("First", anchor="first")
    lead("Second.")
    note("Third & last.")


def _with_others_between() -> None:
    import streamlit as st  # noqa: PLC0415 - as above

    from arena.site.ui.components import note  # noqa: PLC0415 - as above
    from arena.site.ui.markup import put_html  # noqa: PLC0415 - as above

    note("Before.")
    st.text("Plain.")
    note("After.")
    with st.container():
        note("Inside.")
        note("Inside too.")
    note("Outside.")
    put_html(f"<p>{'x' * 20_000}</p>")
    note("Behind the long one.")


def _replaced() -> None:
    import streamlit as st  # noqa: PLC0415 - as above

    from arena.site.ui.components import note  # noqa: PLC0415 - as above

    place = st.empty()
    with place:
        note("Old.")
        note("New.")


def _with_preformatted_text() -> None:
    from arena.site.ui.components import verbatim  # noqa: PLC0415 - as above

    verbatim("  indented\n    more\n")


def _shown(script: Callable[[], None]) -> list[str]:
    page = AppTest.from_function(script, default_timeout=30).run()
    assert not page.exception
    return [re.sub(r"x{9,}", "x", element.proto.body) for element in page.get("html")]


def test_what_follows_directly_is_one_element() -> None:
    """Headings, leads and notes in a row are one element of the page, each escaped."""
    (body,) = _shown(_one_after_the_other)
    heading, lead = '<h2 id="first">First</h2>', '<p class="aa-lead">Second.</p>'
    assert body == f'<div class="aa-flow">{heading}{lead}<p class="aa-note">Third &amp; last.</p></div>'


def test_other_elements_and_containers_stand_between() -> None:
    """Nothing joins over a widget, out of a container or with a long table: the order stays."""
    note = '<p class="aa-note">{}</p>'.format
    assert _shown(_with_others_between) == [
        note("Before."),
        note("After."),
        f'<div class="aa-flow">{note("Inside.")}{note("Inside too.")}</div>',
        note("Outside."),
        "<p>x</p>",
        note("Behind the long one."),
    ]


def test_a_place_for_one_element_keeps_the_last() -> None:
    """In a place that holds one element, the next takes its place as with every other element."""
    assert _shown(_replaced) == ['<p class="aa-note">New.</p>']


def test_a_second_run_begins_anew() -> None:
    """What a page showed before is not joined by what it shows when it runs again."""
    page = AppTest.from_function(_one_after_the_other, default_timeout=30).run()
    first = [element.proto.body for element in page.get("html")]
    assert [element.proto.body for element in page.run().get("html")] == first


def test_text_keeps_its_indentation() -> None:
    """What is shown to copy keeps the blanks at the beginnings of its lines and at its end."""
    assert _shown(_with_preformatted_text) == ['<pre class="aa-verbatim">  indented\n    more\n</pre>']
