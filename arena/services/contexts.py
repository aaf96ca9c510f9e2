"""Scores of retrievers' contexts, and controlled sets."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.accounts.redaction import redacted
from arena.services.jobs.cancellation import stopping_on_interrupt
from arena.services.metrics.factory import MetricAccess, MetricRequest
from arena.services.metrics.service import MetricService
from arena.services.question_sets.service import RATINGS
from arena.services.retrieval import CorpusService
from arena.services.submissions.reader import StatusReader
from data.errors import FileFormatError, InputError, JudgeError, SpecError
from data.files.question_sets.rows import write_set
from data.files.text_files import ReadLimits
from data.files.trec import WHOLE, Qrels, ids_by_field, read_qrels
from data.models import MetricItem, Outcome, Passage, Question, QuestionSet, Score, SubmissionKind
from data.store import Store
from data.store.scores import EMBEDDED
from judges.llm.costs import MemoryLedger, Usage
from judges.metrics.comprehensiveness.graph import UnscoredError
from judges.metrics.context import CONTEXT
from judges.metrics.context.controlled import Controlled, ControlledSetBuilder, build_all, read_sources
from judges.metrics.context.measures import (
    ContextSettings,
    coverage,
    density,
    pooled_ranked_coverage,
    ranked_coverage,
)
from judges.metrics.context.ratings import HIGHEST, THRESHOLD, Order, Ratings, required_subset, token_count
from judges.metrics.registry import read_options
from leaderboard.vocabulary import OVERALL
from submissions.context_files import read_contexts


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """Sources and folder of a controlled set; `options` are constants of CRUX."""

    file: Path
    folder: Path
    judge: str
    name: str = ""
    options: Mapping[str, Any]
    budget_usd: float | None = None


def _rated(controlled: Controlled) -> dict[str, Any]:
    return {
        "question_id": controlled.question.id,
        "passages": [passage.id for passage in controlled.question.passages],
        "ratings": controlled.ratings.values.tolist(),
        "threshold": controlled.ratings.threshold,
        "required": {order.value: controlled.required(order) for order in Order},
        "dropped": controlled.dropped,
    }


RANKING = ("nDCG@10", "P@10", "R@10", "R@100", "RR")
CRUX = ("coverage", "alpha_ndcg", "density")
Contexts = Mapping[str, Sequence[Passage]]
"""Passages by question, best first."""
Values = dict[str, dict[str, float]]
"""Values by measure and question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """Files to score; `qrels` replaces gold documents, `corpus` has texts, `judge` scores CRUX."""

    set_name: str
    files: Sequence[Path]
    qrels: Path | None = None
    corpus: str = ""
    judge: str = EMBEDDED
    budget_usd: float | None = None


