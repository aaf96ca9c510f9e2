"""Rankings: store files, plan, judge and publish; continue an earlier run."""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.boards.service import BoardService
from arena.services.question_sets.service import SetService
from arena.services.ranking.requests import ADVICE, EMBEDDED, RankingJudges, RankRequest
from arena.services.ranking.results import COMPARISONS, RankingResults
from arena.services.rounds.battle_table import LiveStanding, live_standing
from arena.services.rounds.models import PlannedRound, RoundRequest, same_verdicts
from arena.services.rounds.pairing import ALL, SYSTEMS, VERSUS
from arena.services.rounds.planning import RoundPlanner
from arena.services.rounds.service import RoundService
from arena.services.submissions.service import SubmissionService
from data.errors import InputError, NoVerdictError, UnfitJudgeError
from data.models import Answer, Board, JudgeKind, MissingRule, Question, QuestionSet, Round, RoundCounts
from data.models.questions import base_id
from data.models.rounds import RESUMABLE
from data.progress import Report, working
from data.store import Store
from data.text import counted, percent
from judges.catalogue import source_of
from submissions.answer_tables import AnswerRow, AnswerTable
from submissions.answer_warnings import NEAR_COPIES, NEAR_COPY, copied_share
from submissions.pooling import Pool, pool

MIN_SYSTEMS = 2
STEM = "rank"
NUMBERED = re.compile(rf"{STEM}-(\d+)")
REFERENCE = "reference"
"""Name of the references as an opponent."""
HASH_LENGTH = 8
MAX_NAMED = 3
MAX_SHOWN = 5
"""Number of systems to print in the live standings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Stored input of a ranking, with its planned round and notes on its files."""

    planned: PlannedRound
    request: RankRequest
    pool: Pool
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Input in a sentence."""
        text = f"{counted(len(self.pool.answers), 'system')}, {counted(len(self.pool.distinct), 'question')}"
        text += self.pool.each
        if not self.pool.lacking:
            text += ", complete"
        else:
            short = [f"{system} lacks {count:,}" for system, count in self.pool.lacking.items()]
            more = f" and {len(short) - MAX_NAMED:,} more lack some" if len(short) > MAX_NAMED else ""
            rule = "which count as lost"
            if self.request.missing is MissingRule.SKIP:
                rule = "and only questions that both systems answered are compared"
            text += f"; {', '.join(short[:MAX_NAMED])}{more}, {rule}"
        if self.pool.references:
            text += f"; {self.pool.references:,} with a reference"
        return f"{text}; joined by {'text' if self.pool.by_text else 'id'}."


class RankingService:
    """Service for rankings, each in its own arena."""

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
        results: RankingResults,
        folder: Path,
    ) -> None:
        self._store = store
        self._sets = sets
        self._submissions = submissions
        self._rounds = rounds
        self._planner = planner
        self._boards = boards
        self.judges = judges
        self._results = results
        self._folder = folder

    def prepare(
        self,
        request: RankRequest,
        tables: Sequence[AnswerTable],
        references: AnswerTable | None = None,
        *,
        caller: Caller,
    ) -> Prepared:
        """Join answer tables with stored ones, and store questions and answers."""
        systems = {system for table in tables for system in table.systems}
        with working("joining questions and answers"):
            before = () if request.afresh else self._stored(systems)
            known = () if request.afresh else self._known()
            joined = pool(
                [*tables, *before],
                references,
                known,
                keep_errors=request.keep_errors,
                repeats=request.repeats,
            )
        pairs = _pairs(request, joined)
        if len(joined.answers) + (pairs in {REFERENCE, ALL}) < MIN_SYSTEMS:
            names = ", ".join(joined.answers) or "none"
            other = " Or compare it with the references: --vs reference." if joined.references else ""
            raise InputError(
                f"Expected answers of at least two systems (got {names}).", advice=f"Add another file.{other}"
            )
        ids = [answer.question_id for answers in joined.answers.values() for answer in answers]
        if len(set(ids)) == len(ids) and pairs not in {REFERENCE, ALL}:
            raise InputError(
                "No question has answers of two systems.",
                advice="Use the same question ids or texts in all files.",
            )
        judge = self._judge(request, joined)
        notes = tuple(_notes([*tables, *([references] if references else [])], joined))
        set_name = self._store_questions(joined, caller)
        stored = {entrant.system: entrant.id for entrant in self._planner.entrants(set_name)}
        for system, answers in joined.answers.items():
            # A known file is not checked again.
            known_texts = self._store.submissions.answers(stored[system]).values() if system in stored else ()
            if sorted(map(_texts, known_texts)) != sorted(map(_texts, answers)):
                self._submit(set_name, system, answers, caller)
        wanted = RoundRequest(
            set_name=set_name,
            judge=judge,
            pairs=pairs,
            missing=request.missing,
            sample=request.sample,
            seed=request.seed,
            budget_usd=request.budget_usd,
        )
        planned = self._planner.plan(wanted)
        if request.with_reference and not self._of_reference(planned):
            raise InputError(
                f"The judge {planned.spec.name} cannot rank the references: it compares answers with them.",
                advice="Leave out --with-reference, or choose a model: --judge gpt-5-mini.",
            )
        return Prepared(planned=planned, request=request, pool=joined, notes=notes)

    def estimate(self, prepared: Prepared, *, caller: Caller) -> Mapping[str, Any]:
        """Estimate the battles and cost of the ranking, as `arena rounds plan` does.

        `with_reference` counts the battles that the reference adds.
        """
        planned, last = prepared.planned, self._last_round()
        if not prepared.request.retry and last is not None and self._goes_on(last, planned):
            open_ = {battle.key for battle in self._store.battles.pending(last.id)}
            battles = [battle for battle in planned.plan.battles if battle.key in open_]
            planned = replace(planned, plan=replace(planned.plan, battles=battles))
        added = self._of_reference(planned) if prepared.request.with_reference else 0
        return {**self._planner.estimate(planned, caller=caller), "with_reference": added}

    def _of_reference(self, planned: PlannedRound) -> int:
        reference = self._store.submissions.reference(planned.request.set_name).id
        return sum(reference in {battle.a, battle.b} for battle in planned.plan.battles)

    def require_ready(self, prepared: Prepared) -> None:
        """Check that the judge can decide and that its costs can be capped."""
        self._planner.require_ready(prepared.planned, uncapped=True)

    def standing(self, name: str) -> LiveStanding:
        """Return the live standings of a round."""
        return live_standing(self._store, self._store.rounds.get(name))

    def so_far(self, name: str) -> tuple[str, ...]:
        """Describe the live standings of a round; empty before a question is judged."""
        standing = self.standing(name)
        if not standing.questions:
            return ()
        rows = [
            f"{place}. {row.system}: {percent(row.score, decimals=0)} of the wins"
            for place, row in enumerate(standing.systems[:MAX_SHOWN], 1)
            if row.score is not None
        ]
        more = len(standing.systems) - MAX_SHOWN
        of = f"So far, on {standing.questions:,} of {standing.planned_questions:,} questions:"
        return (of, *rows, *([f"and {more:,} more"] if more > 0 else []))

    def round_of(self, prepared: Prepared, *, caller: Caller) -> Round:
        """Return the last round if it judges the same input, else a new one that takes over verdicts."""
        planned, last = prepared.planned, self._last_round()
        request = planned.request
        if last is None or not self._goes_on(last, planned):
            numbers = (NUMBERED.fullmatch(round_.name) for round_ in self._rounds.rounds(caller=caller))
            number = max((int(match[1]) for match in numbers if match), default=0) + 1
            named = replace(request, name=f"{STEM}-{number}")
            begun = self._rounds.begin(replace(planned, request=named), caller=caller)
            if last is not None and self._judges_alike(last, planned):
                self._store.verdicts.carry_over(last.id, begun.id)
            return begun
        if request.budget_usd is not None:
            self._rounds.set_budget(last.name, request.budget_usd, caller=caller)
        hopeless = sum(last.plan["undecidable"].values())
        if prepared.request.retry and self._store.rounds.counts(last.name).without_verdict > hopeless:
            self._rounds.retry(last.name, unreadable=True, published=True, caller=caller)
        if self._store.rounds.counts(last.name).pending:
            source = source_of(request.judge, planned.spec)
            self._store.rounds.amend(last.name, judge={**last.judge, "source": source})
            self._rounds.adopt(last.name, new_judge=True)
        if prepared.request.go_on:
            self._rounds.judge_anyway(last.name, caller=caller)
        return self._store.rounds.get(last.name)

    def _goes_on(self, last: Round, planned: PlannedRound) -> bool:
        """Return whether a round can continue with this plan, perhaps with a fixed judge function."""
        request = planned.request
        if (
            last.set_name != request.set_name
            or last.plan["systems"] != {entrant.system: entrant.version for entrant in planned.entrants}
            or last.plan["pairs"] != request.pairs
            or last.plan.get("missing") != request.missing
            or last.plan.get("sample") != request.sample
            or last.seed != request.seed
        ):
            return False
        if self._judges_alike(last, planned):
            return True
        counts = self._store.rounds.counts(last.name)
        mended = planned.spec.kind is JudgeKind.FUNCTION and counts.pending + counts.without_verdict
        return not counts.judged or bool(mended and last.judge_name == planned.spec.name)

    @staticmethod
    def _judges_alike(last: Round, planned: PlannedRound) -> bool:
        """Return whether a shared battle has the same verdict in the last round as in the plan."""
        return last.seed == planned.request.seed and same_verdicts(last.judge, planned.spec.canonical)

    def judge(self, round_: Round, run: Callable[[str, Report], RoundCounts], report: Report) -> RoundCounts:
        """Judge the pending battles of a round; write its comparisons if some stay pending."""
        if round_.state in RESUMABLE:
            try:
                run(round_.name, report)
            except UnfitJudgeError as error:
                bare = error.message.removeprefix(f"Round {round_.name} is paused. ")
                if error.message != bare:
                    error.message = bare
                    error.advice = f"Correct the judge and continue: {self._command}; or judge anyway: "
                    error.advice += f"{self._command} --go-on. {self._folder / COMPARISONS} has its replies."
                raise
            finally:
                counts = self._store.rounds.counts(round_.name)
                if counts.pending:
                    self._results.write_comparisons(round_.name, self._folder)
        return self._store.rounds.counts(round_.name)

    def publish(self, name: str) -> Board:
        """Build and write the board of a judged round.

        Raises:
            NoVerdictError: The round has no verdict.
        """
        try:
            board, _ = self._boards.publish(name, report=lambda _: None, partial=True)
        except NoVerdictError as error:
            self._results.write_comparisons(name, self._folder)
            message = error.message.replace(f"Round {name} has no verdict", "No comparison has a verdict")
            error.message = message.replace("so it has no board", "so there is no board")
            error.advice = f"{self._folder / COMPARISONS} has the other errors. "
            error.advice += f"Correct them and continue: {self._command}"
            raise
        self._results.write(board, self._folder)
        return board

    @property
    def _command(self) -> str:
        return f"arena rank {quote(str(self._folder))}"

    def requests(self, name: str) -> int:
        """Count the requests of a round's judge, without cached replies."""
        return self._store.rounds.requests(name)

    def _last_round(self) -> Round | None:
        return next(iter(self._rounds.rounds()), None)

    def _judge(self, request: RankRequest, joined: Pool) -> str:
        """Choose the requested judge, else the previous, else the embedded judge."""
        last = None if request.afresh else self._last_round()
        if request.judge:
            return self.judges.named(request.judge, request.endpoint)
        if last is not None:
            return self.judges.named(str(last.judge["source"]), request.endpoint)
        if joined.references or joined.passages:
            return EMBEDDED
        raise InputError(
            "The embedded judge needs references or passages, and the files have neither.", advice=ADVICE
        )

    def _known(self) -> Sequence[Question]:
        last = self._last_round()
        questions = () if last is None else self._store.sets.get(last.set_name).questions
        return [question for question in questions if question.id == base_id(question.id)]

    def _stored(self, replaced: set[str]) -> Iterator[AnswerTable]:
        last = self._last_round()
        entrants = () if last is None else self._planner.entrants(last.set_name)
        tables = {
            entrant.system: [_row(answer) for answer in self._store.submissions.answers(entrant.id).values()]
            for entrant in entrants
            if entrant.system not in replaced
        }
        if tables:
            yield AnswerTable(file="before", systems=tables)

    def _store_questions(self, joined: Pool, caller: Caller) -> str:
        """Store the questions as a set, and return its name, a hash of its content."""
        text = json.dumps([repr(question) for question in joined.questions], ensure_ascii=False)
        name = f"questions-{hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]}"
        # An existing set keeps its title although the folder was renamed.
        if any(summary.name == name for summary in self._sets.summaries()):
            return name
        domains = {question.domain: question.domain for question in joined.questions}
        title = self._folder.name or "ranking"
        new = QuestionSet(name=name, title=title, domains=domains, questions=joined.questions)
        with working("storing the questions"):
            self._sets.add(new, caller=caller)
        return name

    def _submit(self, set_name: str, system: str, answers: Sequence[Answer], caller: Caller) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "answers.jsonl"
            with file.open("w", encoding="utf-8") as lines:
                for answer in answers:
                    contexts = [{"id": c.id, "title": c.title, "text": c.text} for c in answer.contexts]
                    row = {"question_id": answer.question_id, "answer": answer.answer}
                    lines.write(
                        json.dumps(
                            {**row, **({"contexts": contexts} if contexts else {})}, ensure_ascii=False
                        )
                    )
                    lines.write("\n")
            self._submissions.add(file, set_name, system=system, keep_na=True, caller=caller)


