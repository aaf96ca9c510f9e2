from __future__ import annotations

import json
import re
import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import Mock

import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.html_pages import macro
from arena.services.evidence.highlights import read_statements
from arena.services.evidence.questions import read_reasons
from arena.settings import MetricsAccess
from arena.site.app import make_app
from arena.site.server import CONFIGURATIONS, address_of, check_port, configuration
from arena.site.ui.html import Cell
from data.errors import ServeError
from hatch_build import OTHERS
from tests.served import published

ROOT = Path(__file__).parents[3]


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_port_in_use_says_how_to_choose_another(taken: int) -> None:
    with pytest.raises(ServeError, match=f"Port {taken} is in use.*--port"):
        check_port("127.0.0.1", taken)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70000), ("no.such.host.invalid", 8501)])
def test_address_that_cannot_be_is_refused(host: str, port: int) -> None:
    with pytest.raises(ServeError):
        check_port(host, port)


def test_printed_address_can_be_opened() -> None:
    assert address_of("0.0.0.0", 80) == "http://localhost:80"  # noqa: S104 - nothing is bound
    assert address_of("::1", 8501) == "http://[::1]:8501"


def test_configuration_is_the_file_that_streamlit_reads() -> None:
    options = configuration()
    assert options["server.fileWatcherType"] == "none"
    assert options["theme.dark.primaryColor"].startswith("#")
    assert options["client.showErrorDetails"] == "none"
    assert OTHERS[".streamlit/config.toml"] == "arena/site/config.toml"
    assert CONFIGURATIONS[0].name == "config.toml"
    assert CONFIGURATIONS[0].parent == ROOT / "arena" / "site"


def _contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ink", ["textColor", "linkColor", "primaryColor"])
@pytest.mark.parametrize("paper", ["backgroundColor", "secondaryBackgroundColor"])
def test_theme_has_the_contrast_of_wcag_aa(theme: str, ink: str, paper: str) -> None:
    options = configuration()
    assert _contrast(options[f"theme.{theme}.{ink}"], options[f"theme.{theme}.{paper}"]) >= 4.5


STYLES = (ROOT / "arena" / "site" / "assets" / "style.css").read_text(encoding="utf-8")
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLES)
}
WASHES = re.findall(r"light-dark\((#[0-9a-f]{8}), (#[0-9a-f]{8})\)", STYLES)


def _over(wash: str, paper: str) -> str:
    share = int(wash[7:9], 16) / 255
    parts = [(int(wash[at : at + 2], 16), int(paper[at : at + 2], 16)) for at in (1, 3, 5)]
    mixed = [round(above * share + below * (1 - share)) for above, below in parts]
    return "#" + "".join(f"{part:02x}" for part in mixed)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_shaded_cells_have_the_contrast_of_wcag_aa(scheme: int) -> None:
    """Figures can be read on every shade of the matrix and on every wash behind a word."""
    assert len(WASHES) > 8
    for wash in WASHES:
        shade = _over(wash[scheme], COLOURS["paper"][scheme])
        assert _contrast(COLOURS["ink"][scheme], shade) >= 4.5, wash
        assert _contrast(COLOURS["ink-soft"][scheme], shade) >= 4.5, wash


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_interval_bars_have_the_contrast_of_wcag_aa(scheme: int) -> None:
    """The bar of an interval stands out 3 to 1 from the paper of both schemes."""
    (bar,) = re.findall(r"\.aa-span \{[^}]*light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLES)
    assert _contrast(bar[scheme], COLOURS["paper"][scheme]) >= 3


def test_style_sheet_has_the_themes_colours() -> None:
    """Our own tables stand on the paper and in the ink of Streamlit's theme."""
    options = configuration()
    for scheme, name in enumerate(("light", "dark")):
        assert COLOURS["paper"][scheme] == options[f"theme.{name}.backgroundColor"]
        assert COLOURS["ink"][scheme] == options[f"theme.{name}.textColor"]


def test_routes_beside_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        for name in ("metrics",):
            answer = client.get(f"/{name}")
            assert (answer.status_code, answer.json()["status"]) == (503, 503), name
            assert "cannot do this now" in answer.text


class _Reader(HTMLParser):
    """Collects what a browser would make of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts += [value or "" for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_text_cannot_become_markup() -> None:
    evil = "</td><script>alert('1')</script>\"&lt;"
    reader = _Reader()
    reader.feed(macro("paragraph", [evil, Cell(evil, title=evil, sub=evil)]))
    reader.close()
    assert reader.tags == ["p", "span", "span"]
    assert [text for text in reader.texts if text != "aa-sub"] == [evil] * 4


def test_reasons_of_the_embedded_judge_become_lists() -> None:
    side = {
        "coverage": 0.5,
        "padding": 0.1,
        "covered": [{"text": "A fact.", "passage": "p1"}],
        "missed": [],
        "contradicted": [{"text": "B.", "passage": "p2", "answer": "Not B.", "kind": "number"}],
        "counts": {"covered": 3, "missed": 0, "contradicted": 1},
    }
    reasons = read_reasons(json.dumps({"yardstick": "passages", "a": side, "b": "no answer"}))
    assert reasons is not None
    covered, missed, _, contradicted = reasons.a.facts
    assert ([(one.text, one.passages) for one in covered.facts], covered.count) == ([("A fact.", ("p1",))], 3)
    assert missed.count == 0
    assert contradicted.facts[0].instead == "Not B."
    assert reasons.b.says == "no answer"


@pytest.mark.parametrize(
    "prose", ["Because it is better.", "", "{}", "[]", '{"yardstick": 1, "a": {}, "b": 2}']
)
def test_prose_is_no_list(prose: str) -> None:
    assert read_reasons(prose) is None


def test_statements_of_any_shape_are_read() -> None:
    found = read_statements(
        {
            "covered": ["one", {"id": "c1", "text": "two", "passages": ["p", "q"]}],
            "missing": [{"id": "c2", "text": "three"}, {"id": "c3", "text": "four"}],
            "basis": [{"id": "c3", "text": "four"}],
            "other": 3,
        }
    )
    assert [(one.text, one.passages) for one in found] == [
        ("four", ()),
        ("three", ()),
        ("one", ()),
        ("two", ("p", "q")),
    ]
