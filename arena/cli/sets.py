"""`arena sets`: import, build, list, show, export and count question sets."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli import options, output
from arena.cli.set_policy import policy
from arena.container import open_arena
from arena.formats import or_dash
from data.files.question_sets.registry import described_set_formats, listed_set_formats, set_writer
from data.text import percent

if TYPE_CHECKING:
    from arena.models.sets import SetStatistics

commands = typer.Typer(
    help="Question sets: import, build, list and export them.",
    epilog="Also: `list`, and `statistics` of a set.",
    no_args_is_help=True,
)


JSON_NAMES = {
    "documents": "documents_mean",
    "several_documents": "documents_2_or_more",
    "many_documents": "documents_10_or_more",
    "reference_words": "answer_words_mean",
}
STATISTICS_HEADERS = (
    *("domain", "questions", "references", "words", "documents", "2 or more", "10 or more"),
    *("sentences of 2 or more", "short answers", "passages", "words a passage"),
)


class AnswerFile(StrEnum):
    """Answer files that a set can be exported as."""

    SHORT_ANSWERS = "short-answers"
    TEMPLATE = "template"
    SAMPLE = "sample"


@commands.command("import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help=f"A folder or file of questions: {listed_set_formats()}.",
            callback=options.whole_file,
        ),
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="the set's own", help="Name of the stored set.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Import a question set.

    $ arena sets import folder --name fiqa

    PATH is a folder with set.toml and questions.jsonl, a table of questions (JSONL, JSON, CSV, Parquet,
    Excel), LFRQA's files, or a folder of BEIR.

    Importing the same set again changes nothing.
    """
    imported = open_arena().sets.import_from(path, name=name)
    output.note_problems(imported.warnings)
    if as_json:
        output.show_json({**imported.summary.to_json(), "created": imported.created})
    else:
        state = "imported" if imported.created else "unchanged (already imported)"
        summary = imported.summary
        output.show_line(
            f"{summary.name}: {summary.questions:,} questions, {state} ({summary.content_hash[:12]})."
        )


@commands.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="SET", show_default="all sets", help="Name of the set.")
    ] = "",
    *,
    as_json: options.AsJson = False,
) -> None:
    """List the question sets, or show one with its domains.

    $ arena sets show fiqa
    """
    if not name:
        list_(as_json=as_json)
        return
    summary = open_arena().sets.summary(name)
    fields = summary.to_json()
    if as_json:
        output.show_json(fields)
        return
    fields.pop("domains")
    fields.pop("counts")
    output.show_fields(fields)
    rows = [(domain, label, summary.counts[domain]) for domain, label in summary.domains.items()]
    output.show_table(("domain", "label", "questions"), rows)


@commands.command("list", hidden=True)
def list_(*, as_json: options.AsJson = False) -> None:
    """List the question sets.

    $ arena sets list
    """
    summaries = open_arena().sets.summaries()
    output.show_rows(
        [summary.to_json() for summary in summaries],
        ("set", "title", "questions", "domains", "content"),
        [
            (summary.name, summary.title, summary.questions, len(summary.domains), summary.content_hash[:12])
            for summary in summaries
        ],
        as_json=as_json,
        empty="There are no question sets yet. Import one with `arena sets import PATH`.",
    )


@commands.command()
def export(
    name: options.SetArgument,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DEST",
            help="The folder to write; for an answer file, the file to write, or - for standard output.",
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"{described_set_formats()}; or an answer file: `short-answers` (those of the set, as a "
            "system), `template` (one line per question, to fill in) or `sample` (a small valid file).",
            callback=options.known(
                lambda name: name in set(AnswerFile) or set_writer(name, others=AnswerFile)
            ),
        ),
    ] = "jsonl",
    *,
    as_json: options.AsJson = False,
) -> None:
    """Write a set as a folder that `arena sets import` reads, or an answer file for it.

    $ arena sets export fiqa folder --format beir
    $ arena sets export fiqa answers.jsonl --format template

    Each short answer gets its own line, as RAG-QA Arena submits RobustQA's (its Table 4).
    """
    from data.files.zip_files import atomic_text

    if form == AnswerFile.SHORT_ANSWERS:
        written = open_arena().sets.write_short_answers(name, folder)
        line = f"{written.answers:,} answers written to {folder}; {written.without:,} questions have none."
        output.show_result(written.as_json(), line, as_json=as_json)
        return
    if form in {AnswerFile.TEMPLATE, AnswerFile.SAMPLE}:
        text = open_arena().submissions.template(name, sample=form == AnswerFile.SAMPLE)
        if str(folder) == "-":
            output.show_line(text.rstrip("\n"))
            return
        with atomic_text(folder) as file:
            file.write(text)
        payload = {"set": name, "file": str(folder), "lines": text.count("\n")}
        output.show_result(payload, f"{payload['lines']:,} lines written to {folder}.", as_json=as_json)
        return
    summary = open_arena().sets.export(name, folder, form=form)
    line = f"{summary.questions:,} questions written to {folder}."
    output.show_result({**summary.to_json(), "folder": str(folder)}, line, as_json=as_json)


