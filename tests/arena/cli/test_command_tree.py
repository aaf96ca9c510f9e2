from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from arena.cli.commands import NOUNS, PARTS, VERBS, build
from arena.cli.tree.pages import examples_of
from arena.cli.tree.second_names import MOVED
from data.errors import InputError

MAX_COMMANDS = 64
ROOT = typer.main.get_command(build())


def _walk(command: Any, *path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - Typer's own classes
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(path), command
        return
    for name, found in below.items():
        yield from _walk(found, *path, name)


COMMANDS = dict(_walk(ROOT))


def _said(*words: str) -> tuple[int, str]:
    """The exit code of a command line, and what it says."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            ROOT.main(list(words), prog_name="arena")
        except SystemExit as ended:
            return int(ended.code or 0), told.getvalue()
        except InputError as error:
            return 1, f"{told.getvalue()}{error}"
    return 0, told.getvalue()


def test_there_are_few_commands() -> None:
    assert len(COMMANDS) <= MAX_COMMANDS


def test_every_table_that_a_command_reads_may_come_by_a_pipe() -> None:
    """A pipe gives its content once, and readers look twice: what is read is copied by `whole_file`."""
    written = {"--out", "--export", "--summary", "destination"}
    words = {"--text", "--prompt", "--consent", "--instructions"}
    plain = {
        f"{name} {parameter.opts[-1]}"
        for name, command in COMMANDS.items()
        for parameter in command.params
        if "Path" in str(vars(parameter))
        and parameter.callback is None
        and parameter.metavar in {"FILE", "SRC", "VOTES", "PATH"}
        and parameter.opts[-1] not in written | words
    }
    assert plain <= {"corpora import path", "db restore source"}


def test_help_names_each_command_in_its_part() -> None:
    """`arena --help` shows five parts, and each noun and verb stands in one of them."""
    _, text = _said("--help")
    places = [text.index(f"{part}:") for part in PARTS]
    assert places == sorted(places)
    assert sorted(name for names in PARTS.values() for name in names) == sorted({**NOUNS, **VERBS})


@pytest.mark.parametrize("path", COMMANDS)
def test_help_begins_with_an_example_that_is_understood(path: str) -> None:
    """Help begins with an example that is a command line of its command, and has no words of our types."""
    code, text = _said(*path.split(), "--help")
    assert code == 0
    assert text.startswith(f"Example: arena {path}")
    assert not re.search(r"range>|\[\[|^Usage.*\{|2147483647", text, re.MULTILINE)
    for example in examples_of(COMMANDS[path]):
        words = shlex.split(example)[1:]
        assert words[: len(path.split())] == path.split()
        given = words[len(path.split()) :]
        assert COMMANDS[path].make_context(path, given).params


@pytest.mark.parametrize("path", MOVED)
def test_second_name_of_a_command_shows_its_help(path: str) -> None:
    code, text = _said(*path.split(), "--help")
    assert code == 0
    assert f"Example: arena {path.split(maxsplit=1)[0]} {MOVED[path][0]}" in text


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("rouns", "rounds"),
        ("rounds stauts", "status"),
        ("rounds status --jsn", "--json"),
    ],
)
def test_misspelt_word_is_answered_by_the_nearest(words: str, meant: str) -> None:
    """A command, option or topic that does not exist is misuse, and the nearest one is proposed."""
    code, text = _said(*words.split())
    assert code == 2
    assert meant in text


@pytest.mark.parametrize(
    "noun", ["sets", "submissions", "rounds", "judges", "labels", "leaderboard", "teams"]
)
def test_list_is_show_without_a_name(noun: str) -> None:
    """`list` lists what a noun is about, as `show` (of rounds `status`) does without a name."""
    assert (
        _said(noun, "list", "--help")[1] == _said(noun, "status" if noun == "rounds" else "show", "--help")[1]
    )
