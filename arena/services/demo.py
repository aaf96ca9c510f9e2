"""The bundled sets, judged, rated and published: what a newcomer sees first."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from arena.services.rounds import RESUMABLE, RoundRequest
from arena.services.running import Report
from data.records import Board

if TYPE_CHECKING:
    from arena.bootstrap import Arena

SET = "demo"
ROUND = "demo"
JUDGE = "lexical"
TEAM = "Answer Arena"
CONCURRENCY = 8
Note = Callable[[str], None]


class DemoService:
    """Prepares the bundled boards; going over what is there already changes nothing."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    def prepare(self, *, report: Report, note: Note) -> tuple[Board, ...]:
        """Import, judge, rate and publish the demo set, and publish the paper's board beside it.

        Returns:
            The published boards.
        """
        with as_file(files("data") / "sets") as sets:
            self._submit(sets / SET, note)
            self._judge(report)
            board, _ = self._arena.boards.publish(ROUND, report=note)
            paper, _ = self._arena.boards.publish_paper()
        return board, paper

    def _submit(self, folder: Path, note: Note) -> None:
        imported = self._arena.sets.import_from(folder)
        note(f"{imported.summary.title}: {imported.summary.questions} questions")
        for file in sorted((folder / "answers").glob("*.jsonl")):
            card = file.with_name(f"{file.stem}.card.yaml")
            self._arena.submissions.add(file, SET, system=file.stem, team=TEAM, card=card)

    def _judge(self, report: Report) -> None:
        known = {found.name: found.state for found in self._arena.rounds.rounds()}
        if ROUND not in known:
            request = RoundRequest(set_name=SET, judge=JUDGE, pairs="all", name=ROUND)
            known[ROUND] = self._arena.rounds.create(request).state
        if known[ROUND] in RESUMABLE:
            self._arena.rounds.run(ROUND, concurrency=CONCURRENCY, report=report)
