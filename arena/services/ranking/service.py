"""Rankings: files are understood, stored, planned, judged and published; again they go on."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.services.boards.service import BoardService
from arena.services.question_sets.service import SetService
from arena.services.ranking.requests import ADVICE, EMBEDDED, RankingJudges, RankRequest
from arena.services.rounds.battle_table import LiveStanding, live_standing
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.pairing import VERSUS
from arena.services.rounds.planning import RoundPlanner
from arena.services.rounds.service import RoundService
from arena.services.submissions.service import SubmissionService
from data.errors import InputError, NotFoundError
from data.models import Answer, Board, MissingRule, Question, QuestionSet, Round, RoundCounts, RoundState
from data.models.rounds import RESUMABLE
from data.progress import Report, working
from data.store import Store
from data.text import counted, percent
from submissions.answer_tables import AnswerRow, AnswerTable
from submissions.pooling import Pool, pool

FEWEST_SYSTEMS = 2
STEM = "rank"
REFERENCE = "reference"
"""The references, as one that systems are compared with."""
HASH_LENGTH = 8
NAMED = 3
SHOWN = 5
"""Systems that are named while they are judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Stored input of a ranking, ready to be judged.

    Attributes:
        request: The round that follows.
        pool: Questions and answers.
        notes: What was noticed while files were read, in sentences.
    """

    request: RoundRequest
    pool: Pool
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The input in a sentence."""
        systems, questions = len(self.pool.answers), len(self.pool.questions)
        told = f"{counted(systems, 'system')}, {counted(questions, 'question')}"
        if self.pool.complete:
            told += ", complete"
        else:
            short = [
                f"{system} lacks {questions - len(answers):,}"
                for system, answers in self.pool.answers.items()
                if len(answers) < questions
            ]
            more = f" and {len(short) - NAMED:,} more lack some" if len(short) > NAMED else ""
            rule = "which count as lost"
            if self.request.missing is MissingRule.SKIP:
                rule = "and only questions that both systems answered are compared"
            told += f"; {', '.join(short[:NAMED])}{more}, {rule}"
        if self.pool.references:
            told += f"; {self.pool.references:,} with a reference"
        return f"{told}; joined by {'text' if self.pool.by_text else 'id'}."


