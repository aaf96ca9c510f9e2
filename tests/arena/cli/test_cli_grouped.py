"""Options that several commands share, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from arena.cli.options import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Two options, one of them required."""

    width: Annotated[int, typer.Option("--width", min=1)]
    height: Annotated[int, typer.Option("--height")] = 2


@pytest.fixture
def seen() -> list[object]:
    """Return the arguments of the command's calls."""
    return []


@pytest.fixture
def app(seen: list[object]) -> typer.Typer:
    """A command that takes an argument, a group and a plain option."""
    made = typer.Typer()

    def draw(
        name: Annotated[str, typer.Argument()],
        size: Size,
        *,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None:
        """Draw something."""
        seen.append((name, size, loud))

    # Annotations that are text are looked up beside the function, and these names are local to the test.
    draw.__annotations__ = {
        "name": Annotated[str, typer.Argument()],
        "size": Size,
        "loud": Annotated[bool, typer.Option("--loud")],
        "return": None,
    }
    made.command()(grouped(draw))
    return made


def test_a_command_gets_a_group_of_options_as_one_value(app: typer.Typer, seen: list[object]) -> None:
    """Options of a group stand beside a command's own, and come as one frozen value."""
    done = CliRunner().invoke(app, ["box", "--width", "3", "--loud"])
    assert done.exit_code == 0, done.output
    assert seen == [("box", Size(width=3, height=2), True)]


@pytest.mark.parametrize("words", ["box", "box --width 0", "box --width x", "--width 3"])
def test_options_of_a_group_are_checked_like_others(app: typer.Typer, seen: list[object], words: str) -> None:
    """A missing or impossible option of a group is misuse: exit code 2, and the command does not run."""
    assert CliRunner().invoke(app, words.split()).exit_code == 2
    assert not seen


def test_help_names_the_options_of_a_group(app: typer.Typer) -> None:
    """`--help` lists a group's options with their defaults."""
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "--width" in shown
    assert "[default: 2]" in shown
    assert "Draw something." in shown