class ContextService:
    """Scorer of contexts; a question without passages counts as 0 in ranking measures."""

    def __init__(
        self, store: Store, corpora: CorpusService, metrics: MetricService, access: MetricAccess
    ) -> None:
        self._store, self._corpora, self._metrics, self._access = store, corpora, metrics, access

    def build(self, request: BuildRequest) -> dict[str, Any]:
        """Write a set as a folder for `arena sets import`, with `ratings.jsonl`, and return counts.

        A repeated call continues an interrupted one from cached replies.
        """
        sources = read_sources(request.file, ReadLimits())
        built, failed, used = asyncio.run(self._build(request, sources))
        if not built:
            reason = next(iter(failed.values())).reason
            message = f"None of the {len(sources)} sources became a question: {reason}"
            raise JudgeError(message, advice="Fix the problem and run the same command again.")
        domains = {controlled.question.domain: controlled.question.domain for controlled in built}
        questions = QuestionSet(
            name=request.name or request.folder.resolve().name,
            title=request.name or request.folder.resolve().name,
            source="Built from summaries and their documents.",
            reference_name="summary",
            domains=domains,
            questions=tuple(controlled.question for controlled in built),
        )
        try:
            write_set(questions, request.folder)
            lines = "".join(json.dumps(_rated(controlled), ensure_ascii=False) + "\n" for controlled in built)
            (request.folder / RATINGS).write_text(lines, encoding="utf-8")
        except OSError as error:
            message = f"{request.folder} cannot be written: {error.strerror}."
            raise FileFormatError(message, advice="Choose a folder that you can write to.") from error
        return {
            "folder": str(request.folder),
            "set": questions.name,
            "sources": len(sources),
            "questions": len(built),
            "passages": sum(len(controlled.question.passages) for controlled in built),
            "sub_questions": sum(len(controlled.question.sub_questions) for controlled in built),
            "dropped_sub_questions": sum(len(controlled.dropped) for controlled in built),
            "failed": {
                name: {"outcome": why.outcome.value, "reason": why.reason} for name, why in failed.items()
            },
            "calls": used.calls,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cost_usd": used.total_usd,
        }

    async def _build(
        self, request: BuildRequest, sources: Sequence[Any]
    ) -> tuple[tuple[Controlled, ...], Mapping[str, UnscoredError], Usage]:
        spec = self._access.llm(request.judge)
        if spec is None:
            message = f"The judge {request.judge} has no LLM, which is needed to write passages and requests."
            raise SpecError(message, advice="Choose an LLM judge: see `arena judges list`.")
        settings = read_options(ContextSettings, "a controlled set", request.options)
        ledger = None if request.budget_usd is None else MemoryLedger(request.budget_usd)
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            async with self._access.open_runner(spec, ledger, stop) as (runner, usage):
                builder = ControlledSetBuilder(runner, settings)
                built, failed = await build_all(builder, sources)
        return built, failed, usage

    def score(self, request: ContextRequest) -> tuple[list[dict[str, Any]], str]:
        """Score files overall and by domain, named by file stem; return rows and a note on the judgments."""
        questions = self._store.sets.get(request.set_name)
        runs: dict[str, Contexts] = {}
        for file in request.files:
            name = file.name.removesuffix(".gz").rpartition(".")[0] or file.name
            if name in runs:
                raise InputError(f"Two files have the name {name}.", advice="Rename one of them.")
            answers = read_contexts(file, questions)
            runs[name] = {answer.question_id: answer.contexts for answer in answers}
        qrels = (
            _gold(questions)
            if request.qrels is None
            else _by_question_id(read_qrels(request.qrels), questions)
        )
        runs = {name: self._with_texts(run, questions, request.corpus) for name, run in runs.items()}
        if qrels is not None and qrels.has_subtopics:
            crux = {name: judged_crux(run, qrels) for name, run in runs.items()}
        elif request.judge or any(question.sub_questions for question in questions.questions):
            crux = _pooled({name: self._crux(run, questions, request) for name, run in runs.items()})
        else:
            crux = {}
        return list(_rows(runs, qrels, crux, questions)), "" if qrels is None else qrels.note

    def sets(self) -> tuple[str, ...]:
        """Return the sets with submitted contexts."""
        submissions = self._store.submissions.find(kind=SubmissionKind.CONTEXTS, newest=True)
        return tuple(sorted({submission.set_name for submission in submissions}))

    def ranked(self, set_name: str, domain: str, *, caller: Caller) -> list[dict[str, Any]]:
        """Return the submitted contexts of a set in one domain, sorted by the first known measure."""
        rows = [row for row in self.submitted(set_name, caller=caller) if row["domain"] == domain]
        known = (name for name in (*RANKING, *CRUX) if any(row[name] is not None for row in rows))
        first = next(known, RANKING[0])
        return sorted(rows, key=lambda row: (row[first] is None, -(row[first] or 0.0), row["system"]))

    def submitted(self, set_name: str, *, caller: Caller = OPERATOR) -> list[dict[str, Any]]:
        """Score the submitted contexts of a set, with the stored scores of `context-crux`."""
        questions, store = self._store.sets.get(set_name), self._store
        statuses, places = StatusReader(store, set_name), store.submissions.places(set_name)
        runs: dict[str, Contexts] = {}
        scores: dict[str, dict[str, Score]] = {}
        for stored in store.submissions.find(set_name=set_name, kind=SubmissionKind.CONTEXTS, newest=True):
            visible = redacted(caller, stored, published=statuses.published(stored), places=places)
            if visible is not None:
                name = visible[0].system
                runs[name] = {key: row.contexts for key, row in store.submissions.answers(stored.id).items()}
                rows = store.scores.detailed([stored.id], metric=CONTEXT, judge=EMBEDDED)
                scores[name] = {row.question_id: row.as_score() for row in rows}
        return list(_rows(runs, _gold(questions), _pooled(scores), questions))

    def _with_texts(self, run: Contexts, questions: QuestionSet, corpus: str) -> Contexts:
        bare = {passage.id for passages in run.values() for passage in passages if not passage.text}
        known = dict(self._corpora.passages(corpus, bare)) if corpus and bare else {}
        own = {row.id: {part.id: part for part in row.passages} for row in questions.questions}
        return {
            key: [p if p.text else replace(own[key].get(p.id, known.get(p.id, p)), id=p.id) for p in passages]
            for key, passages in run.items()
        }

    def _crux(self, run: Contexts, questions: QuestionSet, request: ContextRequest) -> dict[str, Score]:
        items = [_item(row, run[row.id]) for row in questions.questions if run.get(row.id)]
        metric_request = MetricRequest(metric=CONTEXT, judge=request.judge, budget_usd=request.budget_usd)
        lines = self._metrics.lines_of(items, metric_request)
        return {line["id"]: Score(**{**line, "outcome": Outcome(line["outcome"])}) for line in lines}


def _item(question: Question, contexts: Sequence[Passage]) -> MetricItem:
    return MetricItem(
        id=question.id,
        question=question.question,
        answer="",
        passages=question.passages,
        reference=question.reference,
        contexts=tuple(contexts),
        sub_questions=question.sub_questions,
        domain=question.domain,
    )


def _gold(questions: QuestionSet) -> Qrels | None:
    gold = {row.id: {WHOLE: dict.fromkeys(row.gold_doc_ids, 1.0)} for row in questions.questions}
    judged = {question: own for question, own in gold.items() if own[WHOLE]}
    return Qrels(judgments=judged) if judged else None


