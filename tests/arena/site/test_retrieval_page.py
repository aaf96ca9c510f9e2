"""The page of retrieval boards, without a browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.accounts.sessions import COOKIE
from arena.settings import Settings
from data.records import SubmissionKind, TokenScope
from tests.arena.conftest import write_set
from tests.opened_pages import page_of

FOUND = {"first": ("q{at}-p1", "q{at}-p2"), "second": ("<b>x</b>", "q{at}-p1"), "third": ("q{at}-p2", "y")}


@pytest.fixture(scope="module")
def arena_of_runs(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Arena]:
    """The small set with diversity qrels and three runs of the team `ours`."""
    folder = tmp_path_factory.mktemp("retrieval-page")
    shutil.copyfile(sqlite_template, folder / "arena.sqlite")
    arena = Arena(Settings(home=folder, database_url=f"sqlite:///{folder / 'arena.sqlite'}"))
    arena.sets.import_from(write_set(folder))
    arena.teams.add("ours", title="Ours", caller=OPERATOR)
    qrels = folder / "qrels"
    qrels.write_text("".join(f"q{at} {part} q{at}-p{part} 1\n" for at in range(12) for part in (1, 2)))
    arena.set_qrels.attach("tiny", qrels)
    for system, passages in FOUND.items():
        run = folder / f"{system}.trec"
        lines = [
            f"q{at} Q0 {name.format(at=at)} {rank} {9 - rank} r\n"
            for at in range(12 if system == "first" else 11)
            for rank, name in enumerate(passages, start=1)
        ]
        run.write_text("".join(lines))
        arena.submissions.add(run, "tiny", system=system, kind=SubmissionKind.CONTEXTS, team="ours")
    yield arena
    arena.close()


@pytest.fixture
def visit(arena_of_runs: Arena, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Open the page, as the public or as the team: `visit(ours=True, measure="AP")`."""
    made = arena_of_runs.tokens.create(name="t", scopes={TokenScope.READ}, team="ours", caller=OPERATOR)

    def open_page(*, ours: bool = False, **query: str) -> AppTest:
        page = page_of(arena_of_runs.settings, "retrieval.retrieval_page", **query)
        cookie = arena_of_runs.sessions.sign_in(made.secret, client="test").cookie if ours else ""
        monkeypatch.setattr(ContextProxy, "cookies", property(lambda _self: {COOKIE: cookie}))
        page.run()
        assert not page.exception
        return page

    return open_page


def _words(page: AppTest) -> str:
    return re.sub(r"<[^>]*>", " ", "".join(found.proto.body for found in page.get("html")))


def test_page_says_who_is_best_and_how_surely(visit: Callable[..., AppTest]) -> None:
    """The headline, the table, all measures, the paired differences and what counts as 0 are there."""
    page = visit(measure="AP", a="first", b="third")
    words = _words(page)
    assert "first has the highest MAP, 1.000; the questions separate it from every other system." in words
    assert "second retrieved nothing for 1 of them, which count as 0." in words
    assert "first minus third" in words
    for label in ("nDCG@10", "α-nDCG@20", "ERR-IA@10", "Coverage@|Z*|", "Density@|Z*|"):
        assert label in words
    labels = {str(one.label) for one in page.get("download_button") if isinstance(one, Element)}
    assert {"Board, CSV", "By question, PARQUET", "trec_eval, third"} <= labels


def test_domain_and_measure_come_from_the_address(visit: Callable[..., AppTest]) -> None:
    """A permalink names measure and domain; every domain has a board of its own."""
    words = _words(visit(measure="StRecall@10", domain="d1"))
    assert "A tiny set: Coverage@10, One;" in words


def test_team_reads_what_its_run_missed(visit: Callable[..., AppTest]) -> None:
    """A question shows the team its passages with new subtopics, and those that were missed, as text."""
    words = _words(visit(ours=True, id="q2"))
    assert "Relevant passages that are not among them: 1." in words
    assert "q2-p2" in words
    assert "Subtopics that none of these answers: 2." in words
    assert "&lt;b&gt;x&lt;/b&gt;" in words
    assert "shown to its team and the organisers" not in words


def test_public_reads_values_without_passages(visit: Callable[..., AppTest]) -> None:
    """Whoever is not of the team is told so; a question that is not there is a sentence."""
    assert _words(visit(id="q2")).count("shown to its team and the organisers") == len(FOUND)
    assert "type the id of one that the board counts" in _words(visit(id="nothing"))
