"""Published boards as files: in every form that they leave the arena in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.boards.judge_records import published_scoring, scoring_of
from arena.services.boards.service import BoardService
from arena.services.rounds.export import battle_row
from arena.services.rounds.visibility import RoundAccess
from arena.settings import Settings
from data.errors import FileFormatError, RetractedError
from data.files.croissant import DataField, DataFile, DataTable, DataType, Metadata
from data.records import Board, Round
from data.store import Store
from data.store.boards.boards import snapshot_name
from judges.spec import JudgeSpec
from leaderboard.export.board_fields import battle_meanings, meaning_of
from leaderboard.export.every_eval_ever import LIBRARY, BoardSource, Entrant, evaluations
from leaderboard.export.tables import (
    SEVERAL_FILES,
    column_kind,
    export_standings,
    flat_rows,
    standings_file,
)
from leaderboard.standings.columns import marked
from leaderboard.standings.diff import ranks_among_systems
from leaderboard.vocabulary import BoardForm

ORGANISATION = "Answer Arena"
METADATA = "croissant.json"
BATTLES = "battles"
DATA_TYPES = {str: DataType.TEXT, int: DataType.INTEGER, float: DataType.FLOAT}
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFile:
    """A board in one form: its name to save it by, and its content."""

    name: str
    media_type: str
    content: bytes


class BoardFiles:
    """Use cases of readers who take a board away.

    Args:
        store: Where rounds and boards are kept.
        boards: Finds boards.
        settings: Of the arena: its public address.
        spec_of: The judge that a round began with.
    """

    def __init__(
        self,
        store: Store,
        boards: BoardService,
        settings: Settings,
        *,
        spec_of: Callable[[Round], JudgeSpec],
    ) -> None:
        self._store, self._boards, self._settings = store, boards, settings
        self._spec_of = spec_of

    def content(self, name: str, form: BoardForm, *, address: str = "", caller: Caller = PUBLIC) -> BoardFile:
        """A board as one file.

        Args:
            name: The board, or one snapshot of it.
            form: In which form; records of Every Eval Ever are zipped.
            address: Of the arena's site, where metadata says that the data is; without, that of the
                settings, and without either beside the metadata.
            caller: Who asks.

        Raises:
            NotFoundError: No board has this name.
            RetractedError: It was retracted and the caller is no organiser.
        """
        board = self._board(name, caller)
        site = address or self._settings.public_url
        match form:
            case BoardForm.EVERY_EVAL_EVER:
                content = _zipped(self._records(board, site, caller))
            case BoardForm.CROISSANT:
                content = _as_text(self._metadata(board, self._published_files(board, site), site))
            case _:
                content = standings_file(marked(board.standings, board.marks), form)
        stem = f"{board.name}-{board.content_hash[:8]}".replace("@", "-")
        return BoardFile(name=f"{stem}{form.ending}", media_type=form.media_type, content=content)

    def write(
        self, name: str, destination: Path, form: BoardForm | None = None, *, caller: Caller = PUBLIC
    ) -> tuple[Path, ...]:
        """Write a board as a file, or as a folder where a form has several files.

        Args:
            name: The board, or one snapshot of it.
            destination: The file; for Every Eval Ever a folder, or a file `*.zip`; for Croissant a
                folder, which gets the metadata and the data that it describes.
            form: None for that which the destination's ending says.
            caller: Who asks.

        Returns:
            What was written.

        Raises:
            FileFormatError: The destination's ending says no form, or it cannot be written.
            NotFoundError: No board has this name.
            RetractedError: It was retracted and the caller is no organiser.
        """
        board = self._board(name, caller)
        if form not in SEVERAL_FILES:
            export_standings(marked(board.standings, board.marks), destination, form)
            return (destination,)
        try:
            if destination.suffix == ".zip" and form is BoardForm.EVERY_EVAL_EVER:
                destination.write_bytes(self.content(name, form, caller=caller).content)
                return (destination,)
            if form is BoardForm.EVERY_EVAL_EVER:
                records = self._records(board, self._settings.public_url, caller)
                return tuple(_written(destination / place, text) for place, text in records)
            return self.write_data(board, destination, caller=caller)
        except OSError as error:
            message = f"{destination} cannot be written: {error.strerror or error}."
            raise FileFormatError(message, advice="Name a folder that you can write to.") from error

    def battles(self, board: Board, *, caller: Caller = PUBLIC) -> Iterator[bytes]:
        """The judged battles of a board's round in the field's names, a line each; none of imported boards.

        Raises:
            NotFoundError: The round is not for the caller.
        """
        if board.round_name is None:
            return
        RoundAccess(self._store, caller, self._store.rounds.get(board.round_name))
        for battle in self._store.verdicts.battles(board.round_name):
            if battle.preference is not None:
                yield f"{json.dumps(battle_row(battle), ensure_ascii=False)}\n".encode()

    def write_data(self, board: Board, folder: Path, *, caller: Caller = PUBLIC) -> tuple[Path, ...]:
        """Write a board's standings and battles into a folder, with the metadata that describe them.

        Raises:
            NotFoundError: The round is not for the caller.
            OSError: The folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        paths: dict[BoardForm | str, Path] = {}
        for form in (BoardForm.CSV, BoardForm.PARQUET):
            paths[form] = folder / f"standings{form.ending}"
            paths[form].write_bytes(standings_file(marked(board.standings, board.marks), form))
        if board.round_name is not None:
            paths[BATTLES] = folder / "battles.jsonl"
            with paths[BATTLES].open("wb") as lines:
                lines.writelines(self.battles(board, caller=caller))
        files = {key: DataFile.of(path) for key, path in paths.items()}
        metadata = self._metadata(board, files, self._settings.public_url)
        return (*paths.values(), _written(folder / METADATA, _as_text(metadata)))

    def _board(self, name: str, caller: Caller) -> Board:
        board = self._boards.get(name, caller=caller)
        if not board.standings:
            raise RetractedError(name, board.notice)
        return board

    def _published_files(self, board: Board, site: str) -> Mapping[BoardForm | str, DataFile]:
        """The files of a board as the API gives them; those of a snapshot stay as they are."""
        snapshot = board.name
        if board.round_name is not None and "@" not in snapshot:
            snapshot = snapshot_name(board.name, board.content_hash)
        files: dict[BoardForm | str, DataFile] = {}
        for form in (BoardForm.CSV, BoardForm.PARQUET):
            content = standings_file(marked(board.standings, board.marks), form)
            name = f"standings{form.ending}"
            files[form] = DataFile(
                name=name,
                url=f"{site}/api/v1/leaderboards/{snapshot}?format={form}" if site else name,
                sha256=sha256(content).hexdigest(),
                size=len(content),
            )
        return files

    def _metadata(self, board: Board, files: Mapping[BoardForm | str, DataFile], site: str) -> Metadata:
        standings = board.standings
        title, facts = str(standings["title"]), standings["facts"]
        systems = ranks_among_systems(standings)
        sentences = (
            f"Standings of {len(systems)} question-answering systems: {title}.",
            f"Judge: {facts['judge']}." if facts.get("judge") else "",
            str(standings.get("note") or ""),
            f"Content sha256 {board.content_hash}.",
        )
        return Metadata(
            name=board.name,
            title=title,
            description=" ".join(filter(None, sentences)),
            licence=str(facts.get("licence") or "unknown"),
            url=f"{site}/?board={board.name}" if site else "",
            version=f"1.0.0+{board.content_hash[:12]}",
            published=board.published_at.date().isoformat(),
            creators=(ORGANISATION,),
            keywords=("leaderboard", "evaluation", "question answering", "llm-as-a-judge"),
            cite_as=f"{ORGANISATION}, board {board.name}, content sha256 {board.content_hash}.",
            files=tuple(files.values()),
            tables=tuple(_tables(board, files)),
        )

    def _records(self, board: Board, site: str, caller: Caller) -> Iterator[tuple[str, bytes]]:
        source = BoardSource(
            name=board.name,
            content_hash=board.content_hash,
            published_at=board.published_at,
            imported=board.round_name is None,
            organisation=ORGANISATION,
            address=site,
            version=version(LIBRARY),
            scoring=published_scoring(board.standings["facts"]),
        )
        if board.round_name is not None:
            round_ = self._store.rounds.get(board.round_name)
            source = replace(
                source, scoring=scoring_of(round_, self._spec_of), entrants=self._entrants(round_, caller)
            )
        for place, evaluation in evaluations(board.standings, source):
            yield place, evaluation.text().encode()

    def _entrants(self, round_: Round, caller: Caller) -> Mapping[str, Entrant]:
        """What the public cards of a round's systems say; withdrawn ones say nothing."""
        seen = RoundAccess(self._store, caller, round_)
        entrants = {}
        for system in seen.entrants:
            submission = seen.submission(system)
            if submission is None:
                continue
            card = submission.card
            details = {
                "team": submission.team,
                "version": str(submission.version),
                "retriever": card.retriever,
                "passages": card.passages,
                "licence": card.licence,
                "link": card.link,
                "answers_sha256": submission.content_hash,
            }
            entrants[system] = Entrant(
                model=card.model, organisation=card.organisation or submission.team, details=details
            )
        return entrants


