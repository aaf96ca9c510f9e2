from __future__ import annotations

import contextlib
import doctest
import re
import runpy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer
from markdown import markdown

from arena.cli.commands import all_commands, command
from arena.settings import read_settings
from data.errors import InputError
from leaderboard.formats.registry import battle_formats
from submissions.problem_codes import Code

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [*DOCS.rglob("*.md"), *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG"))]
)
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^(?:\$ )?(?:\S*/)?arena (.+)$", re.MULTILINE)
DONE_AS_WRITTEN = ("first-hour.md", "quickstart.md", "teams.md")
"""Pages whose commands are run by a test of `tests/arena`."""
SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(r"(?:arena|judges|leaderboard|submissions|data|tests|benchmarks|docs)/[\w./-]+\.\w+")
EXAMPLES = {"judges/metrics/brevity.py"}
"""Files that a page tells readers to write."""

Reference = dict[str, Any]
WRITER: Reference = runpy.run_path(str(DOCS / "reference.py"))
"""Names of the script that generates pages from the code."""
VARIABLES = WRITER["VARIABLES"]
MADE: Mapping[Path, str] = {DOCS / name: text for name, text in WRITER["pages"]().items()}


def test_help_of_battle_files_names_every_format() -> None:
    (option,) = (param for param in all_commands()["battles rate"].params if "--from" in param.opts)
    assert set(re.findall(r"`([a-z-]+)`", vars(option)["help"])) == {form.name for form in battle_formats()}


def test_documented_variables_are_those_read() -> None:
    environment = Recording()
    read_settings(environment)
    assert {variable.name for variable in VARIABLES} == environment.names


@pytest.mark.parametrize(
    ("name", "field"), [(variable.name, variable.field) for variable in VARIABLES if variable.field]
)
def test_environment_variables_change_settings(name: str, field: str) -> None:
    usual = getattr(read_settings({}), field)
    changed = set()
    words = ("7", "/srv", "batch", "replay", "json", "ray", "DEBUG", "open", "any")
    for value in (*words, "https://a.org", "a.org", "10.0.0.0/8"):
        with contextlib.suppress(InputError):
            changed.add(getattr(read_settings({name: value}), field))
    assert changed - {usual}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_pages_exist(page: Path) -> None:
    """Commands exist with their options: in blocks, and on current pages also in sentences."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    languages = set(re.findall(r"^```(\w*)\n", text, re.MULTILINE))
    assert not languages & {"bash", "console", "sh", "shell"} or page.name in DONE_AS_WRITTEN
    blocks = "".join(re.findall(r"^```(?:text|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    spans = [] if page.name == "CHANGELOG.md" else SPAN.findall(_prose(page))
    named = [" ".join(span.split())[6:] for span in spans if re.match(r"arena\s+[a-z]", span)]
    unknown = [line for line in [*COMMAND.findall(blocks), *named] if not _exists(line)]
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_paths_exist(page: Path) -> None:
    broken = []
    for target in LINK.findall(_prose(page)):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        linked = (page.parent / path).resolve() if path else page
        if not (linked in MADE or linked.exists()) or (anchor and anchor not in _anchors(linked)):
            broken.append(target)
    paths = {span for span in SPAN.findall(_prose(page)) if PATH.fullmatch(span)} - EXAMPLES
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert broken == missing == []


def test_python_examples_match_printed_output() -> None:
    failed, tried = doctest.testfile(str(DOCS / "python.md"), module_relative=False)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize(
    "page", [DOCS / "method.md", *sorted(DOCS.glob("method/*.md"))], ids=lambda page: page.stem
)
def test_formulas_become_mathml(page: Path) -> None:
    html = markdown(
        page.read_text(encoding="utf-8"),
        extensions=["tables", "pymdownx.superfences", "pymdownx.arithmatex"],
        extension_configs={"pymdownx.arithmatex": {"generic": True, "block_tag": "div"}},
    )
    page_html = runpy.run_path(str(DOCS / "mathml.py"))["on_page_content"](html)
    formulas = re.findall(r"<math.*?</math>", page_html, re.DOTALL)
    assert len(formulas) == html.count("arithmatex")
    assert not any("\\" in formula for formula in formulas)
    assert "$" not in re.sub(r"<code.*?</code>", "", page_html, flags=re.DOTALL)


def test_every_page_is_in_navigation() -> None:
    """The site lists every page except the card of a Space."""
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    missing = {page for page in pages if page not in listed and not page.startswith("deploy/")}
    assert missing == set()


@pytest.mark.parametrize(
    ("page", "heading", "names"),
    [
        ("judges.md", "Bundled judges", [path.stem for path in (ROOT / "judges" / "specs").glob("*.toml")]),
        ("submission-format.md", "Problems and their codes", list(Code)),
    ],
)
def test_every_judge_and_code_is_documented(page: str, heading: str, names: list[str]) -> None:
    section = (DOCS / page).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z0-9_-]+)` \|", section, re.MULTILINE)) == set(names)


class Recording(Mapping[str, str]):
    """Empty environment that records requested names."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _exists(line: str) -> bool:
    """Return whether a command line without its first word names a command and only its options."""
    here: Any = command()
    words = iter(re.split(r"\s+(?:[|;&<#]|\d?>|\|\|)", line)[0].split())
    for word in map(_first, words):
        options = {name: param for param in here.params for name in (*param.opts, *param.secondary_opts)}
        below = hasattr(here, "commands")
        if word.startswith("--"):
            if word.partition("=")[0] not in {*options, "--help"}:
                return False
            if below and not getattr(options.get(word), "is_flag", True):
                next(words, None)
        elif below:
            here = here.get_command(typer.Context(here), word)
            if here is None:
                return False
    return True


def _prose(page: Path) -> str:
    """Return a page without code blocks."""
    text = MADE.get(page) or page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(_prose(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _first(word: str) -> str:
    """Return the first of several names: `run` of `run|resume`."""
    return word.partition("|")[0] if re.match(r"[a-z-]+\|", word) else word
