"""Boards: preview, publish, annotate, retract, export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.boards.reader import BoardReader
from arena.services.jobs.cancellation import StopEvent, raise_if_stopped
from arena.services.jobs.service import JobService
from arena.services.system import rare_collections
from data.errors import ConflictError, InputError
from data.models import Board, Job, JobKind, Round, RoundState, Submission, TokenScope
from data.progress import working
from data.store import Store
from leaderboard.standings.sections import PEOPLE

if TYPE_CHECKING:
    # Methods that compute standings import these slow modules themselves.
    from arena.services.boards.people import VoteSource
    from leaderboard.standings.model import Standings

Note = Callable[[str], None]
MAX_NOTICE = 2000
PUBLISHABLE = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PUBLISHED)


class Score(Protocol):
    """Computes missing scores of a set's answers."""

    def __call__(
        self,
        set_name: str,
        note: Note,
        stop: StopEvent | None,
        entrants: Sequence[Submission],
        *,
        every: bool,
    ) -> None:
        """Score the answers by all embedded metrics, or by those that a board shows by default."""


class BoardService(BoardReader):
    """Service for boards; `score` computes missing scores of answers."""

    def __init__(self, store: Store, jobs: JobService, *, score: Score) -> None:
        super().__init__(store)
        self._jobs = jobs
        self._score = score

    def standings(self, name: str, *, calibration: Path | int | None = None) -> Standings:
        """Compute a round's standings from its judged battles, in any state.

        `calibration` has the agreement of the round's judge with people: the output of `judges calibrate
        --json`, or the job number of a calibration.
        """
        from arena.services.boards.standings import standings_of

        return standings_of(self._store, name, calibration=calibration)

    def preview(self, name: str, *, caller: Caller) -> Mapping[str, Any]:
        """Return the standings that publishing a finished round would show."""
        require(caller, TokenScope.ORGANISE)
        state = self._store.rounds.get(name).state
        if state not in PUBLISHABLE:
            raise ConflictError(f"Round {name} is {state}.", advice="Only finished rounds have a board.")
        return self.standings(name).as_json()

    def partial(self, name: str, *, caller: Caller) -> str:
        """Return the note of a partial board; empty if enough is judged."""
        from arena.services.boards.standings import partial_sentence_of

        require(caller, TokenScope.ORGANISE)
        return partial_sentence_of(self._store, name)

    @rare_collections()
    def publish(
        self,
        name: str,
        *,
        report: Note,
        score: bool | None = None,
        partial: bool = False,
        calibration: Path | int | None = None,
        people: VoteSource | None = None,
        stop_event: StopEvent | None = None,
        confirm: Callable[[], None] | None = None,
        caller: Caller = OPERATOR,
    ) -> tuple[Board, bool]:
        """Compute missing scores and a finished round's standings, and publish them.

        A published round gets a new snapshot if verdicts were corrected, or if there are human votes, whose
        figures are added to the judge's. Old snapshots stay, named by their hash.

        Args:
            name: The round.
            report: Called with each step.
            score: Compute missing scores of all embedded metrics (True), of those that a board shows by
                default (None), or of none (False).
            partial: Publish a round with less than 90 % judged, as partial.
            calibration: Agreement of the round's judge with people, as in `standings`.
            people: Human votes on battles of the round.
            stop_event: Set by another thread to stop before publication.
            confirm: Called last within the transaction; an exception from it rolls the transaction back.
            caller: The caller.

        Returns:
            The board, and whether it is new.

        Raises:
            ConflictError: The round is unfinished, retracted, or too little of it is judged.
            UnrankableError: The votes do not compare any two systems.
            StoppedError: Stopped; scores are stored, nothing is published.
        """
        from arena.services.boards.standings import agreement_of, require_enough
        from arena.services.rounds.models import entrants_of

        require(caller, TokenScope.ORGANISE)
        round_ = self._store.rounds.get(name)
        if round_.state is RoundState.PUBLISHED and people is not None:
            from arena.services.boards.people import correct_board

            report("correcting the standings by votes")
            agreement = agreement_of(self._store, calibration, round_.judge_name)
            return correct_board(
                self._store, round_, people, agreement=agreement, confirm=confirm, caller=caller
            )
        if round_.state is RoundState.PUBLISHED:
            return self._renew(round_, calibration, caller)
        if round_.state is RoundState.RETRACTED:
            raise ConflictError(f"Round {name} was retracted.", advice="Judge a new round instead.")
        if round_.state not in PUBLISHABLE:
            raise ConflictError(
                f"Round {name} is {round_.state}, so it cannot be published.",
                advice=f"Finish it first (`arena rounds resume {name}`), or cancel the rest "
                f"(`arena rounds cancel {name}`) and publish it with --partial.",
            )
        if sentence := require_enough(self._store, name, partial=partial):
            report(sentence)
        # Use the judged versions, since a system may have newer versions.
        entrants = entrants_of(self._store, round_)
        if score is not False:
            self._score(round_.set_name, report, stop_event, entrants, every=score is True)
        raise_if_stopped(stop_event)
        report("computing the standings")
        standings = dict(self.standings(name, calibration=calibration).as_json())
        if people is not None:
            from arena.services.boards.people import section_of_round

            standings[PEOPLE] = section_of_round(self._store, round_, people)
        raise_if_stopped(stop_event)
        with working("summing up the answers"):
            self._store.question_stats.write(round_.id)
        with self._store.changing():
            if confirm is not None:
                confirm()
            boards = self._store.boards
            if boards.standing(round_.id) is None:
                board, created = boards.publish(name, round_id=round_.id, standings=standings)
            else:
                board, created = boards.replace(name, standings)
            self._store.rounds.move(name, to=RoundState.PUBLISHED, allowed=PUBLISHABLE)
        caller.log("board-published", f"board {name}", content=board.content_hash[:12])
        return board, created

    def queue_publishing(
        self,
        round_name: str,
        *,
        metrics: bool = True,
        partial: bool = False,
        calibration: int | None = None,
        people: VoteSource | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Queue the publication of a finished round; options are as in `publish`."""
        from arena.services.boards.people import section_of_round
        from arena.services.boards.standings import read_agreement, require_enough

        require(caller, TokenScope.ORGANISE)
        round_ = self._store.rounds.get(round_name)
        if round_.state not in (RoundState.FINISHED, RoundState.CANCELLED):
            message = f"Round {round_.name} is {round_.state}, so it cannot be published."
            raise ConflictError(message, advice="Only finished and cancelled rounds can be published.")
        require_enough(self._store, round_name, partial=partial)
        if calibration is not None:
            read_agreement(self._store.jobs.get(calibration), round_.judge_name)
        if people is not None:
            # Report invalid votes now, not later in the worker.
            section_of_round(self._store, round_, people)
        payload = {
            "metrics": metrics,
            "partial": partial,
            "calibration": calibration,
            "people": None if people is None else people.as_json(),
            "asked_by": caller.name,
        }
        return self._jobs.put(caller, JobKind.PUBLISH, round_id=round_.id, payload=payload)

    def votes(self, words: str, round_name: str) -> VoteSource:
        """Read votes from a file, or from the round's labels if `words` is `labels`."""
        from arena.services.boards.people import LABELS, VoteSource

        if words == LABELS:
            return VoteSource.of_labels(self._store, round_name)
        return VoteSource.of_file(Path(words))

    def _renew(self, round_: Round, calibration: Path | int | None, caller: Caller) -> tuple[Board, bool]:
        """Recompute the standings if verdicts were corrected after publication."""
        former = self._store.boards.get(round_.name)
        if not self._store.verdicts.has_corrections(round_.name):
            return former, False
        standings = {**former.standings, **self.standings(round_.name, calibration=calibration).as_json()}
        if standings == former.standings:
            return former, False
        with self._store.changing():
            board, changed = self._store.boards.replace(round_.name, standings)
        caller.log(
            "board-renewed",
            f"board {round_.name}",
            content=board.content_hash[:12],
            before=former.content_hash[:12],
        )
        return board, changed

    def publish_paper(self) -> Board:
        """Publish the bundled board of RAG-QA Arena's results, or return the published board."""
        from leaderboard.ratings import Cluster, Settings
        from leaderboard.standings.build import build_standings
        from leaderboard.standings.model import About
        from leaderboard.standings.published import bundled_board

        paper = bundled_board()
        published = [board for board in self._store.boards.all() if board.name == paper.name]
        if published:
            return published[0]
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
        with self._store.changing():
            board, _ = self._store.boards.publish(paper.name, round_id=None, standings=standings.as_json())
        return board

    def retract(self, name: str, notice: str, *, caller: Caller = OPERATOR) -> Board:
        """Retract a board with a public notice."""
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            board = self._store.boards.retract(name, notice)
            if board.round_name is not None:
                self._store.rounds.move(
                    board.round_name, to=RoundState.RETRACTED, allowed=(RoundState.PUBLISHED,)
                )
        caller.log("board-retracted", f"board {name}", notice=notice)
        return board

    def put_notice(self, name: str, text: str, *, caller: Caller = OPERATOR) -> Board:
        """Set or replace the notice on a board; its numbers and hash stay."""
        notice = text.strip()
        if not notice:
            raise InputError("The notice is empty.", advice="Write what readers must know.")
        if len(notice) > MAX_NOTICE:
            raise InputError(
                f"The notice has {len(notice):,} characters.",
                advice=f"Use at most {MAX_NOTICE:,}, and a link for the rest.",
            )
        return self._change_notice(name, notice, caller)

    def clear_notice(self, name: str, *, caller: Caller = OPERATOR) -> Board:
        """Remove the notice from a board; errors are those of `put_notice`."""
        return self._change_notice(name, "", caller)

    def _change_notice(self, name: str, notice: str, caller: Caller) -> Board:
        require(caller, TokenScope.ORGANISE)
        board = self._store.boards.get(name)
        if board.retracted:
            raise ConflictError(
                f"Board {name} is retracted; its notice has the reason.", advice="Choose a published board."
            )
        with self._store.changing():
            changed = self._store.boards.put_notice(name, notice)
        caller.log("board-noted", f"board {name}", notice=notice, before=board.notice)
        return changed

    def export_battles(self, name: str, file: Path, *, caller: Caller = OPERATOR) -> int:
        """Write a round's judged battles as Parquet, and return their number."""
        from arena.services.rounds.battle_table import table_of_columns
        from arena.services.rounds.export import make_folder
        from leaderboard.formats.parquet import write_table

        require(caller, TokenScope.ORGANISE)
        self._store.rounds.get(name)
        make_folder(file.parent)
        table = table_of_columns(self._store.verdicts.columns(name))
        write_table(table, file)
        return len(table)

    @rare_collections()
    def export_round(self, name: str, folder: Path, *, caller: Caller = OPERATOR) -> Mapping[str, str]:
        """Write a round's battles, judgments, accounting and standings, and return the files' checksums."""
        from arena.services.rounds.export import make_folder, write_round

        require(caller, TokenScope.ORGANISE)
        self._store.rounds.get(name)
        make_folder(folder)
        # A published round is exported as published, so that its hash matches.
        board = next((head for head in self._store.boards.heads() if head.round_name == name), None)
        standings = (
            self.standings(name).as_json() if board is None else self._store.boards.get(board.name).standings
        )
        return write_round(self._store, name, standings, folder, caller=caller)
