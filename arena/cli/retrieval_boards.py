"""`arena retrieval`: boards of contexts without answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson
from arena.cli.output import show_json, show_line, show_rows, show_table
from arena.container import open_arena

if TYPE_CHECKING:
    from arena.services.retrieval_boards.service import RetrievalBoard
    from data.stats import Interval

commands = typer.Typer(help="Boards of retrieved passages without answers.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="SET", help="Name of the question set.")]
QrelsName = Annotated[
    str,
    typer.Option(
        "--qrels",
        metavar="NAME",
        show_default="those attached last",
        help="Which relevance judgments; `arena sets qrels SET` lists them.",
    ),
]
MeasureName = Annotated[
    str,
    typer.Option("--measure", metavar="MEASURE", help="A measure of the board, as `AP` or `StRecall@10`."),
]
SystemArgument = Annotated[str, typer.Argument(metavar="SYSTEM", help="Name of a system.")]
FIRST = "nDCG@10"
EXCERPT = 80


@commands.command()
def board(
    set_name: Name,
    qrels: QrelsName = "",
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="MEASURE",
            show_default="the means of all",
            help="Show one measure with intervals, ranks and letters.",
        ),
    ] = None,
    domain: Annotated[
        str, typer.Option("--domain", metavar="ID", help="A domain's id, or `overall`.")
    ] = "overall",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the board of a set: systems that submitted contexts, measured by relevance judgments.

    Systems that share a letter are not separated by paired t tests of all pairs at once (Holm, 5 %).
    """
    from arena.services.retrieval_boards.shown import board_json, remarks
    from leaderboard.retrieval.measures import JUDGED

    shown = _board(set_name, qrels)
    if as_json:
        show_json(board_json(shown))
        return
    show_line(f"{set_name}, judgments {shown.qrels.name}, {domain}.")
    for said in remarks(shown):
        show_line(said)
    if measure is None:
        names = [one.name for one in shown.table.measures]
        means = {name: {line.system: line.mean for line in shown.table.lines(name, domain)} for name in names}
        order = [line.system for line in shown.table.lines(names[0], domain)]
        show_table(
            ("system", *names, JUDGED),
            [(one, *(means[name][one] for name in names), shown.entrants[one].judged) for one in order],
        )
        return
    show_table(
        ("rank", "", "system", "mean", "lower", "upper", "questions", "missing", "undefined"),
        [
            (
                _ranks(line.rank_lower, line.rank_upper),
                line.letters,
                line.system,
                line.mean,
                *_ends(line.interval),
                line.questions,
                line.missing,
                line.undefined,
            )
            for line in shown.table.lines(measure, domain)
        ],
    )


@commands.command()
def compare(
    set_name: Name,
    first: SystemArgument,
    second: SystemArgument,
    qrels: QrelsName = "",
    measure: MeasureName = FIRST,
    *,
    as_json: AsJson = False,
) -> None:
    """Compare two systems question by question: the paired difference of a measure, by domain."""
    from arena.services.retrieval_boards.shown import paired_json

    paired = _board(set_name, qrels).table.compared(measure, first, second)
    show_rows(
        paired_json(paired),
        ("domain", "difference", "lower", "upper", "p", "separated", "ahead", "behind", "questions"),
        [
            (
                one.domain,
                one.difference,
                *_ends(one.interval),
                one.chance,
                "yes" if one.apart else "no",
                one.ahead,
                one.behind,
                one.questions,
            )
            for one in paired
        ],
        as_json=as_json,
    )


@commands.command()
def question(
    set_name: Name,
    question_id: Annotated[str, typer.Argument(metavar="QUESTION", help="Id of the question.")],
    qrels: QrelsName = "",
    depth: Annotated[
        int, typer.Option("--k", metavar="K", min=1, max=1_000, help="Passages of each system to list.")
    ] = 10,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what each system retrieved for a question, and the relevant passages that it missed."""
    from arena.services.accounts.auth import OPERATOR
    from arena.services.retrieval_boards.shown import question_json

    arena = open_arena()
    shown = arena.ranked_questions.of(_board(set_name, qrels), question_id, depth=depth, caller=OPERATOR)
    if as_json:
        show_json(question_json(shown))
        return
    show_line(f"{shown.question.question} {shown.relevant:,} passages are relevant.")
    for system in shown.systems:
        show_line(f"\n{system.system}: {system.retrieved:,} passages, {system.unjudged:,} of these unjudged")
        show_table(
            ("rank", "passage", "grade", "subtopics", "text"),
            [
                (
                    line.rank,
                    line.id,
                    line.grade,
                    ", ".join(line.subtopics) or None,
                    " ".join(line.text.split())[:EXCERPT] or None,
                )
                for line in (*system.passages, *system.missed)
            ],
        )
        show_line(f"missed: {', '.join(line.id for line in system.missed) or 'none'}")
        if shown.subtopics:
            show_line(f"subtopics without a passage: {', '.join(system.unanswered) or 'none'}")


@commands.command()
def output(set_name: Name, system: SystemArgument, qrels: QrelsName = "") -> None:
    """Print what `trec_eval -q -c` prints of a system: a line a question and measure, then the means."""
    from leaderboard.retrieval.files import trec_eval_lines

    for line in trec_eval_lines(_board(set_name, qrels).table, system):
        show_line(line)


@commands.command()
def export(
    set_name: Name,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="A .csv, .json or .parquet file.")],
    qrels: QrelsName = "",
    *,
    by_question: Annotated[
        bool, typer.Option("--questions", help="A row a question and system, not a measure and domain.")
    ] = False,
) -> None:
    """Write a board to a file, in the format that the file's ending names."""
    from arena.services.retrieval_boards.shown import export_board

    export_board(_board(set_name, qrels), destination, by_question=by_question)
    show_line(f"The board of {set_name} is written to {destination}.")


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the sets that somebody submitted contexts to."""
    names = open_arena().retrieval_boards.sets()
    show_rows(
        [{"set": name} for name in names],
        ("set",),
        [(name,) for name in names],
        as_json=as_json,
        empty="Nobody submitted contexts yet. Add a run with `arena submissions add FILE --kind contexts`.",
    )


def _board(set_name: str, qrels: str) -> RetrievalBoard:
    from arena.services.accounts.auth import OPERATOR

    return open_arena().retrieval_boards.board(set_name, qrels=qrels, caller=OPERATOR)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.lower, interval.upper)


def _ranks(lower: int, upper: int) -> str:
    return f"{lower}" if lower == upper else f"{lower}–{upper}"