def _tables(board: Board, files: Mapping[BoardForm | str, DataFile]) -> Iterator[DataTable]:
    rows = flat_rows(marked(board.standings, board.marks))
    yield DataTable(
        name="standings",
        file=files[BoardForm.CSV].name,
        description="A row for each system in each domain; `overall` is all domains together.",
        key=("domain", "system"),
        fields=[
            DataField(name=name, data_type=DATA_TYPES[column_kind(name)], description=meaning_of(name))
            for name in rows[0]
        ],
    )
    if BATTLES in files:
        said = battle_meanings()
        yield DataTable(
            name=BATTLES,
            file=files[BATTLES].name,
            description="A line for each judged battle.",
            fields=[
                DataField(name=name, description=said[name])
                for name in ("question_id", "domain", "model_a", "model_b", "winner")
            ],
        )


def _as_text(metadata: Metadata) -> bytes:
    return (json.dumps(metadata.as_json(), ensure_ascii=False, indent=1) + "\n").encode()


def _zipped(files: Iterator[tuple[str, bytes]]) -> bytes:
    """Files as one archive; equal files give equal bytes."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for place, content in files:
            archive.writestr(zipfile.ZipInfo(place, ZIP_EPOCH), content, compress_type=zipfile.ZIP_DEFLATED)
    return raw.getvalue()


def _written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
