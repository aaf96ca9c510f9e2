from __future__ import annotations

import contextlib
import doctest
import re
import runpy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
from markdown import markdown

from arena.cli.commands import all_commands, command
from arena.settings import read_settings
from data.errors import InputError
from judges.catalogue import load_spec
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
"""Pages whose blocks of commands a test of `tests/arena` runs."""
SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(r"(?:arena|judges|leaderboard|submissions|data|tests|benchmarks|docs)/[\w./-]+\.\w+")
EXAMPLES = {"judges/metrics/brevity.py"}
"""Files that a page tells readers to write."""
MAKE = re.compile(r"\bmake ([a-z][a-z-]*)\b")

Reference = dict[str, Any]
WRITER: Reference = runpy.run_path(str(DOCS / "reference.py"))
"""The script that makes pages from the code, as its names."""
VARIABLES = WRITER["VARIABLES"]
MADE: Mapping[Path, str] = {DOCS / name: text for name, text in WRITER["pages"]().items()}


def test_names_of_columns_are_documented() -> None:
    written = (DOCS / "submission-format.md").read_text(encoding="utf-8")
    assert "\n".join(WRITER["columns"]()) in written


def test_pages_that_are_made_are_not_committed() -> None:
    assert not any(page.exists() for page in MADE)
    assert "### `arena rank FILE…`" in MADE[DOCS / "cli.md"]
    assert "| `ARENA_HOME` |" in MADE[DOCS / "settings.md"]
    assert "- `InputError` (422, " in MADE[DOCS / "errors.md"]


def test_every_command_has_one_section() -> None:
    lines = list(WRITER["commands"]())
    sections = [line for line in lines if re.match(r"#{3,4} `", line)]
    existing = [f"arena {name}" for name in all_commands()]
    assert len(existing) > 60
    for name in existing:
        assert len([line for line in sections if re.match(rf"#+ `{name}[` ](?![a-z])", line)]) == 1, name


def test_repeatable_options_say_so() -> None:
    silent = [
        (name, parameter.name)
        for name, found in all_commands().items()
        for parameter in found.params
        if getattr(parameter, "multiple", False) and "repeatable" not in getattr(parameter, "help", "")
    ]
    assert silent == []


def test_help_of_battle_files_names_every_format() -> None:
    (option,) = (one for one in all_commands()["battles rate"].params if "--from" in one.opts)
    assert set(re.findall(r"`([a-z-]+)`", vars(option)["help"])) == {one.name for one in battle_formats()}


def test_settings_are_exactly_the_variables_that_are_read() -> None:
    environment = Recording()
    read_settings(environment)
    assert {variable.name for variable in VARIABLES} == environment.asked


@pytest.mark.parametrize(
    ("name", "field"), [(variable.name, variable.field) for variable in VARIABLES if variable.field]
)
def test_each_variable_changes_the_setting_that_it_names(name: str, field: str) -> None:
    usual = getattr(read_settings({}), field)
    changed = set()
    for value in (
        "7",
        "/srv",
        "batch",
        "replay",
        "json",
        "ray",
        "DEBUG",
        "open",
        "any",
        "https://a.org",
        "a.org",
        "10.0.0.0/8",
    ):
        with contextlib.suppress(InputError):
            changed.add(getattr(read_settings({name: value}), field))
    assert changed - {usual}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_pages_exist(page: Path) -> None:
    """Commands exist with their options: those in blocks, and on current pages those in sentences."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    languages = set(re.findall(r"^```(\w*)\n", text, re.MULTILINE))
    assert not languages & {"bash", "console", "sh", "shell"} or page.name in DONE_AS_WRITTEN
    blocks = "".join(re.findall(r"^```(?:text|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    spans = [] if page.name == "CHANGELOG.md" else SPAN.findall(_prose(page))
    named = [" ".join(span.split())[6:] for span in spans if re.match(r"arena\s+[a-z]", span)]
    unknown = [line for line in [*COMMAND.findall(blocks), *named] if not _exists(line)]
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_paths_lead_somewhere(page: Path) -> None:
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


def test_examples_in_python_run_as_printed() -> None:
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
    shown = runpy.run_path(str(DOCS / "mathml.py"))["on_page_content"](html)
    formulas = re.findall(r"<math.*?</math>", shown, re.DOTALL)
    assert len(formulas) == html.count("arithmatex")
    assert not any("\\" in formula for formula in formulas)
    assert "$" not in re.sub(r"<code.*?</code>", "", shown, flags=re.DOTALL)


def test_every_page_is_in_the_site() -> None:
    """The site lists every page but the card of a Space."""
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    missing = {page for page in pages if page not in listed and not page.startswith("deploy/")}
    assert missing == set()


def test_every_bundled_judge_is_documented() -> None:
    text = (DOCS / "judges.md").read_text(encoding="utf-8")
    section = text.split("\n## Bundled judges\n")[1].split("\n## ")[0]
    documented = set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE))
    assert documented == {spec.stem for spec in (ROOT / "judges" / "specs").glob("*.toml")}


def test_endpoints_of_the_page_are_judges(tmp_path: Path) -> None:
    text = (DOCS / "judges.md").read_text(encoding="utf-8")
    section = text.split("\n## Endpoints\n")[1].split("\n## ")[0]
    hosts = []
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", section, re.DOTALL)):
        file = tmp_path / f"service{number}.toml"
        file.write_text(block, encoding="utf-8")
        hosts.append(urlsplit(load_spec(str(file)).endpoint).netloc)
    assert hosts == ["openrouter.ai", "localhost:8000", "localhost:30000", "localhost:11434"]


def test_every_checker_code_is_documented() -> None:
    text = (DOCS / "submission-format.md").read_text(encoding="utf-8")
    section = text.split("\n## Problems and their codes\n")[1].split("\n## ")[0]
    documented = set(re.findall(r"^\| `([a-z0-9_-]+)` \|", section, re.MULTILINE))
    assert documented == {code.value for code in Code}


def test_make_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {
        target
        for name in ("README.md", "CONTRIBUTING.md")
        for code in SPAN.findall(_prose(ROOT / name))
        for target in MAKE.findall(code)
    }
    assert {"demo", "test"} <= named
    assert named <= targets


class Recording(Mapping[str, str]):
    """An environment without variables, which records those that are asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _exists(line: str) -> bool:
    """Return whether a command line without its first word names a command and only options of it."""
    here: Any = command()
    words = iter(re.split(r"\s+(?:[|;&<#]|\d?>|\|\|)", line)[0].split())
    for word in map(_first, words):
        options = {name: one for one in here.params for name in (*one.opts, *one.secondary_opts)}
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
    """Return a page without its blocks of code."""
    text = MADE.get(page) or page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(_prose(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _first(word: str) -> str:
    """Return the first of several names: `run` of `run|resume`."""
    return word.partition("|")[0] if re.match(r"[a-z-]+\|", word) else word