def _pairs(request: RankRequest, joined: Pool) -> str:
    """Return the `pairs` of a round's plan."""
    if request.with_reference and (request.versus or not joined.references):
        lacking = (
            f"--vs {request.versus} compares systems only with {request.versus}"
            if request.versus
            else "there are none"
        )
        raise InputError(
            f"The references cannot be ranked too: {lacking}.",
            advice="Leave out --with-reference"
            + (" or --vs." if request.versus else ", or add --references FILE."),
        )
    if not request.versus:
        return ALL if request.with_reference else SYSTEMS
    if request.versus in joined.answers:
        return f"{VERSUS}{request.versus}"
    if joined.references and request.versus == REFERENCE:
        return REFERENCE
    names = ", ".join([*joined.answers, *([REFERENCE] if joined.references else [])])
    raise InputError(f"Unknown system {request.versus!r}.", advice=f"The systems are: {names}.")


def _texts(answer: Answer) -> tuple[str, str, str]:
    return answer.question_id, answer.answer, repr(answer.contexts)


def _row(answer: Answer) -> AnswerRow:
    name = base_id(answer.question_id)
    return AnswerRow(line=0, question_id=name, answer=answer.answer, contexts=answer.contexts)


def _notes(tables: Sequence[AnswerTable], joined: Pool) -> Iterator[str]:
    for table in tables:
        yield table.sentence
        for problem in table.problems:
            yield f"{table.file}: {problem.message}"
    yield from joined.notes
    references = {question.id: question.reference or "" for question in joined.questions}
    for system, answers in joined.answers.items():
        shares = [copied_share(row.answer, references[row.question_id], NEAR_COPY) for row in answers]
        copies = sum(share >= NEAR_COPY for share in shares)
        if copies > NEAR_COPIES * len(answers):
            count = counted(len(answers), "answer")
            yield f"{system}: {copies:,} of {count} copy the reference word for word."
