"""`arena rounds publish`, `retract`, `export` and `verify`: boards and exports of finished rounds."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, Engine, RoundArgument, Yes, confirm, open_parallel
from arena.cli.output import note, show_line, show_result
from arena.container import open_arena
from data.errors import InputError
from leaderboard.standings.sections import PEOPLE, people_sentence

COUNTED = ("votes", "annotators", "labelled_battles", "votes_left_out")


def publish(
    name: RoundArgument,
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|JOB",
            help="Output of `arena judges calibrate --json` for the round's judge, or the job number of a "
            "calibration made on the site (`arena jobs`); the board then says how often the judge "
            "agrees with people.",
        ),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS|FILE",
            help="Correct the board with human votes on some of the round's battles: `labels` for the labels "
            "of the round, or a file as for `arena battles rate --people`. For a published round, this "
            "creates a new snapshot with a new hash; the old one stays available as NAME@HASH.",
        ),
    ] = None,
    notice: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Only set this notice on the published board; an empty text removes it. The numbers and "
            "their hash do not change.",
        ),
    ] = None,
    *,
    metrics: Annotated[
        bool | None,
        typer.Option(
            "--metrics/--no-metrics",
            help="Score answers first with all embedded metrics or none; the default is the metrics that a "
            "board shows by default (about five minutes for 42,000 answers on two processors).",
        ),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Publish a round with less than 90 % of its battles judged, as a partial board."
        ),
    ] = False,
    engine: Engine = None,
    as_json: AsJson = False,
) -> None:
    """Compute the standings of a finished round and publish them as a board.

    $ arena rounds publish demo

    Answers without scores are scored first, unless --no-metrics is set. --partial is required if less than
    90 % of all battles, or of one system's battles, were judged; the board then says so next to its title.
    """
    if notice is not None:
        boards = open_arena().boards
        board = boards.put_notice(name, notice) if notice else boards.clear_notice(name)
        fields = {"name": board.name, "notice": board.notice, "content_hash": board.content_hash}
        show_result(fields, f"{name}: {board.notice or 'the notice is removed.'}", as_json=as_json)
        return
    source = (
        None if calibration is None else int(calibration) if calibration.isdecimal() else Path(calibration)
    )
    with open_parallel(engine) as arena:
        votes = None if people is None else arena.boards.votes(people, name)
        board, created = arena.boards.publish(
            name, report=note, score=metrics, partial=partial, calibration=source, people=votes
        )
    section = board.standings.get(PEOPLE)
    counted = {key: section[key] for key in COUNTED} if section else {}
    payload = {
        "name": board.name,
        "content_hash": board.content_hash,
        "created": created,
        "partial": bool(board.standings.get("partial")),
        **counted,
    }
    state = "published" if created else "unchanged (already published)"
    line = f"{board.name} {state} ({board.content_hash[:12]})."
    if section:
        line += f"\n{people_sentence(board.standings)}. {section['advice']}"
    show_result(payload, line, as_json=as_json)
    conduct = (board.standings.get("health") or {}).get("conduct") or {}
    note(*(f"warning: {sentence}" for sentence in conduct.get("warnings", ())))
    if section and section["votes_left_out"]:
        note(f"{section['votes_left_out']:,} votes on battles that the round did not judge are left out")


def retract(
    name: RoundArgument,
    notice: Annotated[str, typer.Option(metavar="TEXT", help="Notice to show at the board's URLs.")] = "",
    *,
    yes: Yes = False,
) -> None:
    """Retract a published board: its URLs show the notice, and the board stays stored.

    $ arena rounds retract demo --notice "Two answers were exchanged."
    """
    confirm(f"Retract the board {name}?", yes=yes)
    open_arena().boards.retract(name, notice)
    show_line(f"{name} is retracted.")


def export(
    name: RoundArgument,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write, or a file that ends in .parquet.")
    ],
) -> None:
    """Write a round's battles, judgments, costs and standings with their checksums.

    $ arena rounds export demo folder

    A `.parquet` file has only the judged battles, as columns; ten million take seconds.
    """
    if folder.suffix.lower() in {".csv", ".json", ".jsonl", ".zip"}:
        advice = "Choose a folder, or a file that ends in .parquet."
        raise InputError(f"Rounds are exported to folders, but {folder.name} is a file name.", advice=advice)
    if folder.suffix.lower() == ".parquet":
        rows = open_arena().boards.export_battles(name, folder)
        show_line(f"{rows:,} battles written to {folder}.")
        return
    arena = open_arena()
    files = arena.boards.export_round(name, folder)
    show_line(f"{len(files)} files written to {folder}.")


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `arena rounds export` wrote.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Verify an exported round.

    $ arena rounds verify folder

    Compares the checksums, derives the battles from their judgments, and recomputes the standings from the
    battles. Prints the content hash, to compare with the published board.
    """
    from arena.services.boards.verification import verify_folder

    result = verify_folder(folder)
    corrected = f"{result.corrected:,} were corrected by organisers, " if result.corrected else ""
    if result.without_judge:
        corrected += f"{result.without_judge:,} are lost because an answer is missing, "
    show_result(
        {
            "files": result.files,
            "verified": True,
            "corrected": result.corrected,
            "without_judge": result.without_judge,
            "content_hash": result.content_hash,
        },
        f"{len(result.files)} files match their checksums, {result.battles:,} battles match their judgments, "
        f"{corrected}and the standings match the battles. The content hash is {result.content_hash}: compare "
        f"it with the board's.",
        as_json=as_json,
    )
