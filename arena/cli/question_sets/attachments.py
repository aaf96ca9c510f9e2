"""`arena sets attach`: what retrieval adds to a set."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, File, only_with
from arena.cli.output import (
    note,
    show_json,
    show_line,
    show_rows,
)
from arena.cli.question_sets.fields import SetArgument, fields_of
from arena.container import open_arena


class Attached(StrEnum):
    """What a file adds to a set."""

    PASSAGES = "passages"
    QRELS = "qrels"


def attach(
    name: SetArgument,
    file: File,
    kind: Annotated[
        Attached,
        typer.Option("--kind", help="Passages of the questions, or relevance judgments of passages."),
    ] = Attached.PASSAGES,
    corpus: Annotated[
        str,
        typer.Option("--corpus", metavar="NAME", show_default="none", help="Corpus with the texts of a run."),
    ] = "",
    new_name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="the set's and its version; of judgments graded, diversity or ratings",
            help="Name of the new set, or of the judgments.",
        ),
    ] = "",
    relevant_from: Annotated[
        float | None,
        typer.Option(
            "--relevant-from",
            metavar="GRADE",
            show_default="1, or 3 of ratings",
            help="Of judgments: the grade from which on a passage is relevant.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Attach passages to a set, as a new version of it, or relevance judgments, which leave it as it is.

    $ arena sets attach fiqa passages.jsonl

    A file of passages is JSONL with `question_id` (or `query`, the question's text) and `passages`, as
    `arena retrieve` writes it to a .jsonl file and RAG-QA Arena its predictions, or a TREC run whose texts a
    corpus has. Questions that it does not name keep the passages that they have. Judged rounds keep theirs;
    answers are submitted to the new set anew.

    A file of judgments has TREC qrels (with subtopics: diversity qrels), BEIR's, or JSONL with nuggets or the
    ratings of CRUX (`ratings.jsonl` of `arena sets build`, or the public judgments).
    """
    if kind is Attached.QRELS:
        only_with("--kind passages", {"--corpus": corpus})
        _attach_qrels(name, file, new_name, relevant_from, as_json=as_json)
    else:
        only_with("--kind qrels", {"--relevant-from": relevant_from})
        _attach_passages(name, file, corpus, new_name, as_json=as_json)


def _attach_passages(name: str, file: Path, corpus: str, new_name: str, *, as_json: bool) -> None:
    attached = open_arena().set_passages.attach(name, file, corpus=corpus, new_name=new_name)
    counts = {
        field: getattr(attached, field)
        for field in ("created", "questions", "passages", "without", "unknown", "unresolved")
    }
    if as_json:
        show_json({**fields_of(attached.summary), **counts})
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


def _attach_qrels(
    name: str, file: Path, qrels_name: str, relevant_from: float | None, *, as_json: bool
) -> None:
    attached = open_arena().set_qrels.attach(name, file, name=qrels_name, relevant_from=relevant_from)
    counts = {field: getattr(attached, field) for field in ("created", "unknown", "repeated")}
    summary = attached.summary
    if as_json:
        show_json({**summary.to_json(), **counts})
        return
    state = "" if attached.created else ", unchanged: they were there already"
    made = f"{summary.judgments:,} judgments of {summary.questions:,} questions"
    show_line(f"{name}: {summary.name} ({summary.kind}): {made}, {summary.relevant:,} relevant{state}.")
    for count, what in (
        (attached.unknown, f"questions of the file are not in {name}"),
        (attached.repeated, "judgments stood there once more"),
        (summary.unjudged, f"questions of {name} have no judgment"),
        (summary.without_relevant, "judged questions have no relevant passage"),
    ):
        if count:
            note(f"{count:,} {what}.")


def show_qrels(name: str, *, as_json: bool) -> None:
    """List the relevance judgments of a set, those first that boards use where none is named."""
    rows = open_arena().set_qrels.list(name)
    columns = (
        *("name", "kind", "relevant_from", "questions", "without_relevant", "unjudged", "judgments"),
        *("relevant", "subtopics"),
    )
    show_rows(
        [row.to_json() for row in rows],
        [column.replace("_", " ") for column in columns],
        [tuple(getattr(row, column) for column in columns) for row in rows],
        as_json=as_json,
        empty=f"{name} has none. Attach some with `arena sets attach {name} FILE --kind qrels`.",
    )
