"""The bundled sets, judged, rated and published: what a newcomer sees first."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path

import data
from arena.services.boards.service import BoardService
from arena.services.question_sets.service import SetService
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.service import RoundService
from arena.services.submissions.service import SubmissionService
from data.files.question_sets.loader import load_set
from data.files.question_sets.rows import content_hash
from data.progress import Report
from data.records import Board, OrderPolicy
from data.records.rounds import RESUMABLE

SET = "demo"
JUDGE = "lexical"
TEAM = "Answer Arena"
CONCURRENCY = 8
Note = Callable[[str], None]


class DemoService:
    """Prepares the bundled boards; going over what is there already changes nothing."""

    def __init__(
        self, sets: SetService, submissions: SubmissionService, rounds: RoundService, boards: BoardService
    ) -> None:
        self._sets = sets
        self._submissions = submissions
        self._rounds = rounds
        self._boards = boards

    def prepare(self, *, report: Report, note: Note) -> tuple[Board, ...]:
        """Import, judge, rate and publish the demo set, and publish the paper's board beside it.

        What an older version left under the same names stays as it is; a changed demo set gets a name
        of its own.

        Returns:
            The published boards.
        """
        with as_file(files(data) / "sets") as sets:
            name = self.submit(sets / SET, note)
        self._judge(name, report)
        board, _ = self._boards.publish(name, report=note)
        return board, self._boards.publish_paper()

    def submit(self, folder: Path, note: Note) -> str:
        """Import the set and its answers, and return the name that it got."""
        bundled = load_set(folder).questions
        content_hashes = {summary.name: summary.content_hash for summary in self._sets.summaries()}
        name = SET
        if content_hashes.get(SET, content_hash(bundled)) != content_hash(bundled):
            name = f"{SET}-{content_hash(bundled)[:8]}"
        imported = self._sets.import_from(folder, name=name)
        note(f"{imported.summary.title}: {imported.summary.questions} questions")
        for file in sorted((folder / "answers").glob("*.jsonl")):
            card = file.with_name(f"{file.stem}.card.yaml")
            self._submissions.add(file, name, system=file.stem, team=TEAM, card=card)
        return name

    def _judge(self, name: str, report: Report) -> None:
        states = {round_.name: round_.state for round_ in self._rounds.rounds()}
        if name not in states:
            # Both orders, so that the strip above a newcomer's first board has a figure for flips.
            request = RoundRequest(set_name=name, judge=JUDGE, pairs="all", order=OrderPolicy.BOTH, name=name)
            states[name] = self._rounds.create(request).state
        if states[name] in RESUMABLE:
            self._rounds.run(name, concurrency=CONCURRENCY, report=report)
