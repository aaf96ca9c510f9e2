from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from arena.api.app import make_api, operations
from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import entrants_of
from arena.site.pages import pages
from tests.arena.api.conftest import api_of
from tests.private_texts import EVERY, OURS, REFERENCE, marks_in, private_round

NAMES = {
    "name": "first",
    "board": "first",
    "set": "tiny",
    "question_id": "q0",
    "content_hash": "",
    "number": "",
    "metric": "comprehensiveness-nli",
}
QUERIES: Mapping[str, tuple[str, ...]] = {
    "system": ("id=ours", "id=theirs&part=questions"),
    "question": ("id=q0", "id=q1", "id=q0&part=answers", "id=q1&part=facts"),
    "questions": ("", "words=item", "winner=ours"),
    "compare": ("a=ours&b=theirs",),
}
PROCESSES = 2


def addresses(arena: Arena, numbers: list[int]) -> Iterator[str]:
    for page in pages():
        for query in QUERIES.get(page, ("",)):
            yield f"/{page}?board=first&{query}"
    for method, path, _ in operations(make_api(arena).openapi()):
        if method != "GET":
            continue
        for number in numbers if "{number}" in path else [0]:
            named = {**NAMES, "name": "tiny" if path.startswith("/sets") else "first", "number": number}
            fields = re.findall(r"{(\w+)}", path)
            if set(fields) <= named.keys():
                yield f"/api/v1{path.format_map(named)}"


@pytest.mark.slow
def test_withheld_text_disappears_at_next_request(tmp_path: Path) -> None:
    arena, _ = private_round(tmp_path)
    submissions = {
        entrant.system: entrant.id for entrant in entrants_of(arena.store, arena.store.rounds.get("first"))
    }
    paths = [*addresses(arena, sorted(submissions.values()))]
    with ExitStack() as stack:
        sites = [
            stack.enter_context(api_of(arena.settings, tmp_path / f"log{number}"))
            for number in range(PROCESSES)
        ]
        clients = [
            stack.enter_context(httpx.Client(base_url=site.removesuffix("/api/v1"), timeout=120))
            for site in sites
        ]

        def marks() -> set[str]:
            """Return the marks in all responses; every process serves every address."""
            texts = [client.get(path).text for client in clients for path in paths]
            return {mark for text in texts for mark in marks_in(text)}

        def change(do: Callable[[], object], gone: set[str], left: set[str]) -> None:
            before = marks()
            assert gone <= before, f"missing before: {gone - before}"
            do()
            assert not gone & marks()
            assert left <= marks()

        arena.policies.show_texts("tiny", public=True)
        change(
            lambda: arena.policies.hide_references("tiny", hidden=True), {REFERENCE}, set(EVERY) - {REFERENCE}
        )
        arena.policies.hide_references("tiny", hidden=False)
        change(lambda: arena.policies.show_texts("tiny", public=False), set(EVERY), set())
        arena.policies.show_texts("tiny", public=True)
        change(
            lambda: arena.submissions.withdraw(submissions["ours"], caller=OPERATOR),
            {OURS},
            set(EVERY) - {OURS},
        )
        marks()
        arena.boards.retract("first", "NOTICEMARK", caller=OPERATOR)
        shown_still = {}
        for client in clients:
            for path in paths:
                answer = client.get(path)
                withheld = answer.status_code in {401, 404, 410} or "NOTICEMARK" in answer.text
                if "first" in path and ("theirs" in answer.text or not withheld):
                    shown_still[path] = answer.status_code
        assert not shown_still
        # Texts that the set itself shows are not part of the board.
        board = [path for path in paths if not path.startswith("/api/v1/sets/")]
        assert not {mark for client in clients for path in board for mark in marks_in(client.get(path).text)}
    arena.close()
