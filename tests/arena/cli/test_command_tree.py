"""Smoke tests of every command, made from the tree of commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from arena.cli.commands import PARTS, all_commands
from tests.arena.conftest import Commands

MAX_COMMANDS = 64
EXAMPLE = re.compile(r"^\$ (arena .+)", re.MULTILINE)
COMMANDS = all_commands()
CONTRACT = """
sets: import list show export attach-passages statistics
submissions: check add list show withdraw
judges: list show try calibrate
rounds: plan run list status pause resume cancel retry publish retract export verify compare
battles: rate winrates convert compare-rankings
metrics: list score run plan show export marginals coverage context
leaderboard: show export
corpora: import list search
labels: open list show close export import
teams: add list
teams token: create revoke
db: upgrade
retrieval: score
: demo retrieve mcp serve worker rank losses compare
"""
"""The commands of the contract, docs/design.md of the shared folder."""


def _required(path: str) -> list[str]:
    """Return the required arguments and options, as names of things that do not exist."""
    words = []
    for parameter in COMMANDS[path].params:
        if parameter.required and parameter.param_type_name == "argument":
            words.append("1" if parameter.metavar in {"ID", "IN", "OUT"} else "nothing-here")
        elif parameter.required:
            words += [parameter.opts[0], "nothing-here"]
    return words


def test_commands_are_those_of_the_contract_and_few_more() -> None:
    lines = (line.split(":") for line in CONTRACT.strip().splitlines())
    contract = {f"{noun} {verb}".strip() for noun, verbs in lines for verb in verbs.split()}
    assert set(COMMANDS) >= contract
    assert sum(not command.hidden for command in COMMANDS.values()) <= MAX_COMMANDS


def test_help_names_each_command_in_its_part(run: Commands) -> None:
    code, text, _ = run("--help")
    assert code == 0
    places = [text.index(f"{part}:") for part in PARTS]
    assert places == sorted(places)
    assert all(f"\n  {name} " in text for part in PARTS.values() for name in part)


@pytest.mark.parametrize("path", COMMANDS)
def test_help_shows_examples_that_the_command_understands(run: Commands, path: str) -> None:
    code, text, errors = run(*path.split(), "--help")
    assert (code, errors) == (0, "")
    examples = EXAMPLE.findall(COMMANDS[path].help or "")
    assert examples
    for example in examples:
        assert " ".join(example.split())[:20] in " ".join(text.split())
        words = shlex.split(example)[1:]
        assert words[: len(path.split())] == path.split()
        assert COMMANDS[path].make_context(path, words[len(path.split()) :]).params


@pytest.mark.parametrize("path", COMMANDS)
def test_unknown_option_is_misuse_and_nothing_runs(run: Commands, path: str) -> None:
    code, out, errors = run(*path.split(), "--no-such-option")
    assert (code, out) == (2, "")
    assert errors.startswith("Usage: ")
    assert "No such option: --no-such-option" in errors


@pytest.mark.parametrize("path", [path for path in COMMANDS if _required(path)])
def test_input_that_does_not_exist_is_a_clear_error(
    run: Commands, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, errors = run(*path.split(), *_required(path))
    assert "Traceback" not in errors
    assert code in {0, 1, 2}
    if code:
        assert errors.strip().splitlines()[-1].startswith(("arena: ", "Error: "))


def test_every_file_that_a_command_reads_may_come_by_a_pipe() -> None:
    """A pipe gives its content once, and readers look twice: what is read is copied by `whole_file`."""
    plain = {
        f"{name} {parameter.opts[-1]}"
        for name, command in COMMANDS.items()
        for parameter in command.params
        if "Path" in str(vars(parameter))
        and parameter.callback is None
        and parameter.metavar in {"FILE", "SRC", "VOTES", "PATH"}
        and parameter.opts[-1] not in {"--out", "destination"}
    }
    assert plain <= {"corpora import path", "db restore source"}


@pytest.mark.parametrize(
    ("words", "meant"),
    [("rouns", "rounds"), ("rounds stauts", "status"), ("rounds status --jsn", "--json")],
)
def test_misspelt_word_is_answered_by_the_nearest(run: Commands, words: str, meant: str) -> None:
    code, _, errors = run(*words.split())
    assert code == 2
    assert meant in errors.splitlines()[-1]


@pytest.mark.parametrize("noun", ["sets", "submissions", "rounds", "judges", "labels", "teams"])
def test_list_is_show_without_a_name(run: Commands, noun: str) -> None:
    show = "status" if noun == "rounds" else "show"
    assert run(noun, "list", "--json") == run(noun, show, "--json")


def test_number_beyond_a_row_is_misuse(run: Commands) -> None:
    code, _, errors = run("submissions", "show", 2**31)
    assert code == 2
    assert "is not a whole number from 0" in errors


def test_group_without_a_verb_shows_its_help(run: Commands) -> None:
    assert "Commands:" in "".join(run("rounds")[1:])
