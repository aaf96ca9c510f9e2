"""Standings of a stored round, with facts for its board."""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.services.boards.facts import facts_of_answers, facts_of_systems, judge_context_of, questions_of
from arena.services.rounds.battle_table import (
    judged_shares,
    outcomes_by_system,
    outcomes_of,
    table_of_columns,
)
from arena.services.rounds.models import entrants_of, former_sentences
from arena.services.submissions.reader import StatusReader
from arena.services.system import rare_collections
from data.errors import ConflictError, InputError, NoVerdictError
from data.files.strict_json import parse_json
from data.files.text_files import ReadLimits, read_text
from data.models import (
    BattleColumns,
    GroundTruth,
    Job,
    JobKind,
    JudgeKind,
    MissingRule,
    OrderPolicy,
    Outcome,
    Round,
    RoundCounts,
    SetSummary,
)
from data.models.conduct import JudgeConduct, several_models
from data.progress import working
from data.store import Store
from judges.lexical import AGREEMENT
from leaderboard.ratings import Settings
from leaderboard.standings.answer_stats import AnswerFact
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About, Standings
from leaderboard.standings.sections import partial_sentence

CALIBRATION_FIELDS = ("pairs", "decisive_accuracy", "accuracy", "kappa", "pearson", "intervals")


def health_of(
    battles: BattleColumns,
    agreement: Mapping[str, Any] | None,
    conduct: JudgeConduct,
    former: Sequence[str] = (),
) -> Mapping[str, object]:
    """Return the judge's health in a round.

    Returns:
        Counts of `planned` and `unreadable` battles; `both_orders`, battles judged in both orders, and
        `flips` among them; `agreement` with people from a calibration, or null; for LLMs also `conduct`:
        outcomes, positions that won, and `warnings` in sentences.
    """
    fields = conduct.as_json()
    optional = {"conduct": {**fields, "warnings": [*fields["warnings"], *former]}} if conduct.readings else {}
    return {
        "planned": len(battles),
        "unreadable": int((battles.outcome == list(Outcome).index(Outcome.UNREADABLE)).sum()),
        "both_orders": int((battles.flipped >= 0).sum()),
        "flips": int((battles.flipped > 0).sum()),
        "agreement": agreement,
        **optional,
    }


def read_agreement(source: Path | Job, judge: str) -> Mapping[str, Any]:
    """Read a judge's agreement with people from `arena judges calibrate --json` or a calibration job."""
    name = f"Calibration {source.id}" if isinstance(source, Job) else source.name
    document = (
        _reports_of(source) if isinstance(source, Job) else parse_json(read_text(source, ReadLimits()), 0)
    )
    reports = [
        report
        for report in (document if isinstance(document, list) else [document])
        if isinstance(report, dict)
    ]
    report = next((report for report in reports if report.get("judge") == judge), None)
    if report is None or "pairs" not in report:
        names = ", ".join(str(report.get("judge")) for report in reports) or "nothing"
        raise InputError(
            f"{name} has no report on the judge {judge}; it has: {names}.",
            advice=f"Create one: `arena judges calibrate --judge {judge} --labels FILE --json`.",
        )
    return {name: report[name] for name in CALIBRATION_FIELDS if name in report}


def agreement_of(store: Store, calibration: Path | int | None, judge: str) -> Mapping[str, Any] | None:
    """Read a judge's agreement with people from a calibration's output or job number, if any."""
    source = store.jobs.get(calibration) if isinstance(calibration, int) else calibration
    return None if source is None else read_agreement(source, judge)


def _reports_of(job: Job) -> object:
    if job.kind is not JobKind.CALIBRATE or job.result is None:
        raise InputError(
            f"Job {job.id} is not a calibration with a result.", advice="List jobs and results: `arena jobs`."
        )
    return job.result["reports"]


BASELINE = "baseline"
MISSING_ANSWERS: Mapping[str, str] = {
    MissingRule.LOSE: "lose to any answer and count 0 in means",
    MissingRule.SKIP: "are not compared and count 0 in means",
}


