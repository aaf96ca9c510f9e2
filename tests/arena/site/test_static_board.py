"""A board as a folder of pages: whole, harmless, and without what the public may not see."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from arena.container import Arena, open_arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from arena.site.export.writer import Export, write_site
from data.errors import ConflictError, FileFormatError, NotFoundError, RetractedError
from data.records import SystemCard
from tests.arena.conftest import Commands

CONTACT = "only-for-us@example.org"


@dataclass(slots=True)
class _Page(HTMLParser):
    """What a test wants to know of a page."""

    text: str
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)
    policy: str = ""
    title: str = ""
    _in_title: bool = False

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element has."""
        named = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes |= named.keys()
        self._in_title = tag == "title"
        if "id" in named:
            self.ids.append(named["id"])
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        self.loaded += [named[name] for name in ("src", "srcset", "data", "poster") if name in named]
        if tag == "link":
            self.loaded.append(named["href"])
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"]

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - named by the library
        """Leave the title."""
        self._in_title = False

    def handle_data(self, data: str) -> None:
        """Note the title."""
        if self._in_title:
            self.title += data


def _pages(folder: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}


def _texts(folder: Path) -> Iterator[str]:
    """Everything that an export holds, archives as they are."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.read_bytes().decode(errors="replace")


@pytest.fixture(scope="session")
def tiny(published: Settings, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Export]:
    """The board of the judged round, written into a folder whose name needs care in addresses."""
    folder = tmp_path_factory.mktemp("export") / "a board & more"
    arena = open_arena(published)
    export = write_site(arena, "tiny", folder)
    arena.close()
    return folder, export


@pytest.fixture
def judged(filled: Callable[..., Arena], answers_file: Callable[..., Path]) -> Arena:
    """An arena with a published round `r` of four systems, one with a contact."""
    arena = filled()
    card = SystemCard(model="a model", contact=CONTACT)
    path = answers_file("carded", "Item {n} is {word}.")
    arena.submissions.add(path, "tiny", system="carded", card=card)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    arena.boards.publish("r", report=lambda _line: None, score=False)
    return arena


def test_every_link_leads_to_a_page_or_file_of_the_export(tiny: tuple[Path, Export]) -> None:
    """Links and style sheets are relative, stay inside the folder, and exist; so do the places on pages."""
    folder, export = tiny
    pages = _pages(folder)
    assert export.questions == 12
    assert len(list(folder.rglob("*.html"))) == 3 + 4 + 1 + 12  # standings, method, data; systems; questions
    followed = set()
    for path, page in pages.items():
        for address in (*page.links, *page.loaded):
            parts = urlsplit(address)
            assert (parts.scheme, parts.netloc, parts.query) == ("", "", ""), f"{path}: {address}"
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_relative_to(folder.resolve()), f"{path}: {address}"
            assert target.is_file(), f"{path}: {address}"
            if parts.fragment:
                assert parts.fragment in _Page(target.read_text()).ids, f"{path}: {address}"
            followed.add(target.resolve())
    assert {path.resolve() for path in pages} <= followed
    assert {path.resolve() for path in (folder / "data").iterdir()} <= followed


def test_pages_run_nothing_and_load_nothing_from_elsewhere(tiny: tuple[Path, Export]) -> None:
    """No script, no handler, no frame, no form; markup in answers is text; the policy says so too."""
    folder, _ = tiny
    pages = _pages(folder)
    for page in pages.values():
        assert {"script", "iframe", "form", "img", "object", "embed", "base"}.isdisjoint(page.tags)
        assert not [name for name in page.attributes if name.startswith("on")]
        assert "default-src 'none'" in page.policy
        assert "script-src" not in page.policy
    evidence = "".join(page.text for path, page in pages.items() if path.parent.name == "questions")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in evidence


def test_pages_are_in_order_for_screen_readers(tiny: tuple[Path, Export]) -> None:
    """Each page has a title of its own, one H1, no jump between levels, a language, and no id twice."""
    pages = _pages(tiny[0])
    assert len({page.title for page in pages.values()}) == len(pages)
    for path, page in pages.items():
        levels = [int(tag[1]) for tag in page.tags if tag in {"h1", "h2", "h3", "h4"}]
        assert levels[0] == 1, path
        assert levels.count(1) == 1, path
        assert all(after - before <= 1 for before, after in pairwise(levels)), path
        assert len(page.ids) == len(set(page.ids)), path
        assert '<html lang="en">' in page.text
        assert "main" in page.tags


def test_question_has_answers_battles_and_reasons(tiny: tuple[Path, Export]) -> None:
    """The page of a question says who beat whom, what the judge found, and what answers cover."""
    text = (tiny[0] / "questions" / "00005.html").read_text()
    for words in (
        "What do we know of item 4?",
        "beats",
        "shown first",
        "Covers",
        "judge: lexical",
        "Passages",
    ):
        assert words in text
    assert "A covered statement." in text


def test_same_board_gives_the_same_folder(
    published: Settings, tiny: tuple[Path, Export], tmp_path: Path
) -> None:
    """An export is the same each time, so that a repository of pages changes with the board alone."""
    arena = open_arena(published)
    write_site(arena, "tiny", tmp_path / "again")
    arena.close()
    first, again = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tiny[0], tmp_path / "again")
    )
    assert first == again


def test_board_of_counts_has_pages_without_questions(published: Settings, tmp_path: Path) -> None:
    """A board that was published elsewhere has standings, systems and data, and says why no questions."""
    arena = open_arena(published)
    export = write_site(arena, "rag-qa-arena", tmp_path / "paper")
    arena.close()
    assert export.questions == 0
    assert not (tmp_path / "paper" / "questions").exists()
    assert "published elsewhere" in (tmp_path / "paper" / "data.html").read_text()
    assert len(list((tmp_path / "paper" / "systems").iterdir())) == 12


def test_another_export_takes_the_place_of_the_first(judged: Arena, tmp_path: Path) -> None:
    """What an earlier export left is gone, what begins with a dot stays, files of others are not touched."""
    folder = tmp_path / "pages"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("mine")
    write_site(judged, "r", folder)
    (folder / "questions" / "99999.html").write_text("stale")
    export = write_site(judged, "r", folder, questions=False)
    assert (folder / ".git" / "HEAD").read_text() == "mine"
    assert not (folder / "questions").exists()
    assert export.withheld == "they were left out"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(ConflictError, match="something else"):
        write_site(judged, "r", tmp_path / "other")
    with pytest.raises(ConflictError, match="something else"):
        write_site(judged, "r", tmp_path / "other" / "thesis.txt")
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_site(judged, "r", Path("/proc/nowhere"))


def test_export_has_what_the_public_sees_and_nothing_else(judged: Arena, tmp_path: Path) -> None:
    """Contacts, withdrawn answers, and rationales that quote those are in no file; their places stay."""
    mark = "weighs 99 grams and more"
    write_site(judged, "r", tmp_path / "before")
    assert any(mark in text for text in _texts(tmp_path / "before"))
    assert not any(CONTACT in text for text in _texts(tmp_path / "before"))
    (one,) = judged.store.submissions.find(set_name="tiny", system="wrong")
    judged.submissions.withdraw(one.id, reason="wrong file")
    write_site(judged, "r", tmp_path / "after")
    assert not any(mark in text for text in _texts(tmp_path / "after"))
    assert "wrong" in (tmp_path / "after" / "index.html").read_text()


def test_hidden_references_are_in_no_file(judged: Arena, tmp_path: Path) -> None:
    """A set that hides its references hides them from an export too, with the reasons that quote them."""
    reference = judged.store.sets.question("tiny", "q3").reference
    assert reference is not None
    assert any(reference in text for text in _exported(judged, tmp_path / "before"))
    judged.policies.hide_references("tiny", hidden=True)
    after = list(_exported(judged, tmp_path / "after"))
    assert not any(reference in text for text in after)
    assert not any("Covers" in text for text in after)


def _exported(arena: Arena, folder: Path) -> Iterator[str]:
    write_site(arena, "r", folder)
    return _texts(folder / "questions")


def test_texts_that_may_not_be_handed_on_are_left_out(judged: Arena, tmp_path: Path) -> None:
    """Where a set's texts are not public, neither question nor answer is in any file; the figures are."""
    judged.policies.show_texts("tiny", public=False)
    export = write_site(judged, "r", tmp_path / "out")
    assert "public_texts" in export.withheld
    assert "public_texts" in (tmp_path / "out" / "data.html").read_text()
    for text in _texts(tmp_path / "out"):
        assert "What do we know of item" not in text
        assert "grams" not in text


