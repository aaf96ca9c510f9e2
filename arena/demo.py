"""Demo: bundled sets, judged and published."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import data
from arena.services.boards.people import VoteSource
from arena.services.boards.service import BoardService
from arena.services.judging.calibration import CalibrationService
from arena.services.question_sets.service import SetService
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.service import RoundService
from arena.services.submissions.service import SubmissionService
from data.files.question_sets.registry import load_set
from data.files.question_sets.rows import content_hash
from data.models import Board, OrderPolicy, RoundState
from data.models.base import dated
from data.models.rounds import RESUMABLE
from data.progress import reporting

SET = "demo"
JUDGE = "lexical"
TEAM = "Answer Arena"
CONCURRENCY = 8
BEFORE, VOTES = "before", "votes.csv"
WEEK = timedelta(days=7)
Note = Callable[[str], None]


class DemoService:
    """Prepares the bundled boards; repeated calls change nothing."""

    def __init__(
        self,
        sets: SetService,
        submissions: SubmissionService,
        rounds: RoundService,
        boards: BoardService,
        calibration: CalibrationService,
    ) -> None:
        self._sets = sets
        self._submissions = submissions
        self._rounds = rounds
        self._boards = boards
        self._calibration = calibration

    def prepare(self, *, note: Note) -> tuple[Board, ...]:
        """Import, judge and publish the demo set and the paper's board.

        A backdated round gives the board a history, and invented votes calibrate its judge. A changed demo
        set gets a new name, so that boards of older versions stay.
        """
        with as_file(files(data) / "sets") as sets:
            folder = sets / SET
            name = self._imported(folder, note)
            states = {round_.name: round_.state for round_ in self._rounds.rounds()}
            if name not in states:
                with dated(WEEK):
                    self._answers(folder, name, BEFORE)
                    self._judge(f"{name}-{BEFORE}", name)
                    self._boards.publish(f"{name}-{BEFORE}", report=note, score=False)
            self._answers(folder, name)
            self._judge(name, name)
            is_published = states.get(name) is RoundState.PUBLISHED
            votes = None if is_published else VoteSource.of_file(folder / VOTES)
            with TemporaryDirectory() as scratch:
                agreement = None if is_published else self._agreement(folder, Path(scratch))
                board, _ = self._boards.publish(
                    name, report=note, score=True, people=votes, calibration=agreement
                )
        return board, self._boards.publish_paper()

    def _agreement(self, folder: Path, scratch: Path) -> Path:
        """Calibrate the judge with the votes, and return the report file."""
        labels, report_file = scratch / "labels.jsonl", scratch / "calibration.json"
        labels.write_text("".join(f"{json.dumps(row)}\n" for row in vote_labels(folder)), encoding="utf-8")
        reports = self._calibration.calibrate([JUDGE], labels, concurrency=CONCURRENCY)
        report_file.write_text(json.dumps([report.to_json() for report in reports]), encoding="utf-8")
        return report_file

    def submit(self, folder: Path, note: Note) -> str:
        """Import the set and its answers, and return its name."""
        name = self._imported(folder, note)
        self._answers(folder, name)
        return name

    def _imported(self, folder: Path, note: Note) -> str:
        bundled = load_set(folder).questions
        content_hashes = {summary.name: summary.content_hash for summary in self._sets.summaries()}
        name = SET
        if content_hashes.get(SET, content_hash(bundled)) != content_hash(bundled):
            name = f"{SET}-{content_hash(bundled)[:8]}"
        imported = self._sets.import_from(folder, name=name)
        note(f"{imported.summary.title}: {imported.summary.questions} questions")
        return name

    def _answers(self, folder: Path, name: str, instead: str = "") -> None:
        for file in sorted((folder / "answers").glob("*.jsonl")):
            card, former = file.with_name(f"{file.stem}.card.yaml"), folder / instead / file.name
            chosen = former if former.is_file() else file
            self._submissions.add(chosen, name, system=file.stem, team=TEAM, card=card)

    def _judge(self, name: str, set_name: str) -> None:
        states = {round_.name: round_.state for round_ in self._rounds.rounds()}
        if name not in states:
            # Both orders, so that the demo board shows position flips.
            both = OrderPolicy.BOTH
            request = RoundRequest(set_name=set_name, judge=JUDGE, pairs="all", order=both, name=name)
            states[name] = self._rounds.create(request).state
        if states[name] in RESUMABLE:
            with reporting(f"judging {name}") as report:
                self._rounds.run(name, concurrency=CONCURRENCY, report=report)


VOTED = {"model_a": "a", "model_b": "b", "tie": "tie"}


def vote_labels(folder: Path) -> Iterator[Mapping[str, object]]:
    """Return the votes on a bundled set's answers as rows of a label file."""
    questions = {question.id: question for question in load_set(folder).questions.questions}
    texts: dict[str, Mapping[str, str]] = {
        "reference": {name: question.reference or "" for name, question in questions.items()}
    }
    for file in (folder / "answers").glob("*.jsonl"):
        rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        texts[file.stem] = {row["question_id"]: row["answer"] for row in rows}
    with (folder / VOTES).open(encoding="utf-8", newline="") as votes:
        for vote in csv.DictReader(votes):
            question, first, second = vote["question_id"], vote["model_a"], vote["model_b"]
            yield {
                "id": f"{question}/{first}/{second}",
                "domain": questions[question].domain,
                "question": questions[question].question,
                "answer_a": texts[first][question],
                "answer_b": texts[second][question],
                "system_a": first,
                "system_b": second,
                "reference": questions[question].reference,
                "passages": [passage.text for passage in questions[question].passages],
                "label": VOTED[vote["winner"]],
            }
