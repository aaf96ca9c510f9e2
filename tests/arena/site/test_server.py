from __future__ import annotations

import re
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock
from xml.etree.ElementTree import fromstring

import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.html_pages import macro
from arena.settings import MetricsAccess
from arena.site.app import make_app
from arena.site.server import check_port, configuration
from arena.site.ui.html import Cell
from data.errors import ServeError
from tests.served import published

ROOT = Path(__file__).parents[3]


def test_unusable_address_is_refused() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(ServeError, match=f"Port {port} is in use.*--port"):
            check_port("127.0.0.1", port)
    for host, port in (("127.0.0.1", 70_000), ("no.such.host.invalid", 8501)):
        with pytest.raises(ServeError):
            check_port(host, port)


STYLES = (ROOT / "arena" / "site" / "assets" / "style.css").read_text(encoding="utf-8")
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLES)
}


def test_style_sheet_has_theme_colours() -> None:
    """Our tables use the background and text colours of Streamlit's theme."""
    options = configuration()
    for scheme, name in enumerate(("light", "dark")):
        assert COLOURS["paper"][scheme] == options[f"theme.{name}.backgroundColor"]
        assert COLOURS["ink"][scheme] == options[f"theme.{name}.textColor"]


def test_non_page_routes_respond(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock(wraps=make_api)
    monkeypatch.setattr("arena.api.app.make_api", made)
    file, rubbish = tmp_path / "arena.sqlite", tmp_path / "rubbish"
    old, new = sqlite3.connect(published().home / "arena.sqlite"), sqlite3.connect(file)
    with closing(old), closing(new):
        old.backup(new)
    settings = replace(
        published(), home=tmp_path, database_url=f"sqlite:///{file}", metrics_access=MetricsAccess.OPEN
    )
    with TestClient(make_app(settings), follow_redirects=False) as client:
        assert client.get("/healthz").json() == {"status": "ok", "boards": 2}
        made.assert_not_called()
        with ThreadPoolExecutor(4) as at_once:
            answers = list(at_once.map(lambda _: client.get("/api/v1/health").json(), range(4)))
        assert answers == [{"status": "ok", "boards": 2}] * 4
        made.assert_called_once()
        rubbish.write_bytes(b"no database" * 1_000)
        rubbish.replace(file)
        answer = client.get("/metrics")
        assert (answer.status_code, answer.json()["status"]) == (503, 503)
        assert "cannot do this now" in answer.text


def test_text_cannot_become_markup() -> None:
    evil = "</td><script>alert('1')</script>\"&lt;"
    made = fromstring(macro("paragraph", [evil, Cell(evil, title=evil, sub=evil)]))  # noqa: S314 - our own
    assert [node.tag for node in made.iter()] == ["p", "span", "span"]
    titles = [node.get("title") for node in made.iter() if node.get("title")]
    assert [*titles, "".join(made.itertext())] == [evil, evil * 3]
