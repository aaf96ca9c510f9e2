"""Boards: published, shown, exported, retracted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.services.exports import write_round
from arena.services.identity import OPERATOR, PUBLIC, Caller, require
from arena.services.interrupts import Halt, heed
from arena.services.standings import standings_of
from arena.services.visibility import Kind, Sight, Thing, sight
from data.errors import ConflictError, NotFoundError
from data.records import (
    Action,
    AuditNote,
    Board,
    RoundState,
    TokenScope,
)
from data.store import Store
from data.store.boards import BoardHead
from leaderboard.building import build_standings
from leaderboard.export import export_standings, flat_rows
from leaderboard.published import bundled_board
from leaderboard.ratings import Cluster, Settings
from leaderboard.standings import About, Standings

Note = Callable[[str], None]
ScoreSet = Callable[[str, Note, Halt | None], None]
Agreement = Callable[[str], Mapping[str, Any] | None]
AGREEMENT = "agreement"
PUBLISHABLE = (RoundState.FINISHED, RoundState.PUBLISHED)
SHOWN = ("rank", "system", "rating", "lower", "upper", "win", "win+tie", "no answer", "battles")


class BoardService:
    """Use cases around boards.

    Args:
        store: Where rounds and boards are kept.
        score_set: Scores the answers of a set that have no score yet by the metrics of the board.
        agreement: Tells how the metrics of a set agree, and its bounds; None where there is nothing to tell.
    """

    def __init__(self, store: Store, *, score_set: ScoreSet, agreement: Agreement) -> None:
        self._store = store
        self._score_set = score_set
        self._agreement = agreement

    def standings(self, name: str, *, calibration: Path | None = None) -> Standings:
        """Compute a round's standings from its judged battles, at whatever state it is.

        Args:
            name: The round.
            calibration: What `judges calibrate --json` printed of the round's judge, for its readers.

        Raises:
            NotFoundError: There is no such round.
            InputError: The calibration is of other judges.
        """
        return standings_of(self._store, name, calibration=calibration)

    def publish(
        self,
        name: str,
        *,
        report: Note,
        score: bool = True,
        calibration: Path | None = None,
        halt: Halt | None = None,
        confirm: Callable[[], None] | None = None,
        caller: Caller = OPERATOR,
    ) -> tuple[Board, bool]:
        """Score what has no score yet, compute a finished round's standings, and publish them.

        Args:
            name: The round.
            report: Told what is being done.
            score: Whether to score; without, the board has the scores that are there already.
            calibration: What `judges calibrate --json` printed of the round's judge, for its readers.
            halt: Set from another thread to stop before anything is published.
            confirm: Called at last, within the transaction that publishes; what it raises undoes that.
            caller: Who asks.

        Returns:
            The board, and whether it is new; publishing again changes nothing.

        Raises:
            ForbiddenError: Only organisers may.
            ConflictError: The round is not finished, or was published and retracted.
            InputError: The calibration is of other judges.
            StoppedError: It was stopped; scores are kept, nothing is published.
        """
        require(caller, TokenScope.ORGANISE)
        found = self._store.rounds.get(name)
        if found.state is RoundState.PUBLISHED:
            return self._store.boards.get(name), False
        if found.state is RoundState.RETRACTED:
            raise ConflictError(
                f"Round {name} was published and retracted.", advice="Judge a new round instead."
            )
        if found.state not in PUBLISHABLE:
            raise ConflictError(
                f"Round {name} is {found.state}, so it cannot be published.",
                advice=f"Finish it first: `arena rounds resume {name}`.",
            )
        if score:
            self._score_set(found.set_name, report, halt)
        heed(halt)
        report("computing the standings")
        standings = dict(self.standings(name, calibration=calibration).as_json())
        agreement = self._agreement(found.set_name) if score else None
        if agreement is not None:
            standings[AGREEMENT] = agreement
        heed(halt)
        self._store.digests.write(found.id)
        with self._store.audit.noting() as notes:
            if confirm is not None:
                confirm()
            board, created = self._store.boards.publish(name, round_id=found.id, standings=standings)
            self._store.rounds.move(name, to=RoundState.PUBLISHED, allowed=PUBLISHABLE)
            notes.take(_note(caller, Action.BOARD_PUBLISHED, name, content=board.content_hash[:12]))
        return board, created

    def publish_paper(self) -> Board:
        """Publish the bundled board of RAG-QA Arena's results; one that stands already stays."""
        paper = bundled_board()
        standing = [board for board in self._store.boards.all() if board.name == paper.name]
        if standing:
            return standing[0]
        about = About(
            name=paper.name,
            title=paper.title,
            note=paper.note,
            reference=paper.reference,
            labels=paper.labels,
            facts={"judge": paper.judge, "source": paper.source, "licence": paper.licence},
        )
        standings = build_standings(paper.table, about, settings=Settings(cluster=Cluster.NONE))
        board, _ = self._store.boards.publish(paper.name, round_id=None, standings=standings.as_json())
        return board

    def published(self) -> tuple[Board, ...]:
        """Every board that stands, newest round first."""
        return self._store.boards.all()

    def heads(self) -> tuple[BoardHead, ...]:
        """Every board that stands, in the order of `published`, without its standings."""
        return self._store.boards.heads()

    def get(self, name: str, *, caller: Caller = PUBLIC) -> Board:
        """One board; of one that was retracted only its notice, except for organisers.

        Raises:
            NotFoundError: No board has this name.
        """
        board = self._store.boards.get(name)
        thing = Thing(kind=Kind.BOARD, published=True, retracted=board.retracted)
        return board if sight(caller, thing) is Sight.FULL else replace(board, standings={})

    def retract(self, name: str, notice: str, *, caller: Caller = OPERATOR) -> Board:
        """Take a board down with a notice for its readers.

        Raises:
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.audit.noting() as notes:
            board = self._store.boards.retract(name, notice)
            if board.round_name is not None:
                self._store.rounds.move(
                    board.round_name, to=RoundState.RETRACTED, allowed=(RoundState.PUBLISHED,)
                )
            notes.take(_note(caller, Action.BOARD_RETRACTED, name, notice=notice))
        return board

    def table(self, board: Board, domain: str) -> tuple[Sequence[str], Sequence[Sequence[str | int | None]]]:
        """The lines of one domain of a board, as text for a terminal."""
        rows = [row for row in flat_rows(board.standings) if row["domain"] == domain]
        if not rows:
            known = ", ".join(board.standings["lines"])
            raise ConflictError(
                f"Board {board.name} has no domain {domain!r}.", advice=f"Use one of: {known}."
            )
        return SHOWN, [_line(row) for row in rows]

    def export_board(self, name: str, destination: Path, *, caller: Caller = PUBLIC) -> None:
        """Write a board as CSV, JSON or Parquet, by the ending of the destination.

        Raises:
            NotFoundError: No board has this name, or it was retracted and the caller is no organiser.
        """
        board = self.get(name, caller=caller)
        if not board.standings:
            raise NotFoundError(f"The board {name} was retracted.", advice=board.notice)
        export_standings(board.standings, destination)

    def export_round(self, name: str, folder: Path, *, caller: Caller = OPERATOR) -> Mapping[str, str]:
        """Write a round's battles, judgments, books and standings, and return the files' checksums."""
        return write_round(self._store, name, self.standings(name).as_json(), folder, caller=caller)


def _note(caller: Caller, action: Action, name: str, **detail: object) -> AuditNote:
    return AuditNote(actor=caller.name, action=action, subject=f"board {name}", detail=detail)


def _line(row: Mapping[str, object]) -> Sequence[str | int | None]:
    places = (row["rank_lower"], row["rank_upper"])
    return (
        None if None in places else f"{places[0]}–{places[1]}",
        str(row["system"]),
        _number(row["rating"], ".0f"),
        _number(row["lower"], ".0f"),
        _number(row["upper"], ".0f"),
        _number(row["win_rate"], ".1%"),
        _number(row["win_tie_rate"], ".1%"),
        _number(row["no_answer_share"], ".1%"),
        _number(row["battles"], ",.0f"),
    )


def _number(value: object, form: str) -> str | None:
    return format(value, form) if isinstance(value, int | float) else None
