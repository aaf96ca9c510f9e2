from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from arena.settings import Settings
from arena.site.app import _Routes
from arena.site.pages import added_pages, pages
from arena.site.services import as_secrets
from data.plugins import use_plugin_files
from tests.opened_pages import html_of
from tests.served import published

DOCUMENT = Path(__file__).parents[3] / "docs" / "extending.md"
EXAMPLE = re.compile(r"<!-- file: page -->\n```python\n(.*?)```", re.DOTALL)
FAILING = """
from arena.site.pages import Page


def show():
    raise KeyError("nothing here")


PAGES = [Page(name="broken", title="Broken", show=show), Page(name="team", title="Mine", show=show)]
"""
SCRIPT = """
from arena.site.pages import pages
from arena.site.ui.messages import guarded

guarded(pages()[{name!r}].run)
"""


@pytest.fixture
def with_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Published arena with the example page of the docs and a failing page."""
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {}))
    (code,) = EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8"))
    assert len(code.splitlines()) < 30
    files = (tmp_path / "short.py", tmp_path / "failing.py")
    for file, text in zip(files, (code, FAILING), strict=True):
        file.write_text(text, encoding="utf-8")
    yield replace(published(), plugins=files)
    use_plugin_files(())


def run(settings: Settings, name: str) -> AppTest:
    app = AppTest.from_string(SCRIPT.format(name=name), default_timeout=60)
    app.secrets.update({key: dict(value) for key, value in as_secrets(settings).items()})
    use_plugin_files(settings.plugins)
    return app.run()


def test_documented_page_has_address_and_menu_entry(with_pages: Settings) -> None:
    with TestClient(Starlette(routes=_Routes(with_pages).all())) as client:
        assert "<title>Sets in short – Answer Arena</title>" in client.get("/sets-in-short").text
    page = run(with_pages, "sets-in-short")
    assert pages()["sets-in-short"].menu == "More"
    assert "tiny: 12 questions" in html_of(page)


def test_failing_plugin_page_is_reported(with_pages: Settings) -> None:
    page = run(with_pages, "broken")
    assert not page.exception
    assert "The plugin page broken failed: KeyError: 'nothing here'" in page.error[0].value.replace("\\", "")
    (problem,) = added_pages().problems
    assert "failing.py has a page team, but that name is already in use." in problem
