"""`arena rank`, `arena losses` and `arena compare`: rank answer files and explain the ranking."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arena.cli.options import (
    AsJson,
    Concurrency,
    GoOn,
    Missing,
    Sample,
    Seed,
    in_flight,
    whole_file,
    whole_if_named,
)
from arena.cli.output import note, show_json, show_line, show_table
from arena.container import Arena, open_ranking
from data.errors import InputError, StoreError
from data.models import MissingRule
from data.progress import Stopwatch, Work, working
from data.text import are, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from arena.services.ranking.requests import RankRequest
    from arena.services.ranking.results import Duel
    from arena.services.ranking.service import Prepared
    from data.models import Board
    from submissions.answer_tables import AnswerTable


DEFAULT = Path("arena-board")
COLUMN = "[FILE:]COLUMN"
INTERRUPTED = 130
WORSE, UNDECIDED = 3, 4
MIN_PAUSE_SECONDS = 2.0
PAUSE_PER_UPDATE = 20.0
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a ranking.")]
First = Annotated[str, typer.Argument(metavar="X", help="One system.")]
Second = Annotated[str, typer.Argument(metavar="Y", help="The other system.")]


def rank(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…",
            help="Answer files, one per system or a table of several systems; NAME=FILE names a system, "
            "NAME=- is standard input. To continue an earlier ranking, put its folder first.",
        ),
    ],
    judge: Annotated[
        str,
        typer.Option(
            metavar="JUDGE|MODEL",
            show_default="the embedded judge, if there are references or passages",
            help="Name or file of a judge, or a model.",
        ),
    ] = "",
    endpoint: Annotated[
        str,
        typer.Option(metavar="URL", show_default="OPENAI_BASE_URL, else OpenAI's", help="API of the model."),
    ] = "",
    references: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Reference answers or passages of the questions.", callback=whole_if_named
        ),
    ] = None,
    versus: Annotated[
        str,
        typer.Option(
            "--vs",
            metavar="SYSTEM",
            show_default="all pairs",
            help="Compare all systems only with this one, or with the `reference`.",
        ),
    ] = "",
    missing: Missing = MissingRule.LOSE,
    sample: Sample = None,
    max_usd: Annotated[
        float | None, typer.Option(metavar="X", min=0.0, help="Spending limit in USD.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", show_default=str(DEFAULT), help="Folder of the ranking.")
    ] = None,
    seed: Seed = 0,
    concurrency: Concurrency = None,
    question: Annotated[str, typer.Option(metavar=COLUMN, help="Column of the questions.")] = "",
    answer: Annotated[
        list[str] | None,
        typer.Option(
            metavar=COLUMN, help="Column of the answers, optionally for one file (FILE:COLUMN); repeatable."
        ),
    ] = None,
    system: Annotated[str, typer.Option(metavar=COLUMN, help="Column of the systems.")] = "",
    reference: Annotated[str, typer.Option(metavar=COLUMN, help="Column of the references.")] = "",
    retry: Annotated[
        Literal["all", "none"], typer.Option(help="Which comparisons without a verdict to judge again.")
    ] = "all",
    repeats: Annotated[
        Literal["first", "all"],
        typer.Option(help="Which of a system's answers to the same question to judge."),
    ] = "first",
    *,
    with_reference: Annotated[
        bool, typer.Option("--with-reference", help="Rank the references too, as one more system.")
    ] = False,
    go_on: GoOn = False,
    keep_errors: Annotated[
        bool, typer.Option("--keep-errors", help="Judge NA, None and a harness's errors as answers.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show how the files are read and what judging would cost, then exit."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Send paid requests without confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rank systems by their answer files, in one command: arena rank a.csv b.csv --judge gpt-5-mini.

    $ arena rank a.csv b.csv --judge gpt-5-mini --references references.csv

    Questions are joined by id, else by text. Run the same command again to continue after an interruption.
    Another file adds a system; a model then judges only the new pairs.
    """
    from arena.services.accounts.auth import OPERATOR
    from arena.services.ranking.requests import Columns, RankRequest, named_files, scratch_of, tables_of
    from arena.services.ranking.results import BOARD, COMPARISONS, TABLE

    folder, paths = _folder(files, out)
    request = RankRequest(
        judge=judge,
        endpoint=endpoint,
        versus=versus,
        missing=missing,
        sample=sample,
        budget_usd=max_usd,
        seed=seed,
        with_reference=with_reference,
        retry=retry == "all",
        go_on=go_on,
        keep_errors=keep_errors,
        repeats=repeats == "all",
    )
    columns = Columns(
        question=question,
        answers=tuple(answer or ()),
        system=system,
        reference=reference,
        repeats=request.repeats,
        keep_na=keep_errors,
    )
    tables = tables_of(named_files(paths), columns, _ask, whole_file)
    right = None if references is None else columns.references(references)
    new = False
    if dry_run or not yes:
        # Plan in a copy: dry runs and declined plans store nothing.
        with scratch_of(folder) as copy:
            arena = open_ranking(copy)
            prepared, plan = _planned(arena, request, tables, right)
            arena.close()
            if dry_run:
                if as_json:
                    show_json({"sentence": prepared.sentence, "notes": list(prepared.notes), **plan})
                return
            _confirm(plan)
            new = not folder.exists()
            if new:
                shutil.copytree(copy, folder)
    arena = open_ranking(folder)
    if yes:
        prepared, _ = _planned(arena, request, tables, right)
    elif not new:
        prepared = arena.ranking.prepare(request, tables, right, caller=OPERATOR)
    board = _judged(arena, prepared, folder, concurrency)
    _show(arena, board, as_json=as_json)
    note(*(str(folder / name) for name in (BOARD, TABLE, COMPARISONS)))
    _suggest(arena, board, quote(str(folder)))


