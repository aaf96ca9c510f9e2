"""`arena sets`: import, list, show, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.bootstrap import open_arena
from arena.cli import set_policy
from arena.cli.options import AsJson, File, JudgeName, constant
from arena.cli.output import note, problem_line, show_fields, show_json, show_line, show_table
from arena.cli.reaching import Cache, open_reaching
from data.records import SetSummary

commands = typer.Typer(help="Question sets.", no_args_is_help=True)
commands.command("policy")(set_policy.policy)
Name = Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")]


@commands.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or file of questions.")],
    name: Annotated[str | None, typer.Option("--name", help="Name to store it under.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import a question set; the same import twice changes nothing."""
    imported = open_arena().sets.import_from(path, name=name)
    for warning in imported.warnings:
        note(problem_line(warning))
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
    if as_json:
        show_json([_fields(summary) for summary in summaries])
    elif not summaries:
        note("There are no question sets yet. Import one with `arena sets import PATH`.")
    else:
        rows = [
            (one.name, one.title, one.questions, len(one.domains), one.content_hash[:12]) for one in summaries
        ]
        show_table(("set", "title", "questions", "domains", "content"), rows)


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
    if as_json:
        show_json({**_fields(summary), "folder": str(folder)})
    else:
        show_line(f"{summary.questions:,} questions written to {folder}.")


@commands.command()
def build(
    file: File,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
    judge: JudgeName,
    name: Annotated[str, typer.Option("--name", help="Name of the set; else the folder's.")] = "",
    option: Annotated[
        list[str] | None, typer.Option("--option", help="A constant of CRUX as NAME=VALUE; repeatable.")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0.0, help="Most that this may spend.")
    ] = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Build a controlled set from summaries and their documents. Cut off, the same command goes on."""
    from arena.services.controlled_sets import BuildRequest

    request = BuildRequest(
        file=file,
        folder=folder,
        judge=judge,
        name=name,
        options=dict(map(constant, option or ())),
        budget_usd=budget_usd,
    )
    made = open_reaching(cache_mode).controlled_sets.build(
        request, lambda done, total: note(f"{done:,} of {total:,} sources")
    )
    if as_json:
        show_json(made)
        return
    failed = made.pop("failed")
    show_fields(made)
    for source, why in failed.items():
        show_line(f"not built: {source}: {why['reason']}")


def _fields(summary: SetSummary) -> dict[str, Any]:
    return {
        "name": summary.name,
        "title": summary.title,
        "version": summary.version,
        "licence": summary.licence,
        "source": summary.source,
        "reference_name": summary.reference_name,
        "questions": summary.questions,
        "domains": dict(summary.domains),
        "counts": dict(summary.counts),
        "content_hash": summary.content_hash,
        "created_at": summary.created_at.isoformat(),
    }