class RankingService:
    """Use cases around rankings, in an arena of their own."""

    def __init__(
        self,
        store: Store,
        sets: SetService,
        submissions: SubmissionService,
        rounds: RoundService,
        planner: RoundPlanner,
        boards: BoardService,
        *,
        judges: RankingJudges,
        title: str,
    ) -> None:
        self._store = store
        self._sets = sets
        self._submissions = submissions
        self._rounds = rounds
        self._planner = planner
        self._boards = boards
        self.judges = judges
        self._title = title

    def prepare(
        self, request: RankRequest, tables: Sequence[AnswerTable], references: AnswerTable | None = None
    ) -> Prepared:
        """Join tables of answers with what is there, and store questions and answers."""
        given = {system for table in tables for system in table.systems}
        with working("joining questions and answers"):
            before = () if request.afresh else self._stored(given)
            joined = pool([*tables, *before], references, () if request.afresh else self._known())
        sides = len(joined.answers) + bool(joined.references)
        if sides < FEWEST_SYSTEMS:
            names = ", ".join(joined.answers) or "none"
            raise InputError(
                f"There are answers of fewer than two systems ({names}) and no references.",
                advice="Give another file, or the references: --references FILE.",
            )
        pairs = _pairs(request, joined)
        judge = self._judge(request, joined)
        notes = tuple(_notes([*tables, *([references] if references else [])], joined))
        set_name = self._store_questions(joined)
        for system, answers in joined.answers.items():
            self._submit(set_name, system, answers)
        wanted = RoundRequest(
            set_name=set_name,
            judge=judge,
            pairs=pairs,
            missing=request.missing,
            sample=request.sample,
            seed=request.seed,
            budget_usd=request.budget_usd,
        )
        return Prepared(request=wanted, pool=joined, notes=notes)

    def estimate(self, prepared: Prepared) -> Mapping[str, Any]:
        """Estimate the battles and cost of the ranking, as `arena rounds plan` does."""
        return self._planner.estimate(prepared.request)

    def require_ready(self, prepared: Prepared) -> None:
        """Check that the judge can decide, and that a cap that is given can be kept."""
        self._planner.require_ready(prepared.request, uncapped=True)

    def standing(self, name: str) -> LiveStanding:
        """Return the live standing of a round's systems."""
        return live_standing(self._store, self._store.rounds.get(name))

    def so_far(self, name: str) -> tuple[str, ...]:
        """Describe the live standing of a round's systems; empty before a question is judged."""
        standing = self.standing(name)
        if not standing.questions:
            return ()
        rows = [
            f"{place}. {one.system}: {percent(one.score, decimals=0)} of the wins"
            for place, one in enumerate(standing.systems[:SHOWN], 1)
            if one.score is not None
        ]
        more = len(standing.systems) - SHOWN
        of = f"So far, on {standing.questions:,} of {standing.planned_questions:,} questions:"
        return (of, *rows, *([f"and {more:,} more"] if more > 0 else []))

    def round_of(self, prepared: Prepared) -> Round:
        """Return the round that judges this: the last one where it is the same, else a new one."""
        planned = self._planner.plan(prepared.request)
        last = self._last_round()
        systems = {entrant.system: entrant.version for entrant in planned.entrants}
        same = last is not None and (
            last.set_name == prepared.request.set_name
            and last.judge["source"] == prepared.request.judge
            and last.plan["systems"] == systems
            and last.plan["pairs"] == planned.request.pairs
            and last.plan.get("missing") == prepared.request.missing
            and last.plan["sample"] == prepared.request.sample
            and last.seed == prepared.request.seed
        )
        if not same or last is None:
            number = len(self._rounds.rounds()) + 1
            return self._rounds.create(replace(prepared.request, name=f"{STEM}-{number}"))
        if prepared.request.budget_usd is not None and last.state is not RoundState.PUBLISHED:
            last = self._rounds.set_budget(last.name, prepared.request.budget_usd)
        counts = self._store.rounds.counts(last.name)
        if last.state is RoundState.FINISHED and counts.failed + counts.skipped:
            self._rounds.retry(last.name)
            last = self._store.rounds.get(last.name)
        return last

    def judge(self, round_: Round, run: Callable[[str, Report], RoundCounts], report: Report) -> RoundCounts:
        """Judge what is pending in a round; nothing where it is finished."""
        if round_.state in RESUMABLE:
            run(round_.name, report)
        return self._store.rounds.counts(round_.name)

    def publish(self, name: str) -> Board:
        """Build the board of a judged round, with the embedded scores that its answers can have.

        Raises:
            ConflictError: It has no verdict.
        """
        board, _ = self._boards.publish(name, report=lambda _: None, partial=True)
        return board

    def last_board(self) -> Board:
        """Return the board of the last round that has one."""
        boards = {board.name: board for board in self._boards.published()}
        for round_ in self._rounds.rounds():
            if round_.name in boards:
                return boards[round_.name]
        raise NotFoundError("Nothing was ranked here yet.", advice="Rank files first: arena rank FILES….")

    def requests(self, name: str) -> int:
        """Count the requests that a round's judge sent, without cached replies."""
        return self._store.rounds.requests(name)

    def _last_round(self) -> Round | None:
        return next(iter(self._rounds.rounds()), None)

    def _judge(self, request: RankRequest, joined: Pool) -> str:
        """Choose the judge: the given one, else the ranking's former one, else the embedded one if it can."""
        last = None if request.afresh else self._last_round()
        if request.judge:
            return self.judges.named(request.judge, request.endpoint)
        if last is not None:
            return self.judges.named(str(last.judge["source"]), request.endpoint)
        if joined.references or joined.passages:
            return EMBEDDED
        raise InputError(
            "There are neither references nor passages, which the embedded judge compares answers with.",
            advice=ADVICE,
        )

    def _known(self) -> Sequence[Question]:
        last = self._last_round()
        return () if last is None else self._store.sets.get(last.set_name).questions

    def _stored(self, given: set[str]) -> Iterator[AnswerTable]:
        """Yield the former answers of systems without a new file."""
        last = self._last_round()
        entrants = () if last is None else self._planner.entrants(last.set_name)
        systems = {
            entrant.system: [_row(answer) for answer in self._store.submissions.answers(entrant.id).values()]
            for entrant in entrants
            if entrant.system not in given
        }
        if systems:
            yield AnswerTable(file="before", systems=systems)

    def _store_questions(self, joined: Pool) -> str:
        """Store the questions as a set, and return its name: another one where they are others."""
        text = json.dumps([repr(question) for question in joined.questions], ensure_ascii=False)
        name = f"questions-{hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]}"
        domains = {question.domain: question.domain for question in joined.questions}
        with working("storing the questions"):
            self._sets.add(
                QuestionSet(name=name, title=self._title, domains=domains, questions=joined.questions)
            )
        return name

    def _submit(self, set_name: str, system: str, answers: Sequence[Answer]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "answers.jsonl"
            with file.open("w", encoding="utf-8") as lines:
                for answer in answers:
                    contexts = [
                        {"id": one.id, "title": one.title, "text": one.text} for one in answer.contexts
                    ]
                    row = {"question_id": answer.question_id, "answer": answer.answer}
                    lines.write(
                        json.dumps(
                            {**row, **({"contexts": contexts} if contexts else {})}, ensure_ascii=False
                        )
                    )
                    lines.write("\n")
            self._submissions.add(file, set_name, system=system, keep_na=True)


def _pairs(request: RankRequest, joined: Pool) -> str:
    """Return the compared pairs in the words of a round's plan."""
    if not request.versus:
        return "all"
    if request.versus in joined.answers:
        return f"{VERSUS}{request.versus}"
    if joined.references and request.versus == REFERENCE:
        return REFERENCE
    names = ", ".join([*joined.answers, *([REFERENCE] if joined.references else [])])
    raise InputError(f"There is no system {request.versus!r}.", advice=f"There are: {names}.")


def _row(answer: Answer) -> AnswerRow:
    return AnswerRow(line=0, question_id=answer.question_id, answer=answer.answer, contexts=answer.contexts)


def _notes(tables: Sequence[AnswerTable], joined: Pool) -> Iterator[str]:
    for table in tables:
        yield table.sentence
        for problem in table.problems:
            yield f"{table.file}: {problem.message}"
    yield from joined.notes
