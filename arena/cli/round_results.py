"""`arena rounds publish`, `retract`, `export` and `verify`: what leaves a finished round."""

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
            help="Correct the board by votes of people on some of the round's battles: `labels` for the "
            "labels of the round, or a file as of `arena battles rate --people`. Of a published round it "
            "makes another snapshot with a hash of its own; the former one stays as NAME@HASH.",
        ),
    ] = None,
    notice: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Only put this notice for readers on the published board; an empty one takes it off. "
            "Numbers and their hash do not change.",
        ),
    ] = None,
    *,
    metrics: Annotated[
        bool,
        typer.Option(
            "--metrics/--no-metrics",
            help="Score answers by the embedded metrics first, which takes minutes on large sets (about ten "
            "for 42,000 answers on two processors); without, the board shows the scores that exist.",
        ),
    ] = True,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Publish a round of which less than 90 % was judged, as a partial board."
        ),
    ] = False,
    engine: Engine = None,
    as_json: AsJson = False,
) -> None:
    """Compute the standings of a finished round and publish them as a board.

    $ arena rounds publish demo

    Answers without scores are scored first; --no-metrics leaves that out. A round of which less than 90 % was
    judged, of all battles or of one system's, needs --partial, and its board says so beside the title.
    """
    if notice is not None:
        _put_notice(name, notice, as_json=as_json)
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
    state = "published" if created else "unchanged: it was published before"
    line = f"{board.name} {state} ({board.content_hash[:12]})."
    if section:
        line += f"\n{people_sentence(board.standings)}. {section['advice']}"
    show_result(payload, line, as_json=as_json)
    for sentence in ((board.standings.get("health") or {}).get("conduct") or {}).get("warnings", ()):
        note(f"warning: {sentence}")
    if section and section["votes_left_out"]:
        note(f"{section['votes_left_out']:,} votes are on no judged battle of the round, and left out")


def retract(
    name: RoundArgument,
    notice: Annotated[str, typer.Option(metavar="TEXT", help="The notice that its addresses show.")] = "",
    *,
    yes: Yes = False,
) -> None:
    """Retract a published board: its addresses show the notice, the board stays stored.

    $ arena rounds retract demo --notice "Two answers were exchanged."
    """
    confirm(f"Retract the board {name}?", yes=yes)
    open_arena().boards.retract(name, notice)
    show_line(f"{name} is retracted.")


def _put_notice(name: str, text: str, *, as_json: bool) -> None:
    boards = open_arena().boards
    board = boards.put_notice(name, text) if text else boards.clear_notice(name)
    payload = {"name": board.name, "notice": board.notice, "content_hash": board.content_hash}
    show_result(payload, f"{name}: {board.notice or 'the notice is taken off.'}", as_json=as_json)


def export(
    name: RoundArgument,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write, or a file that ends in .parquet.")
    ],
) -> None:
    """Write a round's battles, judgments, costs and standings with their checksums.

    $ arena rounds export demo folder

    Into a file that ends in `.parquet` go its judged battles alone, as columns, ten million in seconds.
    """
    if folder.suffix.lower() in {".csv", ".json", ".jsonl", ".zip"}:
        advice = "Name a folder, or a file that ends in .parquet."
        raise InputError(f"{folder.name} names a file, and a round is a folder of files.", advice=advice)
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

    Compares its checksums, settles its battles again from their judgments, and recomputes its standings from
    its battles. Prints the content hash, which is that of the published board.
    """
    from arena.services.boards.verification import verify_folder

    found = verify_folder(folder)
    corrected = f"{found.corrected:,} were corrected by the organisers, " if found.corrected else ""
    if found.without_judge:
        corrected += f"{found.without_judge:,} are lost for a missing answer, "
    show_result(
        {
            "files": found.files,
            "verified": True,
            "corrected": found.corrected,
            "without_judge": found.without_judge,
            "content_hash": found.content_hash,
        },
        f"{len(found.files)} files are as exported, {found.battles:,} battles follow from their judgments, "
        f"{corrected}and the standings from the battles. Their content hash is {found.content_hash}: compare "
        f"it with the board's.",
        as_json=as_json,
    )