def _by_question_id(qrels: Qrels, questions: QuestionSet) -> Qrels:
    ids = ids_by_field(question.id for question in questions.questions)
    known = {ids[field]: own for field, own in qrels.judgments.items() if field in ids}
    if not known:
        message = f"The judgments contain no question of {questions.name}."
        raise InputError(message, advice="Use the ids of its questions.")
    return replace(qrels, judgments=known)


def ranked_values(run: Contexts, qrels: Qrels) -> Values:
    """Calculate ranking measures by question with ir_measures.

    A chunk (`doc#3`) counts as its document if the judgments name documents; each name counts once.
    """
    import ir_measures

    values: Values = {name: dict.fromkeys(qrels.questions, 0.0) for name in RANKING}
    ranking: dict[str, dict[str, float]] = {}
    for question in qrels.questions & run.keys():
        judged = ids_by_field(qrels.grades[question])
        ids = ((row.id, row.id.rpartition("#")[0]) for row in run[question])
        names = dict.fromkeys(judged.get(name) or judged.get(document, name) for name, document in ids)
        ranking[question] = {name: float(-place) for place, name in enumerate(names)}
    graded = {question: _grades(qrels, question, binary=False) for question in qrels.questions}
    relevant = {question: _grades(qrels, question, binary=True) for question in qrels.questions}
    for named, judgments in ((RANKING[:1], graded), (RANKING[1:], relevant)):
        measures = {ir_measures.parse_measure(name): name for name in named}
        for row in ir_measures.iter_calc(list(measures), judgments, ranking) if ranking else ():
            values[measures[row.measure]][row.query_id] = float(row.value)
    return values


def _grades(qrels: Qrels, question: str, *, binary: bool) -> dict[str, int]:
    own = {passage: grade for passage, grade in qrels.grades[question].items() if grade >= 0}
    if binary:
        return {passage: int(grade >= qrels.relevant_from) for passage, grade in own.items()}
    return {passage: round(grade) for passage, grade in own.items()}


def judged_crux(run: Contexts, qrels: Qrels) -> Values:
    """Calculate CRUX measures from judgments with subtopics; density only with all texts."""
    values: Values = {name: {} for name in CRUX}
    for question in sorted(qrels.questions):
        places = {passage: place for place, passage in enumerate(qrels.grades[question])}
        subtopics = qrels.judgments[question].values()
        table = np.zeros((len(places) + 1, len(subtopics)))
        for column, grades in enumerate(subtopics):
            for passage, grade in grades.items():
                table[places[passage], column] = HIGHEST if grade >= qrels.relevant_from else 0
        ratings = Ratings(values=table, threshold=THRESHOLD)
        passages = run.get(question, ())
        # The last row is for unjudged passages.
        ranked = [places.get(row.id, len(places)) for row in passages]
        covered = coverage(ratings, set(ranked)) or 0.0
        values["coverage"][question] = covered
        values["alpha_ndcg"][question] = ranked_coverage(ratings, ranked) or 0.0
        texts = {places[row.id]: row.text for row in passages if row.id in places}
        best = [texts.get(place, "") for place in required_subset(ratings)]
        if all(best) and all(row.text for row in passages):
            tokens = sum(token_count(row.text) for row in passages)
            needed = sum(map(token_count, best))
            dense = density(covered, tokens, best_covered=1.0, best_tokens=needed)
            if dense is not None:
                values["density"][question] = dense
    return values


def _pooled(scores: Mapping[str, Mapping[str, Score]]) -> dict[str, Values]:
    values: dict[str, Values] = {name: {measure: {} for measure in CRUX} for name in scores}
    by_question: dict[str, dict[str, Score]] = defaultdict(dict)
    for name, own in scores.items():
        for question, score in own.items():
            by_question[question][name] = score
            if score.score is not None:
                values[name]["coverage"][question] = score.score
                if (dense := score.details.get("density")) is not None:
                    values[name]["density"][question] = float(str(dense))
    for question, together in by_question.items():
        for name, value in pooled_ranked_coverage(together).items():
            if value is not None:
                values[name]["alpha_ndcg"][question] = value
    return values


def _rows(
    runs: Mapping[str, Contexts], qrels: Qrels | None, crux: Mapping[str, Values], questions: QuestionSet
) -> Iterator[dict[str, Any]]:
    """Yield a row per system and domain with means over known values, and counts."""
    domains = {question.id: question.domain for question in questions.questions}
    for name, run in runs.items():
        values = ({} if qrels is None else ranked_values(run, qrels)) | dict(crux.get(name, {}))
        for domain in (OVERALL, *dict.fromkeys(domains.values())):
            ids = [key for key, own in domains.items() if domain in {OVERALL, own}]
            judged = [key for key in ids if qrels is not None and key in qrels.questions]
            means = {
                measure: _mean([values[measure][key] for key in ids if key in values.get(measure, {})])
                for measure in (*RANKING, *CRUX)
            }
            rated = sum(key in values.get("coverage", {}) for key in ids)
            counts = {"questions": len(ids), "missing": sum(not run.get(key) for key in ids)}
            yield {"system": name, "domain": domain, **counts, "judged": len(judged), "rated": rated} | means


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
