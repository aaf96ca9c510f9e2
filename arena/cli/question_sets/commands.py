"""`arena sets`: import, build, list, show, export and count question sets."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import (
    AsJson,
    Budget,
    Cache,
    File,
    SetArgument,
    constant,
    known,
    only_with,
    open_reaching,
    whole_file,
)
from arena.cli.output import (
    note_problems,
    show_fields,
    show_json,
    show_line,
    show_result,
    show_rows,
    show_table,
)
from arena.cli.question_sets import attachments
from arena.cli.question_sets.policy import policy
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from data.text import percent

commands = Commands("Question sets: import, build, list and export them.")


class AnswerFile(StrEnum):
    """The files of answers that are written of a set."""

    SHORT_ANSWERS = "short-answers"
    TEMPLATE = "template"
    SAMPLE = "sample"


def _exported(name: str) -> object:
    """Look up what a set is written as; errors are those of `set_writer`."""
    from data.files.question_sets.registry import set_writer

    return name in set(AnswerFile) or set_writer(name, others=AnswerFile)


@commands.command("import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A folder or file of questions: {data.files.question_sets.registry:listed_set_formats}.",
            callback=whole_file,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", show_default="the set's own", help="Name to store it under."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import a question set.

    $ arena sets import folder --name fiqa

    PATH is a folder with set.toml and questions.jsonl, a table of questions (JSONL, JSON, CSV, Parquet,
    Excel), LFRQA's files, or a folder of BEIR.

    Importing the same set again changes nothing.
    """
    imported = open_arena().sets.import_from(path, name=name)
    note_problems(imported.warnings)
    if as_json:
        show_json({**imported.summary.to_json(), "created": imported.created})
    else:
        state = "imported" if imported.created else "unchanged: it was imported before"
        summary = imported.summary
        show_line(f"{summary.name}: {summary.questions:,} questions, {state} ({summary.content_hash[:12]}).")


@commands.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="SET", show_default="all sets", help="Name of the set.")
    ] = "",
    *,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics",
            help="What the set is made of, overall and by domain: words, documents, passages, short answers.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the question sets, or one with its domains.

    $ arena sets show fiqa --statistics
    """
    if not name:
        only_with("a set", {"--statistics": statistics})
        _list(as_json=as_json)
    elif statistics:
        _show_statistics(name, as_json=as_json)
    else:
        _show(name, as_json=as_json)


def _list(*, as_json: bool) -> None:
    summaries = open_arena().sets.summaries()
    show_rows(
        [summary.to_json() for summary in summaries],
        ("set", "title", "questions", "domains", "content"),
        [
            (summary.name, summary.title, summary.questions, len(summary.domains), summary.content_hash[:12])
            for summary in summaries
        ],
        as_json=as_json,
        empty="There are no question sets yet. Import one with `arena sets import PATH`.",
    )


def _show(name: str, *, as_json: bool) -> None:
    summary = open_arena().sets.summary(name)
    fields = summary.to_json()
    if as_json:
        show_json(fields)
        return
    fields.pop("domains")
    fields.pop("counts")
    show_fields(fields)
    rows = [(domain, label, summary.counts[domain]) for domain, label in summary.domains.items()]
    show_table(("domain", "label", "questions"), rows)


@commands.command()
def export(
    name: SetArgument,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DEST", help="The folder to write; of files of answers a file, or - for the output."
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="{data.files.question_sets.registry:described_set_formats}; or a file of answers: "
            "`short-answers`, those of the set, to enter them as a system, `template`, to fill in, with one "
            "line for each question, or `sample`, a small complete one, which a check accepts.",
            callback=known(_exported),
        ),
    ] = "jsonl",
    *,
    as_json: AsJson = False,
) -> None:
    """Write a set as a folder that `arena sets import` reads, or a file of answers for it.

    $ arena sets export fiqa folder --format beir
    $ arena sets export fiqa answers.jsonl --format template

    Short answers of a question stand on lines of their own, as RAG-QA Arena enters RobustQA's (its Table 4).
    """
    from data.files.zip_files import atomic_text

    if form == AnswerFile.SHORT_ANSWERS:
        written = open_arena().sets.write_short_answers(name, folder)
        line = f"{written.answers:,} answers written to {folder}; {written.without:,} questions have none."
        show_result(written.as_json(), line, as_json=as_json)
        return
    if form in {AnswerFile.TEMPLATE, AnswerFile.SAMPLE}:
        text = open_arena().submissions.template(name, sample=form == AnswerFile.SAMPLE)
        if str(folder) == "-":
            show_line(text.rstrip("\n"))
            return
        with atomic_text(folder) as file:
            file.write(text)
        payload = {"set": name, "file": str(folder), "lines": text.count("\n")}
        show_result(payload, f"{payload['lines']:,} lines written to {folder}.", as_json=as_json)
        return
    summary = open_arena().sets.export(name, folder, form=form)
    line = f"{summary.questions:,} questions written to {folder}."
    show_result({**summary.to_json(), "folder": str(folder)}, line, as_json=as_json)


@commands.command()
def build(
    file: File,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
    judge: Annotated[
        str,
        typer.Option("--judge", metavar="JUDGE", help="Judge whose LLM writes and rates, by name or path."),
    ],
    name: Annotated[
        str,
        typer.Option("--name", metavar="NAME", show_default="the folder's name", help="Name of the set."),
    ] = "",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="A constant of CRUX (`sub_questions`, `threshold`, `weighted`); repeatable.",
        ),
    ] = None,
    budget_usd: Budget = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Build a controlled set from summaries and their documents, as CRUX does.

    $ arena sets build summaries.jsonl folder --judge JUDGE --budget-usd 5

    The documents are split into passages that can be read by themselves, the summary becomes the reference,
    and an LLM writes an open-ended request with sub-questions. Every passage is rated for every
    sub-question, and sub-questions that no passage answers are dropped. If it is interrupted, the same
    command continues.

    FILE is JSONL with `id`, `domain`, `summary` and `documents` (texts, or objects with `id`, `title` and
    `text`). DIR receives a set for `arena sets import`, and `ratings.jsonl` with the ratings, the passages
    that suffice and what was dropped.
    """
    from arena.services.contexts import BuildRequest

    request = BuildRequest(
        file=file,
        folder=folder,
        judge=judge,
        name=name,
        options=dict(map(constant, option or ())),
        budget_usd=budget_usd,
    )
    fields = open_reaching(cache_mode).controlled_sets.build(request)
    if as_json:
        show_json(fields)
        return
    failed = fields.pop("failed")
    show_fields(fields)
    for source, why in failed.items():
        show_line(f"not built: {source}: {why['reason']}")


commands.command()(attachments.attach)
commands.command()(policy)


def _show_statistics(name: str, *, as_json: bool) -> None:
    rows = open_arena().sets.statistics(name)
    show_rows(
        [row.to_json() for row in rows],
        (
            "domain",
            "questions",
            "references",
            "words",
            "documents",
            "2 or more",
            "10 or more",
            "sentences of 2 or more",
            "short answers",
            "passages",
            "words a passage",
        ),
        [
            (
                row.domain,
                row.questions,
                row.references,
                _mean(row.reference_words),
                _mean(row.documents),
                _share(row.several_documents),
                _share(row.many_documents),
                _share(row.sentences_of_several),
                _mean(row.short_answers),
                _mean(row.passages),
                _mean(row.passage_words),
            )
            for row in rows
        ],
        as_json=as_json,
        empty=f"{name} has no questions.",
    )


def _mean(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"


def _share(value: float | None) -> str | None:
    return None if value is None else percent(value)