def test_what_is_not_public_is_not_exported(filled: Callable[..., Arena], tmp_path: Path) -> None:
    """A round that is not published has no board; a retracted board is refused with its notice."""
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    with pytest.raises(NotFoundError):
        write_site(arena, "r", tmp_path / "out")
    arena.boards.publish("r", report=lambda _line: None, score=False)
    arena.boards.retract("r", "A wrong file.")
    with pytest.raises(RetractedError, match="A wrong file"):
        write_site(arena, "r", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_command_writes_the_folder_and_says_what_it_holds(
    run: Commands, judged: Arena, tmp_path: Path
) -> None:
    """`leaderboard export --format site` counts what it wrote; what it cannot write it says in one line."""
    found = run.json("leaderboard", "export", "--format", "site", "r", tmp_path / "out", "--json")
    assert found["questions"] == 12
    assert found["files"] == sum(path.is_file() for path in (tmp_path / "out").rglob("*"))
    assert json.loads((tmp_path / "out" / "board.json").read_text())["board"] == "r"
    code, _, said = run("leaderboard", "export", "--format", "site", "nothing", tmp_path / "none")
    assert (code, said.count("\n")) == (1, 1)
    code, out, said = run(
        "leaderboard", "export", "--format", "site", "r", tmp_path / "out", "--no-questions"
    )
    assert (code, said) == (0, "")
    assert "0 questions" in out