def standings_of(store: Store, name: str, *, calibration: Path | int | None = None) -> Standings:
    """Compute a round's standings from its judged battles, in any state of the round.

    For `calibration` see `BoardService.standings`.
    """
    # Garbage collection takes half of the time over a million battles.
    with rare_collections(), working("computing the standings"):
        return _standings(store, name, calibration)


def _standings(store: Store, name: str, calibration: Path | int | None) -> Standings:
    round_ = store.rounds.get(name)
    summary = store.sets.summary(round_.set_name)
    entrants = entrants_of(store, round_)
    agreement = agreement_of(store, calibration, round_.judge_name)
    with ThreadPoolExecutor(1) as reading:
        # Count answers while the database sends millions of battles.
        columns = reading.submit(store.verdicts.columns, name)
        answers = facts_of_answers(store, summary, entrants)
        battles = columns.result()
        # Count battles while the database counts judgments.
        ground_truths = reading.submit(_ground_truths, store, round_, len(battles))
        del columns
        conduct = store.conduct.of_round(name)
        former = (*former_sentences(round_), *several_models(store.conduct.models(name)))
        health = health_of(battles, agreement, conduct, former)
        outcomes, ended = outcomes_by_system(battles), outcomes_of(battles)
        judged, judge_context = judged_shares(battles), judge_context_of(store, round_, battles)
        questions = questions_of(store, round_, summary)
        if questions is None:
            answers = _of_battles(round_, battles, answers)
        table = table_of_columns(battles)
        # Free the columns, which take more memory than the table.
        del battles
        about = _about(round_, summary, health, ground_truths.result())
    built = build_standings(
        table,
        replace(about, attempts=_attempts(store, round_)),
        settings=Settings(seed=round_.seed),
        answers=answers,
        outcomes=outcomes,
        ended=ended,
        judged=judged,
        judge_context=judge_context,
        badges={row.system: (BASELINE,) for row in entrants if row.team.casefold() == BASELINE},
        questions=questions,
    )
    return replace(built, systems=facts_of_systems(store, entrants))


def _of_battles(
    round_: Round, battles: BattleColumns, answers: Mapping[str, Sequence[AnswerFact]]
) -> Mapping[str, Sequence[AnswerFact]]:
    if round_.plan.get("sample") is None and not round_.plan.get("domains"):
        return answers
    questions = {battles.questions[code] for code in set(battles.question.tolist())}
    return {name: [fact for fact in part if fact.question in questions] for name, part in answers.items()}


def partial_sentence_of(store: Store, name: str) -> str:
    """Return the note of a partial board; empty if enough was judged."""
    counts = store.rounds.counts(name)
    if counts.judged and counts.judged == counts.planned:
        # Skip reading all battles for complete rounds.
        return ""
    judged = judged_shares(store.verdicts.columns(name))
    reference = store.sets.summary(store.rounds.get(name).set_name).reference_name
    fields = {"partial": judged.partial, "judged_share": judged.as_json(), "reference": reference}
    return partial_sentence(fields)


MAX_LACKING = 5


def require_enough(store: Store, name: str, *, partial: bool) -> str:
    """Refuse to publish a round with too few verdicts unless `partial`.

    Returns:
        Sentences on missing verdicts; empty if enough is judged.
    """
    counts, plan = store.rounds.counts(name), store.rounds.get(name).plan
    to_judge = counts.planned - counts.missing - plan.get("without_judge", 0)
    # Verdicts only on missing answers rank nothing.
    if not counts.judged or (to_judge and counts.judged <= plan.get("without_judge", 0)):
        reasons = ", ".join(
            f"{count:,} {word}"
            for word in ("unreadable", "refused", "failed", "skipped", "missing")
            if (count := getattr(counts, word))
        )
        first = next((why.rstrip(".") for _, why, _ in store.conduct.reasons(name) if why), "")
        why = f" The first: {first}." if first else ""
        raise NoVerdictError(
            f"Round {name} has no verdict ({reasons or 'nothing was judged'}), so it has no board.{why}",
            advice=_advice(store, name, counts),
        )
    sentence = partial_sentence_of(store, name)
    if not sentence:
        return ""
    undecidable: Mapping[str, int] = plan.get("undecidable") or {}
    reasons = "".join(f" The judge cannot decide {count:,}: {why}." for why, count in undecidable.items())
    if not partial:
        raise ConflictError(
            f"Round {name} has too few verdicts to be published. {sentence}{reasons}",
            advice=f"{_advice(store, name, counts)} Or publish it as partial with --partial.",
        )
    return f"{sentence}{reasons}"


