"""The option that names a battle file's format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from leaderboard.formats.registry import BattleFormat

Format = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        show_default="recognised from the file",
        help="The file's format: `native`, `chatbot-arena`, `rag-qa-arena`, `rag-qa-arena-eval`, "
        "`rag-qa-arena-eval-compat`, `rag-qa-arena-people`, `alpaca-eval` or `arena-hard`.",
    ),
]


def format_named(word: str | None) -> BattleFormat | None:
    """The format of this name; None without a name, to tell it by the file.

    Raises:
        BadParameter: There is none of this name.
    """
    from leaderboard.formats.registry import BattleFormat

    if word is None:
        return None
    try:
        return BattleFormat(word)
    except ValueError as error:
        formats = ", ".join(kind.value for kind in BattleFormat)
        raise typer.BadParameter(f"{word!r} is none of {formats}") from error
