"""`arena rounds publish`, `retract`, `notice`, `export` and `verify`: what leaves a finished round."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, Engine, open_spreading
from arena.cli.output import note, show_line, show_result
from arena.cli.rounds.reports import RoundArgument
from arena.container import open_arena
from data.errors import InputError
from leaderboard.standings.corrected import PEOPLE, people_sentence
from leaderboard.vocabulary import VoteRule

COUNTED = ("votes", "annotators", "labelled_battles", "votes_left_out")


def publish(
    name: RoundArgument,
    calibration: Annotated[
        str | None,
        typer.Option(
            "--calibration",
            metavar="FILE|JOB",
            help="Output of `arena judges calibrate --json` for the round's judge, or the job number of a "
            "calibration made on the site (`arena jobs list`); the board then says how often the judge "
            "agrees with people.",
        ),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(
            "--people",
            metavar="TASK|FILE",
            help="Votes of people on some of the round's battles: the labels of an annotation task, or a "
            "votes file as of `arena battles rate --people`. The board then says what people would say "
            "beside what the judge says. Of a published round it makes another snapshot with a hash of its "
            "own; the former one stays as NAME@HASH.",
        ),
    ] = None,
    vote_rule: Annotated[
        VoteRule | None,
        typer.Option(
            "--vote-rule", help="With --people: several votes on a battle count as mean share or majority."
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

    Answers without scores are scored first; --no-metrics leaves that out. A round of which less than 90 % was
    judged, of all battles or of one system's, needs --partial, and its board says so beside the title.
    """
    source = (
        None if calibration is None else int(calibration) if calibration.isdecimal() else Path(calibration)
    )
    from arena.services.people.round_votes import VoteSource

    if vote_rule is not None and people is None:
        raise InputError("--vote-rule says how votes count, and there are none.", advice="Add --people.")
    votes = None if people is None else VoteSource.read(people, vote_rule or VoteRule.MEAN)
    with open_spreading(engine) as arena:
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
    if section and section["votes_left_out"]:
        note(f"{section['votes_left_out']:,} votes are on no judged battle of the round, and left out")


def retract(
    name: RoundArgument,
    notice: Annotated[str, typer.Option("--notice", metavar="TEXT", help="The reason, for readers.")] = "",
) -> None:
    """Retract a published board.

    Its addresses show the reason; the board itself stays stored.
    """
    open_arena().boards.retract(name, notice)
    show_line(f"{name} is retracted.")


def notice(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the published round.")],
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="What readers must know, as plain text.")
    ] = None,
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the notice.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a notice on a published board, or remove it.

    The board's numbers and their hash do not change.
    """
    if clear is (text is not None):
        raise InputError(
            "Give either a text or --clear.", advice=f'As in: arena rounds notice {name} "What went wrong."'
        )
    boards = open_arena().boards
    board = boards.clear_notice(name) if text is None else boards.put_notice(name, text)
    payload = {"name": board.name, "notice": board.notice, "content_hash": board.content_hash}
    show_result(payload, f"{name}: {board.notice or 'the notice is taken off.'}", as_json=as_json)


def export(
    name: RoundArgument,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write, or a file that ends in .parquet.")
    ],
) -> None:
    """Write a round's battles, judgments, costs and standings with their checksums.

    Into a file that ends in `.parquet` go its judged battles alone, as columns, ten million in seconds.
    """
    if folder.suffix == ".parquet":
        rows = open_arena().boards.export_battles(name, folder)
        show_line(f"{rows:,} battles written to {folder}.")
        return
    files = open_arena().boards.export_round(name, folder)
    show_line(f"{len(files)} files written to {folder}.")


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `arena rounds export` wrote.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Verify an exported round.

    Compares its checksums, and recomputes its standings from its battles.
    """
    from arena.services.rounds.export import verify_folder

    checked = verify_folder(folder)
    line = f"{len(checked)} files are as exported, and the standings follow from the battles."
    show_result({"files": checked, "verified": True}, line, as_json=as_json)