def _advice(store: Store, name: str, counts: RoundCounts) -> str:
    round_ = store.rounds.get(name)
    if 0 < counts.unreadable <= sum((round_.plan.get("undecidable") or {}).values()):
        questions = store.sets.get(round_.set_name).questions
        lacking = [row.id for row in questions if not row.reference and not row.passages]
        named = f" ({', '.join(lacking[:MAX_LACKING])}{', …' if lacking[MAX_LACKING:] else ''})"
        return (
            f"Add references or passages to the questions{named if lacking else ''}, or choose another judge."
        )
    if counts.failed + counts.skipped:
        more = " --unreadable" if counts.unreadable else ""
        return f"Judge the rest: `arena rounds retry {name}{more}`."
    if counts.unreadable:
        return (
            f"See the judge's replies (`arena rounds status {name} --replies 20 --unreadable`), then retry "
            f"(`arena rounds retry {name} --unreadable`), or choose another judge."
        )
    return "Choose a judge that can decide the rest."


def _attempts(store: Store, round_: Round) -> Mapping[str, int]:
    statuses = StatusReader(store, round_.set_name)
    return {system: max(1, statuses.attempts(system)) for system in sorted(round_.plan["systems"])}


def _ground_truths(store: Store, round_: Round, battles: int) -> str:
    counts: Counter[str] = Counter()
    if round_.judge["kind"] == JudgeKind.LLM:
        return ""
    once = round_.judge["kind"] == JudgeKind.LEXICAL and round_.judge["order"] != OrderPolicy.BOTH
    for text, count in store.verdicts.settings(round_.name, once=once, counted=battles).items():
        settings = parse_json(text, 0) if text else None
        if isinstance(settings, dict) and "yardstick" in settings:
            counts[str(settings["yardstick"])] += count
    named = {GroundTruth.REFERENCE: "the reference", GroundTruth.PASSAGES: "the passages"}
    parts = [
        f"{named[ground_truth]} in {counts[ground_truth]:,} battles"
        for ground_truth in named
        if counts[ground_truth]
    ]
    if counts[GroundTruth.NONE]:
        parts.append(f"nothing in {counts[GroundTruth.NONE]:,} with an empty answer")
    return ", ".join(parts)


def _about(round_: Round, summary: SetSummary, health: Mapping[str, object], ground_truths: str) -> About:
    judge = round_.judge
    facts = {
        "round": round_.name,
        "question set": f"{summary.title} ({summary.name} version {summary.version})",
        "licence": summary.licence,
        "judge": round_.judge_name,
        "model": judge.get("model") or ("embedded" if judge["kind"] == JudgeKind.LEXICAL else ""),
        "judge hash": judge["hash"],
        "pairs": round_.plan["pairs"],
        "seed": str(round_.seed),
        "missing answers": MISSING_ANSWERS.get(round_.plan.get("missing", ""), ""),
        "yardsticks": ground_truths,
        "agreement with people": "" if judge["kind"] != JudgeKind.LEXICAL else AGREEMENT,
        "finished": "" if round_.finished_at is None else round_.finished_at.date().isoformat(),
    }
    return About(
        name=round_.name,
        title=summary.title,
        note=summary.note,
        reference=summary.reference_name,
        reference_by=summary.reference_by,
        labels=summary.domains,
        missing=MissingRule(rule) if (rule := round_.plan.get("missing")) else None,
        facts={label: value for label, value in facts.items() if value},
        health=health,
    )
