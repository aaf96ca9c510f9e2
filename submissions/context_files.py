"""Files of contexts without answers: TREC runs, or JSONL, JSON and CSV rows with the passages' texts.

The order of a run is `trec_eval`'s: by falling scores in single precision, equal ones by falling passage ids.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from data.files.tabular.reader import is_run
from data.files.text_files import decode, read_lines
from data.files.trec_runs import FIELDS, FieldNames, single
from data.records import Passage, Question, Severity, SubmissionKind
from data.records.rankings import RankedPassage, Ranking
from submissions.check import CheckResult, recording_errors
from submissions.formats import FileFormat, open_rows
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, shown
from submissions.question_index import QuestionIndex, Questions
from submissions.row_checks import RowReader

LISTED = 10
RUN_ADVICE = "Write question, Q0, passage, rank, score and the run's name."


def check_rankings(path: Path, questions: Questions, *, limits: IntakeLimits | None = None) -> CheckResult:
    """Check a file of contexts, noting every problem at once. It never raises for what is in the file.

    Args:
        path: A TREC run, or rows with `question_id` (or `query`) and `contexts` (or `passages`) that bear
            ids; plain or gzipped, recognised by content.
        questions: The set whose questions were searched for.
        limits: What is refused.
    """
    limits = limits or IntakeLimits()
    return _ContextFile(path, questions, limits).result()


def read_rankings(
    path: Path, questions: Questions, *, limits: IntakeLimits | None = None
) -> tuple[Ranking, ...]:
    """The rankings of a file that was checked, in the order of the set."""
    limits = limits or IntakeLimits()
    return _ContextFile(path, questions, limits).rankings()


class _ContextFile:
    """What one file retrieved, and what is wrong with it."""

    def __init__(self, path: Path, questions: Questions, limits: IntakeLimits) -> None:
        self._name = path.name
        self._limits = limits
        self._index = QuestionIndex(questions)
        self._findings = Findings(limits.errors)
        self._found: dict[str, tuple[RankedPassage, ...]] = {}
        self._format: FileFormat | None = None
        self._layout: str | None = None
        self._rows = 0
        self._texts = 0
        with recording_errors(self._findings):
            if is_run(path, self._limits.reading):
                self._read_run(path)
            else:
                self._read_rows(path)
            self._close()

    def rankings(self) -> tuple[Ranking, ...]:
        """By question, in the set's order."""
        return tuple(
            Ranking(question.id, self._found[question.id])
            for question in self._index.questions
            if question.id in self._found
        )

    def result(self) -> CheckResult:
        """What the check found."""
        totals = Counter(question.domain for question in self._index.questions)
        answered = Counter(
            question.domain for question in self._index.questions if self._found.get(question.id)
        )
        digest = hashlib.sha256()
        for ranking in sorted(self.rankings(), key=lambda ranking: ranking.question_id):
            digest.update(_digest(ranking))
        return CheckResult(
            set_name=self._index.set_name,
            format=self._format,
            rows=self._rows,
            answers=answered.total(),
            questions=totals.total(),
            coverage=MappingProxyType({domain: answered[domain] / all_ for domain, all_ in totals.items()}),
            no_answers=0,
            with_contexts=self._texts,
            errors=self._findings.errors,
            warnings=self._findings.warnings,
            problems=self._findings.result(),
            content_hash=digest.hexdigest(),
            kind=SubmissionKind.CONTEXTS,
            layout=self._layout,
        )

    def _read_run(self, path: Path) -> None:
        self._format = FileFormat.TREC_RUN
        named = FieldNames(question.id for question in self._index.questions)
        scores: dict[str, dict[str, float]] = {}
        ranks: dict[str, list[tuple[int, float]]] = {}
        unknown: Counter[str] = Counter()
        for number, content in read_lines(path, self._limits.reading):
            self._rows += 1
            line = self._run_line(number, decode(content, number))
            if line is None:
                continue
            field, passage, rank, score = line
            question = named.get(field)
            if question is None:
                unknown[field] += 1
                continue
            own = scores.setdefault(question, {})
            if passage in own:
                message = f"Question {shown(field)} has the passage {shown(passage)} twice."
                self._findings.add(number, Code.DUPLICATE_PASSAGE, message, "Rank each passage once.")
            own[passage] = score
            if len(own) == self._limits.ranked + 1:
                self._note_long(number, field)
            if rank is not None:
                ranks.setdefault(question, []).append((rank, score))
        self._note_unknown(unknown)
        self._note_order(scores, ranks)
        for question, own in scores.items():
            ordered = sorted(sorted(own.items(), reverse=True), key=lambda item: -item[1])
            self._found[question] = tuple(RankedPassage(passage, score) for passage, score in ordered)

    def _run_line(self, number: int, text: str) -> tuple[str, str, int | None, float] | None:
        fields = text.split()
        if len(fields) != FIELDS:
            message = f"This line has {len(fields)} fields; a run's have {FIELDS}."
            self._findings.add(number, Code.BAD_RUN_LINE, message, RUN_ADVICE)
            return None
        score = _single(fields[4])
        if score is None:
            message = f"The score {shown(fields[4])} is no number."
            self._findings.add(number, Code.BAD_RUN_LINE, message, RUN_ADVICE)
            return None
        rank = int(fields[3]) if fields[3].isascii() and fields[3].isdigit() else None
        return fields[0], fields[2], rank, score

    def _read_rows(self, path: Path) -> None:
        reader: RowReader | None = None

        def require(columns: Sequence[str], line: int) -> None:
            if reader:
                reader.fields.require_columns(columns, line, answers=False)

        with open_rows(path, self._limits, self._findings, require) as rows:
            self._format = rows.format
            reader = RowReader(self._index, self._limits, rows.format, self._findings)
            for row in rows:
                self._rows += 1
                read = reader.contexts_of(row)
                if read is None:
                    continue
                question, passages = read
                self._texts += bool(passages)
                self._take(row.line, question, passages)
            reader.close()
            self._layout = reader.fields.layout

    def _take(self, line: int, question: Question, passages: tuple[Passage, ...]) -> None:
        repeated = [name for name, count in Counter(passage.id for passage in passages).items() if count > 1]
        if repeated:
            message = (
                f"Question {shown(question.id)} has passages twice: {listed(map(shown, repeated), LISTED)}."
            )
            self._findings.add(line, Code.DUPLICATE_PASSAGE, message, "Rank each passage once.")
        # The order of a list is the ranking; scores stand for it where runs have them.
        self._found[question.id] = tuple(
            RankedPassage(passage.id, float(len(passages) - place), passage.text, passage.title)
            for place, passage in enumerate(passages)
        )

    def _note_long(self, line: int, field: str) -> None:
        message = f"Question {shown(field)} has more than {self._limits.ranked:,} passages."
        self._findings.add(line, Code.TOO_MANY_PASSAGES, message, "Cut the run at this depth.")

    def _note_unknown(self, unknown: Counter[str]) -> None:
        if unknown:
            names = listed(map(shown, unknown), LISTED)
            message = f"{len(unknown):,} questions of the run are not in the set, and are left out: {names}."
            examples = listed((shown(question.id) for question in self._index.questions[:2]), LISTED)
            advice = f"The set's ids are like {examples}."
            self._findings.add(0, Code.UNKNOWN_QUESTION, message, advice, Severity.WARNING)

    def _note_order(
        self, scores: Mapping[str, Mapping[str, float]], ranks: Mapping[str, list[tuple[int, float]]]
    ) -> None:
        tied = [question for question, own in scores.items() if len(set(own.values())) < len(own)]
        if tied:
            message = f"Passages have equal scores in {len(tied):,} questions: {listed(tied, LISTED)}."
            advice = "As trec_eval does, they are ordered by falling passage ids; give distinct scores."
            self._findings.add(0, Code.TIED_SCORES, message, advice)
        other = [question for question, own in ranks.items() if _disagree(own)]
        if other:
            message = f"Ranks and scores disagree in {len(other):,} questions: {listed(other, LISTED)}."
            self._findings.add(0, Code.RANK_DIFFERS, message, "The scores count, as in trec_eval.")

    def _close(self) -> None:
        if not any(self._found.values()) and not self._findings.errors:
            message = f"No question of {self._index.set_name} has passages in {self._name}."
            self._findings.add(0, Code.EMPTY_FILE, message, "Rank passages for the set's questions.")
        without = [question.id for question in self._index.questions if not self._found.get(question.id)]
        if without and len(without) < len(self._index.questions):
            message = f"{len(without):,} questions have no passages: {listed(map(shown, without), LISTED)}."
            advice = "They count as 0 on boards."
            self._findings.add(0, Code.UNANSWERED_QUESTIONS, message, advice)


def _single(text: str) -> float | None:
    """A score in single precision, as trec_eval keeps it; None where it is no number."""
    try:
        value = single(float(text))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _disagree(ranks: list[tuple[int, float]]) -> bool:
    """Whether a passage of a better rank has a lower score."""
    ordered = [score for _, score in sorted(ranks, key=lambda item: item[0])]
    return any(later > earlier for earlier, later in pairwise(ordered))


def _digest(ranking: Ranking) -> bytes:
    parts = [ranking.question_id]
    parts += [
        part for passage in ranking.passages for part in (passage.id, repr(passage.score), passage.text)
    ]
    return json.dumps(parts, ensure_ascii=False).encode("utf-8", errors="surrogatepass")
