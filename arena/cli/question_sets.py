"""`arena sets`: import, list, show, export."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.cli.options import AsJson, Budget, Cache, File, constant, open_reaching
from arena.cli.output import (
    note,
    note_problems,
    show_fields,
    show_json,
    show_line,
    show_result,
    show_rows,
    show_table,
)
from arena.container import open_arena
from data.errors import InputError
from data.records import DEFAULT_PHASE, Phase, SetPolicy, SetSummary

NONE = "none"
Limit = str | None


def policy(
    name: Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")],
    phase: Annotated[
        str, typer.Option("--phase", metavar="PHASE", help="The phase to add or change.")
    ] = DEFAULT_PHASE,
    opens: Annotated[
        Limit, typer.Option("--opens", metavar="TIME", help="When it opens, ISO 8601, or `none`.")
    ] = None,
    closes: Annotated[
        Limit, typer.Option("--closes", metavar="TIME", help="When it closes, ISO 8601, or `none`.")
    ] = None,
    daily: Annotated[
        Limit, typer.Option("--daily", metavar="N", help="Most submissions of a team a day, or `none`.")
    ] = None,
    total: Annotated[
        Limit,
        typer.Option("--total", metavar="N", help="Most submissions of a team in the phase, or `none`."),
    ] = None,
    file_mb: Annotated[
        Limit, typer.Option("--file-mb", metavar="N", help="Largest file in MiB, or `none`.")
    ] = None,
    chars: Annotated[
        Limit, typer.Option("--answer-chars", metavar="N", help="Longest answer in characters, or `none`.")
    ] = None,
    drop: Annotated[str | None, typer.Option("--drop", metavar="PHASE", help="Remove this phase.")] = None,
    hidden: Annotated[
        bool | None,
        typer.Option(
            "--hide-references/--show-references",
            help="Hide the references of the test questions, or show them.",
        ),
    ] = None,
    public_texts: Annotated[
        bool | None,
        typer.Option(
            "--public-texts/--no-public-texts",
            help="Whether the set's licence lets everybody see its texts; without, visitors cannot vote.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the rules for submissions to a set, or change them."""
    service = open_arena().policies
    set_policy = service.get(name)
    if drop is not None:
        set_policy = service.drop_phase(name, drop)
    if any(value is not None for value in (opens, closes, daily, total, file_mb, chars)):
        before = next(
            (existing for existing in set_policy.phases if existing.name == phase), Phase(name=phase)
        )
        after = replace(
            before,
            opens_at=_moment(opens, before.opens_at),
            closes_at=_moment(closes, before.closes_at),
            daily_quota=_number(daily, before.daily_quota),
            total_quota=_number(total, before.total_quota),
            file_mb=_number(file_mb, before.file_mb),
            answer_chars=_number(chars, before.answer_chars),
        )
        set_policy = service.put_phase(name, after)
    if hidden is not None:
        set_policy = service.hide_references(name, hidden=hidden)
    if public_texts is not None:
        set_policy = service.show_texts(name, public=public_texts)
    _show(set_policy, as_json=as_json)


def _show(set_policy: SetPolicy, *, as_json: bool) -> None:
    from arena.services.question_sets.phases import policy_json

    fields = policy_json(set_policy)
    if as_json:
        show_json(fields)
        return
    show_fields(
        {"set": set_policy.set_name, "references": "hidden" if set_policy.hidden_references else "shown"}
    )
    if set_policy.phases:
        columns = tuple(fields["phases"][0])
        show_table(columns, [tuple(phase[column] for column in columns) for phase in fields["phases"]])


def _moment(text: Limit, before: datetime | None) -> datetime | None:
    if text is None:
        return before
    if text == NONE:
        return None
    try:
        limit = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no moment.", advice="Write 2026-05-01T12:00Z, or none.") from error
    return limit.replace(tzinfo=UTC) if limit.tzinfo is None else limit.astimezone(UTC)


def _number(text: Limit, before: int | None) -> int | None:
    if text is None:
        return before
    if text == NONE:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise InputError(f"{text!r} is no limit.", advice="Use a whole number from 1, or none.")
    return int(text)


commands = typer.Typer(help="Question sets: import, build, list and export them.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")]


@commands.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or file of questions.")],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", show_default="the set's own", help="Name to store it under."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import a question set.

    Importing the same set again changes nothing.
    """
    imported = open_arena().sets.import_from(path, name=name)
    note_problems(imported.warnings)
    if as_json:
        show_json(
            {**_fields(imported.summary), "created": imported.created, "systems": list(imported.systems)}
        )
    else:
        state = "imported" if imported.created else "unchanged: it was imported before"
        summary = imported.summary
        show_line(f"{summary.name}: {summary.questions:,} questions, {state} ({summary.content_hash[:12]}).")
        if imported.systems:
            show_line(
                f"Answers of {len(imported.systems)} systems came with it: {', '.join(imported.systems)}."
            )


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the question sets."""
    summaries = open_arena().sets.summaries()
    show_rows(
        [_fields(summary) for summary in summaries],
        ("set", "title", "questions", "domains", "content"),
        [
            (summary.name, summary.title, summary.questions, len(summary.domains), summary.content_hash[:12])
            for summary in summaries
        ],
        as_json=as_json,
        empty="There are no question sets yet. Import one with `arena sets import PATH`.",
    )


