"""HTML of pages: elements, and what is joined to one element of Streamlit."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest


def _one_after_the_other() -> None:
    from arena.site.ui.components import heading, lead, note  # noqa: PLC0415 - the script runs by itself
    from arena.site.ui.markup import joined  # noqa: PLC0415 - as above

    with joined():
        heading("First", anchor="first")
        with joined():
            lead("Second.")
        note("Third & last.")
    with joined():
        note("Alone.")
    with joined():
        pass


def _with_preformatted_text() -> None:
    from arena.site.ui.components import verbatim  # noqa: PLC0415 - as above

    verbatim("  indented\n    more\n")


def _shown(script: Callable[[], None]) -> list[str]:
    page = AppTest.from_function(script, default_timeout=30).run()
    assert not page.exception
    return [element.proto.body for element in page.get("html")]


def test_what_is_joined_is_one_element() -> None:
    """Headings, leads and notes in a row are one element of the page, each escaped; one alone has no box."""
    body, alone = _shown(_one_after_the_other)
    heading, lead = '<h2 id="first">First</h2>', '<p class="aa-lead">Second.</p>'
    assert body == f'<div class="aa-flow">{heading}{lead}<p class="aa-note">Third &amp; last.</p></div>'
    assert alone == '<p class="aa-note">Alone.</p>'


def test_text_keeps_its_indentation() -> None:
    assert _shown(_with_preformatted_text) == ['<pre class="aa-verbatim">  indented\n    more\n</pre>']
