"""`arena retrieval`: boards of contexts without answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, pair_of
from arena.cli.output import show_json, show_line, show_rows, show_table
from arena.cli.tree.pages import Commands
from arena.container import open_arena

if TYPE_CHECKING:
    from arena.services.retrieval_boards.service import RetrievalBoard
    from data.intervals import Interval

commands = Commands("Boards of retrieved passages without answers.")
QrelsName = Annotated[
    str,
    typer.Option(
        "--qrels",
        metavar="NAME",
        show_default="those attached last",
        help="Which relevance judgments; `arena sets show SET --qrels` lists them.",
    ),
]
FIRST = "nDCG@10"
EXCERPT = 80


@commands.command()
def show(
    set_name: Annotated[
        str,
        typer.Argument(
            metavar="SET", show_default="the sets that have one", help="Name of the question set."
        ),
    ] = "",
    qrels: QrelsName = "",
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="MEASURE",
            show_default=f"the means of all; {FIRST} with --compare",
            help="Show one measure with intervals, ranks and letters, as `AP` or `StRecall@10`.",
        ),
    ] = "",
    domain: Annotated[
        str, typer.Option("--domain", metavar="ID", help="A domain's id, or `overall`.")
    ] = "overall",
    compare: Annotated[
        str,
        typer.Option(
            "--compare",
            metavar="A,B",
            help="The paired difference of two systems, question by question, by domain.",
        ),
    ] = "",
    question: Annotated[
        str,
        typer.Option(
            "--question",
            metavar="ID",
            help="What each system retrieved for a question, and the relevant passages that it missed.",
        ),
    ] = "",
    depth: Annotated[
        int,
        typer.Option(
            "--k", metavar="K", min=1, max=1_000, help="With --question: passages of each system to list."
        ),
    ] = 10,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the board of a set: systems that submitted contexts, measured by relevance judgments.

    $ arena retrieval show fiqa --measure nDCG@10

    Systems that share a letter are not separated by paired t tests of all pairs at once (Holm, 5 %).
    """
    if not set_name:
        _show_sets(as_json=as_json)
    elif compare:
        _show_difference(_board(set_name, qrels), pair_of(compare), measure or FIRST, as_json=as_json)
    elif question:
        _show_question(_board(set_name, qrels), question, depth, as_json=as_json)
    else:
        _show_board(_board(set_name, qrels), measure, domain, as_json=as_json)


def _show_board(shown: RetrievalBoard, measure: str, domain: str, *, as_json: bool) -> None:
    from arena.services.retrieval_boards.tables import board_json, remarks
    from leaderboard.retrieval.measures import JUDGED

    if as_json:
        show_json(board_json(shown).to_json())
        return
    show_line(f"{shown.questions.name}, judgments {shown.qrels.name}, {domain}.")
    for said in remarks(shown):
        show_line(said)
    if not measure:
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


def _show_difference(shown: RetrievalBoard, systems: tuple[str, str], measure: str, *, as_json: bool) -> None:
    from arena.models.retrieval import RetrievalDifference

    paired = shown.table.compared(measure, *systems)
    show_rows(
        [RetrievalDifference.of(one).to_json() for one in paired],
        ("domain", "difference", "lower", "upper", "p", "separated", "ahead", "behind", "questions"),
        [
            (
                one.domain,
                one.difference,
                *_ends(one.interval),
                one.p_value,
                "yes" if one.significant else "no",
                one.ahead,
                one.behind,
                one.questions,
            )
            for one in paired
        ],
        as_json=as_json,
    )


def _show_question(board: RetrievalBoard, question_id: str, depth: int, *, as_json: bool) -> None:
    from arena.services.accounts.auth import OPERATOR

    shown = open_arena().ranked_questions.of(board, question_id, depth=depth, caller=OPERATOR)
    if as_json:
        show_json(shown.to_json())
        return
    show_line(f"{shown.question} {shown.relevant:,} passages are relevant.")
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
def export(
    set_name: Annotated[str, typer.Argument(metavar="SET", help="Name of the question set.")],
    destination: Annotated[
        Path,
        typer.Argument(metavar="DEST", help="A .csv, .json or .parquet file; with --system - or a file."),
    ],
    qrels: QrelsName = "",
    system: Annotated[
        str,
        typer.Option(
            "--system",
            metavar="SYSTEM",
            help="Write what `trec_eval -q -c` prints of it: a line a question and measure, then the means.",
        ),
    ] = "",
    *,
    by_question: Annotated[
        bool, typer.Option("--questions", help="A row a question and system, not a measure and domain.")
    ] = False,
) -> None:
    """Write a board to a file, in the format that the file's ending names.

    $ arena retrieval export fiqa board.csv
    """
    from arena.services.retrieval_boards.tables import export_board
    from leaderboard.formats.sinks import atomic_text
    from leaderboard.retrieval.files import trec_eval_lines

    board = _board(set_name, qrels)
    if not system:
        export_board(board, destination, by_question=by_question)
        show_line(f"The board of {set_name} is written to {destination}.")
    elif str(destination) == "-":
        for line in trec_eval_lines(board.table, system):
            show_line(line)
    else:
        with atomic_text(destination) as file:
            file.writelines(f"{line}\n" for line in trec_eval_lines(board.table, system))
        show_line(f"The measures of {system} are written to {destination}.")


def _show_sets(*, as_json: bool) -> None:
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