@commands.command()
def build(
    file: options.File,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
    judge: Annotated[
        str, typer.Option(metavar="JUDGE", help="Judge whose LLM writes and rates, by name or path.")
    ],
    name: Annotated[
        str, typer.Option(metavar="NAME", show_default="the folder's name", help="Name of the set.")
    ] = "",
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A constant of CRUX (`sub_questions`, `threshold`, `weighted`); repeatable.",
        ),
    ] = None,
    budget_usd: options.Budget = None,
    cache_mode: options.Cache = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Build a controlled set from summaries and their documents, as CRUX does.

    $ arena sets build summaries.jsonl folder --judge JUDGE --budget-usd 5

    The documents are split into self-contained passages, the summary becomes the reference,
    and an LLM writes an open-ended request with sub-questions. Every passage is rated for every
    sub-question, and sub-questions that no passage answers are dropped. If it is interrupted, the same
    command continues.

    FILE is JSONL with `id`, `domain`, `summary` and `documents` (texts, or objects with `id`, `title` and
    `text`). DIR receives a set for `arena sets import`, and `ratings.jsonl` with the ratings, the sufficient
    passages and what was dropped.
    """
    from arena.services.contexts import BuildRequest

    request = BuildRequest(
        file=file,
        folder=folder,
        judge=judge,
        name=name,
        options=dict(map(options.constant, option or ())),
        budget_usd=budget_usd,
    )
    fields = options.open_with_cache(cache_mode).contexts.build(request)
    if as_json:
        output.show_json(fields)
        return
    failed = fields.pop("failed")
    output.show_fields(fields)
    output.show_line(*(f"not built: {source}: {why['reason']}" for source, why in failed.items()))


@commands.command("attach-passages")
def attach_passages(
    name: options.SetArgument,
    file: options.File,
    corpus: Annotated[
        str, typer.Option(metavar="NAME", show_default="none", help="Corpus with the texts of a run.")
    ] = "",
    new_name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", show_default="the set's name and version", help="Name of the new set."
        ),
    ] = "",
    *,
    as_json: options.AsJson = False,
) -> None:
    """Attach passages to a set, as a new version of it.

    $ arena sets attach-passages fiqa passages.jsonl

    FILE is JSONL with `question_id` (or `query`, the question's text) and `passages`, as `arena retrieve`
    and RAG-QA Arena write it, or a TREC run with its texts in a corpus. Questions not in the file keep their
    passages. Judged rounds do not change; submit answers to the new set again.
    """
    attached = open_arena().set_passages.attach(name, file, corpus=corpus, new_name=new_name)
    counts = {
        field: getattr(attached, field)
        for field in ("created", "questions", "passages", "without", "unknown", "unresolved")
    }
    if as_json:
        output.show_json({**attached.summary.to_json(), **counts})
        return
    state = "" if attached.created else ", unchanged (already created)"
    size = f"{attached.passages:,} passages for {attached.questions:,} questions"
    output.show_line(f"{attached.summary.name}: {size}{state}.")
    for count, what in (
        (attached.without, "questions are not in the file and keep their passages"),
        (attached.unknown, f"questions of the file are not in {name}"),
        (attached.unresolved, f"passages of the run are not in the corpus {corpus}"),
    ):
        if count:
            output.note(f"{count:,} {what}.")


commands.command()(policy)


@commands.command(hidden=True)
def statistics(name: options.SetArgument, *, as_json: options.AsJson = False) -> None:
    """Show statistics of a set, overall and by domain: words, documents, passages, short answers.

    $ arena sets statistics fiqa
    """
    rows = open_arena().sets.statistics(name)
    if as_json:
        overall, *domains = rows
        by_domain = {row.domain: _statistics(row) for row in domains}
        output.show_json({"overall": _statistics(overall), "by_domain": by_domain})
        return
    output.show_table(
        STATISTICS_HEADERS,
        [
            (
                row.domain,
                row.questions,
                row.references,
                or_dash(row.reference_words, ".1f"),
                or_dash(row.documents, ".1f"),
                percent(row.several_documents),
                percent(row.many_documents),
                percent(row.sentences_of_several),
                or_dash(row.short_answers, ".1f"),
                or_dash(row.passages, ".1f"),
                or_dash(row.passage_words, ".1f"),
            )
            for row in rows
        ],
    )


def _statistics(row: "SetStatistics") -> dict[str, Any]:
    fields = row.to_json()
    return {JSON_NAMES.get(name, name): value for name, value in fields.items() if name != "domain"}
