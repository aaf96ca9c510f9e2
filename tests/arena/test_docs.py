"""What the documentation says is what the program has: commands, settings, judges, codes, links."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from arena.cli.app import build
from submissions.codes import Code

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    + [page for page in DOCS.rglob("*.md") if "changes" not in page.relative_to(DOCS).parts]
)
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
OPTION = re.compile(r"`(--[a-z-]+)[^`]*`")
MAKE = re.compile(r"\bmake ([a-z][a-z-]*)\b")
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")


def test_cli_page_lists_exactly_the_commands() -> None:
    """Every command of the program has its section in docs/cli.md, and no other has one."""
    documented, existing = set(documented_options()), set(existing_options())
    assert documented - existing == set(), "docs/cli.md has commands that do not exist"
    assert existing - documented == set(), "docs/cli.md lacks commands"


def test_cli_page_lists_exactly_the_options_of_each_command() -> None:
    """A command's section in docs/cli.md lists each of its options, and no other."""
    documented, existing = documented_options(), existing_options()
    wrong = {
        command: {
            "not there": sorted(documented[command] - existing[command]),
            "not documented": sorted(existing[command] - documented[command]),
        }
        for command in documented.keys() & existing.keys()
        if documented[command] != existing[command]
    }
    assert wrong == {}


def test_settings_table_has_exactly_the_variables_that_are_read() -> None:
    """The table under "Settings" in docs/operations.md and arena/settings.py name the same variables."""
    section = (
        (DOCS / "operations.md").read_text(encoding="utf-8").split("\n## Settings\n")[1].split("\n## ")[0]
    )
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", section, re.MULTILINE))
    tree = ast.parse((ROOT / "arena" / "settings.py").read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    read = {text for text in texts if isinstance(text, str) and VARIABLE.fullmatch(text)}
    assert documented == read


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file of this project, and a heading where it names one."""
    broken = []
    for target in LINK.findall(_prose(page)):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists() or (anchor and anchor not in _anchors(linked)):
            broken.append(target)
    assert broken == []


def test_every_bundled_judge_is_documented() -> None:
    """docs/judges.md names each judge that is bundled, and names no other in its table of them."""
    text = (DOCS / "judges.md").read_text(encoding="utf-8")
    section = text.split("\n## Bundled judges\n")[1].split("\n## ")[0]
    documented = set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE))
    assert documented == {spec.stem for spec in (ROOT / "judges" / "specs").glob("*.toml")}


def test_every_checker_code_is_documented() -> None:
    """docs/submission-format.md explains each code that a check of answers can report, and no other."""
    text = (DOCS / "submission-format.md").read_text(encoding="utf-8")
    section = text.split("\n## Problems and their codes\n")[1].split("\n## ")[0]
    documented = set(re.findall(r"^\| `([a-z0-9-]+)` \|", section, re.MULTILINE))
    assert documented == {code.value for code in Code}


def test_make_commands_exist() -> None:
    """Every `make …` that README.md and CONTRIBUTING.md tell people to run is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {
        target
        for name in ("README.md", "CONTRIBUTING.md")
        for code in re.findall(r"`([^`]+)`", (ROOT / name).read_text(encoding="utf-8"))
        for target in MAKE.findall(code)
    }
    assert {"demo", "test"} <= named
    assert named <= targets


def documented_options() -> dict[str, set[str]]:
    """The options by command, as docs/cli.md has them."""
    found: dict[str, set[str]] = {}
    for section in re.split(
        r"^(?=#{2,3} )", (DOCS / "cli.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    ):
        matched = re.match(r"### `(arena(?: [a-z-]+)+)", section)
        if matched:
            entries = [line.partition(": ")[0] for line in section.splitlines() if line.startswith("- ")]
            found[_command(matched.group(1))] = {
                option for entry in entries for option in OPTION.findall(entry)
            }
    return found


def existing_options() -> dict[str, set[str]]:
    """The options by command, as the program has them."""
    return {
        command: {
            name
            for parameter in found.params
            if parameter.param_type_name == "option"
            for name in (*parameter.opts, *parameter.secondary_opts)
            if name.startswith("--")
        }
        for command, found in _walk("arena", typer.main.get_command(build()))
    }


def _walk(name: str, command: object) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
        return
    for part, found in below.items():
        yield from _walk(f"{name} {part}", found)


def _command(heading: str) -> str:
    """The command's words in a heading, without an option that follows them."""
    return heading.partition(" --")[0].strip()


def _prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked, as GitHub makes them."""
    headings = HEADING.findall(_prose(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
