"""`arena sets attach`: what retrieval adds to a set."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.cli.options import AsJson, File, SetArgument
from arena.cli.output import (
    note,
    show_json,
    show_line,
)
from arena.container import open_arena


def attach(
    name: SetArgument,
    file: File,
    corpus: Annotated[
        str,
        typer.Option("--corpus", metavar="NAME", show_default="none", help="Corpus with the texts of a run."),
    ] = "",
    new_name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="the set's and its version",
            help="Name of the new set.",
        ),
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Attach passages to a set, as a new version of it.

    $ arena sets attach fiqa passages.jsonl

    A file of passages is JSONL with `question_id` (or `query`, the question's text) and `passages`, as
    `arena retrieve` writes it to a .jsonl file and RAG-QA Arena its predictions, or a TREC run whose texts a
    corpus has. Questions that it does not name keep the passages that they have. Judged rounds keep theirs;
    answers are submitted to the new set anew.
    """
    attached = open_arena().set_passages.attach(name, file, corpus=corpus, new_name=new_name)
    counts = {
        field: getattr(attached, field)
        for field in ("created", "questions", "passages", "without", "unknown", "unresolved")
    }
    if as_json:
        show_json({**attached.summary.to_json(), **counts})
        return
    state = "" if attached.created else ", unchanged: it was made before"
    made = f"{attached.passages:,} passages for {attached.questions:,} questions"
    show_line(f"{attached.summary.name}: {made}{state}.")
    for count, what in (
        (attached.without, "questions are not in the file and keep the passages that they had"),
        (attached.unknown, f"questions of the file are not in {name}"),
        (attached.unresolved, f"passages of the run are not in the corpus {corpus}"),
    ):
        if count:
            note(f"{count:,} {what}.")
