"""Boards: published, shown, exported, retracted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, require
from arena.services.accounts.visibility import Kind, Resource, Visibility, sight
from arena.services.boards.standings import require_enough, standings_of
from arena.services.jobs.cancellation import StopEvent, raise_if_stopped
from arena.services.rounds.export import write_round
from data.errors import ConflictError, InputError, RetractedError
from data.progress import working
from data.records import Action, Board, RoundState, TokenScope
from data.store import Store
from data.store.boards.boards import BoardHead
from leaderboard.export.tables import export_standings, flat_rows
from leaderboard.ratings import Cluster, Settings
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About, Standings
from leaderboard.standings.published import bundled_board

Note = Callable[[str], None]
ScoreSet = Callable[[str, Note, StopEvent | None], None]
Agreement = Callable[[str], Mapping[str, Any] | None]
AGREEMENT = "agreement"
LONGEST_NOTICE = 2000
PUBLISHABLE = (RoundState.FINISHED, RoundState.PUBLISHED)
BETWEEN_SYSTEMS = "between-systems"
RATED = ("rank", "system", "rating", "lower", "upper")
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

    def standings(self, name: str, *, calibration: Path | int | None = None) -> Standings:
        """Compute a round's standings from its judged battles, at whatever state it is.

        `calibration` is the agreement of the round's judge with people, for readers: what `judges calibrate
        --json` printed, or the number of a calibration's job.

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
        partial: bool = False,
        calibration: Path | int | None = None,
        stop_event: StopEvent | None = None,
        confirm: Callable[[], None] | None = None,
        caller: Caller = OPERATOR,
    ) -> tuple[Board, bool]:
        """Score what has no score yet, compute a finished round's standings, and publish them.

        Args:
            name: The round.
            report: Told what is being done.
            score: Whether to score; without, the board has the scores that are there already.
            partial: Whether a round of which less than 90 % was judged may be published, as partial.
            calibration: For its readers, the agreement of the round's judge with people: what
                `judges calibrate --json` printed, or the number of a calibration's job.
            stop_event: Set from another thread to stop before anything is published.
            confirm: Called at last, within the transaction that publishes; what it raises undoes that.
            caller: Who asks.

        Returns:
            The board, and whether it is new; publishing again changes nothing.

        Raises:
            ForbiddenError: Only organisers may.
            ConflictError: The round is not finished, was retracted, or too little of it was judged.
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
        if said := require_enough(self._store, name, partial=partial):
            report(said)
        if score:
            self._score_set(found.set_name, report, stop_event)
        raise_if_stopped(stop_event)
        report("computing the standings")
        standings = dict(self.standings(name, calibration=calibration).as_json())
        with working("comparing the metrics"):
            agreement = self._agreement(found.set_name) if score else None
        if agreement is not None:
            standings[AGREEMENT] = agreement
        raise_if_stopped(stop_event)
        with working("summing up the answers"):
            self._store.question_stats.write(found.id)
        with self._store.audit.audited() as notes:
            if confirm is not None:
                confirm()
            board, created = self._store.boards.publish(name, round_id=found.id, standings=standings)
            self._store.rounds.move(name, to=RoundState.PUBLISHED, allowed=PUBLISHABLE)
            notes.take(caller.note(Action.BOARD_PUBLISHED, f"board {name}", content=board.content_hash[:12]))
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
            reference_by=paper.reference_by,
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

    def retracted(self) -> tuple[BoardHead, ...]:
        """Every board that was taken down, whose notice is public."""
        return self._store.boards.heads(retracted=True)

    def get(self, name: str, *, caller: Caller = PUBLIC) -> Board:
        """One board; of one that was retracted only its notice, except for organisers.

        Raises:
            NotFoundError: No board has this name.
        """
        board = self._store.boards.get(name)
        resource = Resource(kind=Kind.BOARD, published=True, retracted=board.retracted)
        return board if sight(caller, resource) is Visibility.FULL else replace(board, standings={})

    def retract(self, name: str, notice: str, *, caller: Caller = OPERATOR) -> Board:
        """Take a board down with a notice for its readers.

        Raises:
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.audit.audited() as notes:
            board = self._store.boards.retract(name, notice)
            if board.round_name is not None:
                self._store.rounds.move(
                    board.round_name, to=RoundState.RETRACTED, allowed=(RoundState.PUBLISHED,)
                )
            notes.take(caller.note(Action.BOARD_RETRACTED, f"board {name}", notice=notice))
        return board

    def put_notice(self, name: str, text: str, *, caller: Caller = OPERATOR) -> Board:
        """Put an erratum on a board that stands, in place of the one before; its numbers and hash stay.

        Raises:
            ForbiddenError: Only organisers may.
            InputError: The notice is empty or too long.
            NotFoundError: No board has this name.
            ConflictError: The board was retracted.
        """
        notice = text.strip()
        if not notice:
            raise InputError("The notice is empty.", advice="Say what readers must know, or use --clear.")
        if len(notice) > LONGEST_NOTICE:
            raise InputError(
                f"The notice has {len(notice):,} characters.",
                advice=f"Use at most {LONGEST_NOTICE:,}, and an address for the rest.",
            )
        return self._change_notice(name, notice, caller)

    def clear_notice(self, name: str, *, caller: Caller = OPERATOR) -> Board:
        """Take the notice off a board that stands; the audit log keeps it. Raises as `put_notice`."""
        return self._change_notice(name, "", caller)

    def _change_notice(self, name: str, notice: str, caller: Caller) -> Board:
        require(caller, TokenScope.ORGANISE)
        board = self._store.boards.get(name)
        if board.retracted:
            raise ConflictError(
                f"The board {name} was retracted, and its notice says why.",
                advice="Put the notice on a board that stands.",
            )
        with self._store.audit.audited() as notes:
            changed = self._store.boards.put_notice(name, notice)
            notes.take(caller.note(Action.BOARD_NOTED, f"board {name}", notice=notice, before=board.notice))
        return changed

    def table(self, board: Board, domain: str) -> tuple[Sequence[str], Sequence[Sequence[str | int | None]]]:
        """The lines of one domain of a board, as text for a terminal."""
        rows = [row for row in flat_rows(board.standings) if row["domain"] == domain]
        if not rows:
            known = ", ".join(board.standings["lines"])
            raise ConflictError(
                f"Board {board.name} has no domain {domain!r}.", advice=f"Use one of: {known}."
            )
        return SHOWN, [_line(row) for row in rows]

    def between_systems(
        self, board: Board
    ) -> tuple[str, Sequence[str], Sequence[Sequence[str | int | None]]]:
        """The ratings of a board's battles between systems alone, as text for a terminal, best first.

        Returns:
            What they are of, the header, and the rows.

        Raises:
            ConflictError: The board has none.
        """
        kept = board.standings.get("beside") or ()
        mine = next((one for one in kept if one["kind"] == BETWEEN_SYSTEMS), None)
        if mine is None or not mine["ratings"]:
            raise ConflictError(
                f"Board {board.name} has no ratings of battles between systems alone. "
                f"{'' if mine is None else mine['note']}".strip(),
                advice="Judge a round with `--pairs all`, and publish it.",
            )
        rows = [
            (
                f"{one['rank_lower']}–{one['rank_upper']}",
                one["system"],
                *("" if one[end] is None else f"{one[end]:.0f}" for end in ("rating", "lower", "upper")),
                one["battles"],
            )
            for one in mine["ratings"]
        ]
        yardsticks = board.standings["facts"].get("yardsticks")
        held = f" The judge held answers against {yardsticks}." if yardsticks else ""
        return f"{mine['note']}{held}", (*RATED, "battles"), rows

    def export_board(self, name: str, destination: Path, *, caller: Caller = PUBLIC) -> None:
        """Write a board as CSV, JSON or Parquet, by the ending of the destination.

        Raises:
            NotFoundError: No board has this name.
            RetractedError: It was retracted and the caller is no organiser.
        """
        board = self.get(name, caller=caller)
        if not board.standings:
            raise RetractedError(name, board.notice)
        export_standings(board.standings, destination)

    def export_round(self, name: str, folder: Path, *, caller: Caller = OPERATOR) -> Mapping[str, str]:
        """Write a round's battles, judgments, books and standings, and return the files' checksums."""
        return write_round(self._store, name, self.standings(name).as_json(), folder, caller=caller)


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
