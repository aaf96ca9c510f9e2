from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from sqlalchemy import Engine, event

from arena.container import Arena
from tests.arena.conftest import answers_file, play
from tests.opened_pages import page_of

PAGES = {
    "questions.question_page": ({"id": "q1"}, 27),
    "compare.compare_page": ({"a": "full", "b": "short"}, 35),
    "systems.system_page": ({"id": "wrong"}, 55),
}
"""Pages with parameters, and the maximum number of statements of an uncached view.

Cached results are valid until the latest change, which each query reads.
"""


def statements_of(arena: Arena, name: str, **query: str) -> list[str]:
    """Record this process's database statements while a page runs."""
    st.cache_data.clear()
    st.cache_resource.clear()
    page = page_of(arena.settings, name, **query)
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    page.run()
    event.remove(Engine, "before_cursor_execute", note)
    assert not page.exception
    return statements


@pytest.mark.slow
def test_statement_count_is_independent_of_systems(
    filled: Callable[..., Arena], database_url: str, tmp_path: Path
) -> None:
    arena = filled(database_url=database_url)
    play(arena, "few", publish=True)
    for number in range(4):
        path = answers_file(tmp_path, f"more-{number}", f"Item {{n}} is {number}.")
        arena.submissions.add(path, "tiny", system=f"more-{number}")
    play(arena, "many", publish=True)
    # The first view of a process opens the arena, which reads the schema.
    statements_of(arena, "compare.compare_page", board="few")
    for name, (query, most) in PAGES.items():
        few = statements_of(arena, name, board="few", **query)
        many = statements_of(arena, name, board="many", **query)
        assert len(many) == len(few), (name, set(many) - set(few))
        assert len(few) <= most, (name, len(few), few)
