"""The standings of a stored round: its battles, and what else its board tells of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.services.attacks import RoundAttacks, attacks_of
from arena.services.board_columns import outcomes_by_system, outcomes_of, table_of_columns
from arena.services.collector import rare_collections
from arena.services.health import health_of, read_agreement
from arena.services.lives import LifeReader
from data.records import JudgeKind, Round, SetSummary
from data.store import Store
from data.store.scores import ScoredAnswer
from judges.cleaning import clean
from leaderboard.answer_facts import AnswerFact
from leaderboard.building import build_standings
from leaderboard.ratings import Settings
from leaderboard.standings import About, Standings

BASELINE = "baseline"


def standings_of(store: Store, name: str, *, calibration: Path | None = None) -> Standings:
    """Compute a round's standings from its judged battles, at whatever state it is.

    Args:
        store: Where the round is kept.
        name: The round.
        calibration: What `judges calibrate --json` printed of the round's judge, for its readers.

    Raises:
        NotFoundError: There is no such round.
        InputError: The calibration is of other judges.
    """
    # Half of the time over a million battles went into looking for cycles that are not there.
    with rare_collections():
        return _standings(store, name, calibration)


def _standings(store: Store, name: str, calibration: Path | None) -> Standings:
    found = store.rounds.get(name)
    summary = store.sets.summary(found.set_name)
    battles = store.verdicts.columns(name)
    attacks = attacks_of(store.canaries.of_round(name))
    agreement = None if calibration is None else read_agreement(calibration, found.judge_name)
    return build_standings(
        table_of_columns(battles),
        replace(
            _about(found, summary, attacks, health_of(battles, attacks, agreement)),
            attempts=_attempts(store, found),
        ),
        settings=Settings(seed=found.seed),
        answers=_facts(store, found, summary),
        outcomes=outcomes_by_system(battles),
        ended=outcomes_of(battles),
        badges=_badges(store, found),
    )


def _attempts(store: Store, found: Round) -> Mapping[str, int]:
    """How many versions of each system were judged so far, this round included."""
    lives = LifeReader(store, found.set_name)
    return {system: max(1, lives.attempts(system)) for system in sorted(found.plan["systems"])}


def _badges(store: Store, found: Round) -> Mapping[str, Sequence[str]]:
    """Systems of the team `baseline`, which stand on the board to be compared with."""
    versions: Mapping[str, int] = found.plan["systems"]
    return {
        one.system: (BASELINE,)
        for one in store.submissions.find(set_name=found.set_name)
        if versions.get(one.system) == one.version and one.team.casefold() == BASELINE
    }


def _facts(store: Store, found: Round, summary: SetSummary) -> Mapping[str, Sequence[AnswerFact]]:
    versions: Mapping[str, int] = found.plan["systems"]
    sides = [
        store.submissions.reference(summary.name),
        *(
            one
            for one in store.submissions.find(set_name=summary.name)
            if versions.get(one.system) == one.version
        ),
    ]
    scores = _scores_by_answer(tuple(store.scores.of_submissions([side.id for side in sides])))
    return {
        side.system: [
            AnswerFact(
                question=fact.question_id,
                domain=fact.domain,
                words=len(clean(fact.text).split()),
                no_answer=fact.no_answer,
                scores=scores.get((side.id, fact.question_id), {}),
            )
            for fact in store.submissions.facts(side.id)
        ]
        for side in sides
    }


def _about(found: Round, summary: SetSummary, attacks: RoundAttacks, health: Mapping[str, object]) -> About:
    judge = found.judge
    facts = {
        "round": found.name,
        "question set": f"{summary.title} ({summary.name} version {summary.version})",
        "licence": summary.licence,
        "judge": found.judge_name,
        "model": judge.get("model") or ("embedded" if judge["kind"] == JudgeKind.LEXICAL else ""),
        "judge hash": judge["hash"],
        "pairs": found.plan["pairs"],
        "seed": str(found.seed),
        "attack success rate": str(attacks) if attacks.report.planted else "",
        "finished": "" if found.finished_at is None else found.finished_at.date().isoformat(),
    }
    return About(
        name=found.name,
        title=summary.title,
        reference=summary.reference_name,
        labels=summary.domains,
        facts={label: value for label, value in facts.items() if value},
        health=health,
    )


def _scores_by_answer(
    scored: Sequence[ScoredAnswer],
) -> Mapping[tuple[int, str], Mapping[str, float | None]]:
    found: dict[tuple[int, str], dict[str, float | None]] = defaultdict(dict)
    for one in scored:
        # An LLM's scores stand beside the embedded ones, never in their place.
        name = f"{one.metric} {one.judge}".strip()
        found[one.submission, one.question_id][name] = one.score
    return found
