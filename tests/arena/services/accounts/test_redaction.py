from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.container import Arena
from arena.services.accounts.redaction import hide_addresses
from arena.site.board_file import write_board
from leaderboard.vocabulary import BoardForm
from tests.arena.conftest import Fill, Serve, mix, play

pytestmark = pytest.mark.slow
PATHS = (
    "/leaderboards",
    "/leaderboards/r",
    "/rounds/r",
    "/rounds/r/battles",
    "/rounds/r/questions/q0",
    "/rounds",
)


@pytest.fixture
def judged(filled: Fill, scripted_llm: Serve, tmp_path: Path) -> Arena:
    """Published round with attacks and failed requests."""
    llm = scripted_llm(faults={"bad_request": 0.1})
    arena = mix(filled(endpoint=llm.url), tmp_path)
    counts = play(arena, judge="reference-free")
    assert counts.judged
    assert counts.failed
    arena.boards.publish("r", report=lambda _: None, score=False, partial=True)
    return arena


def _texts(arena: Arena, folder: Path) -> Iterator[tuple[str, str]]:
    """Return all public texts of an arena by location."""
    write_board(arena, "r", folder / "board.html")
    arena.boards.export_round("r", folder / "export")
    arena.ranking_results.write(arena.boards.get("r"), folder)
    for path in folder.rglob("*"):
        if path.is_file() and "home" not in path.relative_to(folder).parts:
            yield str(path), path.read_bytes().decode(errors="replace")
    for form in BoardForm:
        yield form, arena.boards.file("r", form).content.decode(errors="replace")
    with TestClient(make_api(arena)) as anybody:
        for route in PATHS:
            answer = anybody.get(route)
            assert answer.status_code == 200, route
            yield route, answer.text
    yield "snapshot", str(arena.boards.get("r").standings)


def test_public_texts_hide_endpoint_addresses(judged: Arena, tmp_path: Path) -> None:
    """Static site, exports, board files, API and snapshot; also failed battles."""
    folder = tmp_path / "out"
    folder.mkdir()
    endpoint = urlsplit(judged.settings.endpoint)
    texts = dict(_texts(judged, folder))
    assert len(texts) > 15
    named = {
        place: text[max(0, text.index(word) - 80) : text.index(word) + 80]
        for place, text in texts.items()
        for word in (endpoint.netloc, str(endpoint.hostname))
        if word in text
    }
    assert not named
    assert any("(address)" in text for text in texts.values())


def test_addresses_in_sentence_are_hidden() -> None:
    sentence = (
        "Cannot connect to host vllm.internal:8000, see http://vllm.internal:8000/v1 or 10.0.0.7 port 8000"
    )
    assert hide_addresses(sentence, ["vllm.internal"]) == (
        "Cannot connect to host (address):8000, see (address) or (address) port 8000"
    )