@commands.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show a set and its domains."""
    summary = open_arena().sets.summary(name)
    fields = _fields(summary)
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
    name: Name,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Write a set as a folder that `arena sets import` reads."""
    summary = open_arena().sets.export(name, folder)
    line = f"{summary.questions:,} questions written to {folder}."
    show_result({**_fields(summary), "folder": str(folder)}, line, as_json=as_json)


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

    The documents are split into passages that can be read by themselves, the summary becomes the reference,
    and an LLM writes an open-ended request with sub-questions. Every passage is rated for every
    sub-question, and sub-questions that no passage answers are dropped. If it is interrupted, the same
    command continues.

    FILE is JSONL with `id`, `domain`, `summary` and `documents` (texts, or objects with `id`, `title` and
    `text`). DIR receives a set for `arena sets import`, and `ratings.jsonl` with the ratings, the passages
    that suffice and what was dropped.
    """
    from arena.services.metrics.controlled_sets import BuildRequest

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


@commands.command("attach-passages")
def attach_passages(
    name: Name,
    file: File,
    corpus: Annotated[
        str,
        typer.Option("--corpus", metavar="NAME", show_default="none", help="Corpus with the texts of a run."),
    ] = "",
    new_name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", show_default="the set's and its version", help="Name of the new set."
        ),
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Make a new version of a set with passages from a file; judged rounds keep theirs.

    FILE is JSONL with `question_id` (or `query`, the question's text) and `passages`, as `arena retrieve`
    writes it to a .jsonl file and RAG-QA Arena its predictions, or a TREC run whose texts a corpus has.
    Questions that it does not name keep the passages that they have. Answers are submitted to the new set
    anew.
    """
    attached = open_arena().set_passages.attach(name, file, corpus=corpus, new_name=new_name)
    counts = {
        field: getattr(attached, field)
        for field in ("created", "questions", "passages", "without", "unknown", "unresolved")
    }
    if as_json:
        show_json({**_fields(attached.summary), **counts})
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


@commands.command("attach-qrels")
def attach_qrels(
    name: Name,
    file: File,
    qrels_name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="graded, diversity or ratings, as the file is",
            help="Name of the judgments.",
        ),
    ] = "",
    relevant_from: Annotated[
        float | None,
        typer.Option(
            "--relevant-from",
            metavar="GRADE",
            show_default="1, or 3 of ratings",
            help="Grade from which on a passage is relevant.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Attach relevance judgments to a set, which itself stays as it is.

    FILE has TREC qrels (with subtopics: diversity qrels), BEIR's, or JSONL with nuggets or the ratings of
    CRUX (`ratings.jsonl` of `arena sets build`, or the public judgments).
    """
    attached = open_arena().set_qrels.attach(name, file, name=qrels_name, relevant_from=relevant_from)
    counts = {field: getattr(attached, field) for field in ("created", "unknown", "repeated")}
    summary = attached.summary
    if as_json:
        show_json({**asdict(summary), **counts})
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


@commands.command()
def qrels(name: Name, *, as_json: AsJson = False) -> None:
    """List the relevance judgments of a set, those first that boards use where none is named."""
    rows = open_arena().set_qrels.list(name)
    columns = (
        *("name", "kind", "relevant_from", "questions", "without_relevant", "unjudged", "judgments"),
        *("relevant", "subtopics"),
    )
    show_rows(
        [asdict(row) for row in rows],
        [column.replace("_", " ") for column in columns],
        [tuple(getattr(row, column) for column in columns) for row in rows],
        as_json=as_json,
        empty=f"{name} has none. Attach some with `arena sets attach-qrels {name} FILE`.",
    )


@commands.command("short-answers")
def short_answers(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of answers to write.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Write the short answers of a set as a file of answers, so that they can be entered as a system.

    Those of a question stand on lines of their own, as RAG-QA Arena enters RobustQA's (its Table 4).
    """
    written = open_arena().short_answers.write(name, file)
    line = f"{written.answers:,} answers written to {file}; {written.without:,} questions have none."
    show_result(written.as_json(), line, as_json=as_json)


@commands.command()
def statistics(name: Name, *, as_json: AsJson = False) -> None:
    """Count what a set is made of, overall and by domain: words, documents, passages, short answers."""
    rows = open_arena().set_statistics.of(name)
    show_rows(
        [row.as_json() for row in rows],
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
    return None if value is None else f"{value:.1%}"


commands.command("policy")(policy)


def _fields(summary: SetSummary) -> dict[str, Any]:
    from arena.schemas import SetLine

    return {**SetLine.of(summary).to_json(), "created_at": summary.created_at.isoformat()}