def losses(folder: Folder, loser: First, winner: Second, *, as_json: AsJson = False) -> None:
    """List the questions that one system of a ranking lost to another, with reasons, the clearest first.

    $ arena losses arena a b
    """
    results = _existing(folder).ranking_results
    duel = results.duel(results.last_round(), loser, winner)
    duel.require_met()
    _note_newer(duel, folder)
    lost = results.losses(duel.round, loser, winner)
    if as_json:
        show_json([asdict(loss) for loss in lost])
        return
    show_line(f"{loser} lost {len(lost):,} to {winner}." if duel.judged else duel.record)
    for loss in lost:
        show_line(f"{loss.question_id}: {loss.question}")
        show_line(f"    {loss.reason or 'no reason given'}")


def compare(
    folder: Folder,
    first: First,
    second: Second,
    *,
    fail_if_worse: Annotated[
        bool, typer.Option("--fail-if-worse", help="Exit with status 3 if X is worse than Y, for CI.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two systems of a ranking by ratings, interval and record.

    $ arena compare arena a b --fail-if-worse

    With --fail-if-worse, the exit code is 4 (undecided) if more than a tenth of their comparisons have no
    verdict, if they never met, or if the newest round has no board.
    """
    results = _existing(folder).ranking_results
    duel = results.duel(results.last_round(), first, second)
    _note_newer(duel, folder)
    if as_json:
        derived = {name: getattr(duel, name) for name in ("significant", "worse", "undecided", "sentence")}
        show_json({**asdict(duel), **derived})
    else:
        show_line(duel.sentence)
    if fail_if_worse and (duel.undecided or duel.worse):
        raise typer.Exit(UNDECIDED if duel.undecided else WORSE)


def _note_newer(duel: Duel, folder: Path) -> None:
    if duel.newer:
        note(f"Round {duel.newer} has no board yet; continue: arena rank {quote(str(folder))}")


def _planned(
    arena: Arena, request: RankRequest, tables: list[AnswerTable], references: AnswerTable | None
) -> tuple[Prepared, Mapping[str, Any]]:
    """Print how the files are read and what judging will cost."""
    from arena.cli.round_status import undecidable_lines
    from arena.services.accounts.auth import OPERATOR

    prepared = arena.ranking.prepare(request, tables, references, caller=OPERATOR)
    note(*prepared.notes, prepared.sentence)
    plan = arena.ranking.estimate(prepared, caller=OPERATOR)
    note(*(f"left out: {count:,} {reason}" for reason, count in plan["left_out"].items()))
    note(*undecidable_lines(plan["undecidable"], plan["planned"]))
    note(_cost(plan, prepared))
    if added := plan["with_reference"]:
        share = (plan["cost_usd"] or 0.0) * added / plan["planned"]
        price = f", about ${share:,.2f}" if share else ""
        note(f"The reference is ranked too, which adds {counted(added, 'comparison')}{price}.")
    arena.ranking.require_ready(prepared)
    return prepared, plan


def _ask(file: str, column: str) -> bool:
    return sys.stdin.isatty() and typer.confirm(f"{file}: does {column!r} name the systems?", err=True)


def _folder(files: list[str], out: Path | None) -> tuple[Path, list[str]]:
    """Split arguments into the folder of the ranking and the answer files."""
    from arena.services.ranking.requests import is_ranking

    if files and is_ranking(Path(files[0])):
        if out is not None and out.resolve() != Path(files[0]).resolve():
            raise InputError(
                f"{files[0]} is a ranking, but --out is another folder.", advice="Leave out --out."
            )
        return Path(files[0]), files[1:]
    return out or DEFAULT, files


def _existing(folder: Path) -> Arena:
    from arena.services.ranking.requests import require_ranking

    require_ranking(folder)
    return open_ranking(folder)


def _cost(plan: Mapping[str, Any], prepared: Prepared) -> str:
    lost = plan["without_judge"]
    decided = plan["planned"] - lost - plan["missing"] - sum(plan["undecidable"].values())
    summary = f"{counted(decided, 'comparison')} by {plan['judge']}"
    summary += f"; {lost:,} more {are(lost)} lost because an answer is missing" if lost else ""
    if not plan["requests"] + plan["cached"]:
        return f"{summary}; no model is called."
    cached = f", {plan['cached']:,} more {are(plan['cached'])} in the cache" if plan["cached"] else ""
    summary = f"{summary}: {counted(plan['requests'], 'request')}{cached}"
    expected, most = plan["cost_usd"], plan["cost_usd_most"]
    if expected is None:
        return f"{summary}; their cost is unknown."
    if not expected and not most:
        free = ", ".join(plan["free_by_place"])
        unless = f" ({free} has no price at its private address, unless its replies report a cost)"
        return f"{summary}; they cost nothing{unless if free else ''}."
    capped = prepared.request.budget_usd
    cap = "" if capped is None else f", capped at ${capped:,.2f}"
    ceiling = "replies have no length limit" if most is None else f"at most ${most:,.2f}"
    return f"{summary}; about ${expected:,.2f}, {ceiling}{cap}."


def _confirm(plan: Mapping[str, Any]) -> None:
    """Ask once if requests are paid."""
    if plan["cost_usd"] == plan["cost_usd_most"] == 0:
        return
    if not sys.stdin.isatty():
        raise InputError(
            "These requests may cost money, and there is no terminal to confirm on.", advice="Add --yes."
        )
    typer.confirm("Continue?", default=True, abort=True, err=True)


def _judged(arena: Arena, prepared: Prepared, folder: Path, concurrency: int | None) -> Board:
    from arena.services.accounts.auth import OPERATOR
    from arena.services.ranking.results import without_verdict

    round_ = arena.ranking.round_of(prepared, caller=OPERATOR)
    flying = in_flight(arena, concurrency)
    with arena.engine.parallel(), working("comparing answers") as work, _standing(arena, round_.name, work):
        counts = arena.ranking.judge(
            round_,
            lambda name, report: arena.engine.judge(name, concurrency=flying, report=report),
            work.follow,
        )
    if counts.pending:
        note(f"{counts.pending:,} comparisons are left; continue: arena rank {quote(str(folder))}")
        raise typer.Exit(INTERRUPTED)
    note(*without_verdict(round_, counts, folder))
    with arena.engine.parallel():
        return arena.ranking.publish(round_.name)


def _suggest(arena: Arena, board: Board, folder: str) -> None:
    """Suggest commands that explain the ranking."""
    met = arena.ranking_results.met(board)
    if met is not None:
        better, other = map(quote, met)
        note(f"Why: arena losses {folder} {other} {better}")
        note(f"Which is better: arena compare {folder} {better} {other}")


@contextmanager
def _standing(arena: Arena, name: str, work: Work) -> Iterator[None]:
    """Print the systems' standings every few seconds during the block."""
    ended = Event()

    def update() -> None:
        pause = MIN_PAUSE_SECONDS
        while not ended.wait(pause):
            watch = Stopwatch()
            # Skip failed updates: the run itself reports database errors.
            with suppress(StoreError):
                work.lines = arena.ranking.so_far(name)
            pause = max(MIN_PAUSE_SECONDS, PAUSE_PER_UPDATE * watch.seconds)

    thread = Thread(target=update, name="standings", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _show(arena: Arena, board: Board, *, as_json: bool) -> None:
    from arena.services.ranking.results import HEADS

    systems = arena.ranking_results.systems(board)
    sentence = arena.ranking_results.sentence(board)
    if as_json:
        show_json({"sentence": sentence, "systems": [asdict(row) for row in systems]})
        return
    covered = arena.ranking_results.covered_heading(board)
    declines = arena.ranking_results.decline_headings(board)
    heads = (*HEADS, *filter(None, [covered]), *declines)
    rows = [(*row.cells, *([row.facts] if covered else []), *row.declines) for row in systems]
    show_table(heads, [(*row, *[None] * len(heads))[: len(heads)] for row in rows])
    unranked = [f"{row.system}: {row.unranked}" for row in systems if row.unranked]
    show_line(*unranked, *arena.ranking_results.notes(board), sentence)
