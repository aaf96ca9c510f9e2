"""`arena rounds notice`: errata on published boards."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import show_json, show_line
from data.errors import InputError


def notice(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the published round.")],
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What readers must know; plain text.")
    ] = None,
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Take the notice off.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a notice on a published board, or take it off; its numbers and their hash stay as they are."""
    if clear is (text is not None):
        raise InputError(
            "Give either a text or --clear.", advice=f'As in: arena rounds notice {name} "What went wrong."'
        )
    notices = open_arena().notices
    board = notices.clear(name) if text is None else notices.put(name, text)
    if as_json:
        show_json({"name": board.name, "notice": board.notice, "content_hash": board.content_hash})
    else:
        show_line(f"{name}: {board.notice or 'the notice is taken off.'}")
