"""What a round in waves would tell for how many verdicts, before anything is paid for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.services.rounds.models import LoadSpec, PlannedRound, judge_inputs
from arena.services.rounds.waves.settings import CheapJudge, WaveSettings, known_verdicts, shares_of_round
from data.errors import InputError
from data.records import CheapKind, PlannedBattle, Verdict, soft_share
from data.store import Store
from judges.base import JudgeInput
from judges.spec import JudgeSpec
from leaderboard.battles import BattleTable
from leaderboard.sampling.asks import Ask
from leaderboard.sampling.forecast import correlation, verdict_counts, width_curve

Floats = NDArray[np.float64]
Decide = Callable[[JudgeSpec, Sequence[JudgeInput]], Sequence[Verdict]]
CostOf = Callable[[PlannedRound], float | None]
ASSUMED = (0.5, 0.7, 0.9)
MOST_DECIDED = 1_000
EVEN, TIE_BAND = 0.5, 0.05


def forecast(
    store: Store,
    planned: PlannedRound,
    settings: WaveSettings,
    cost_of: CostOf,
    load_spec: LoadSpec,
    decide: Decide | None,
) -> dict[str, Any]:
    """Work out what a round in waves would tell.

    Args:
        store: Where sets, answers and earlier rounds are kept.
        planned: The plan.
        settings: What is asked of the waves.
        cost_of: Says what a planned round would cost; None where a price is not known.
        load_spec: Finds proxy judges.
        decide: Lets an embedded judge decide battles; None where nothing may be judged, as on the site.

    Returns:
        `waves` of `rounds plan`; costs are None where a price is not known.

    Raises:
        InputError: There is nothing to judge.
    """
    battles = [battle for battle in planned.plan.battles if battle.outcome is None]
    if not battles:
        raise InputError("There is nothing to judge.", advice="Choose other pairs, systems or questions.")
    step = -(-len(battles) // MOST_DECIDED)
    chosen = _whole_questions(battles, step)
    shares, source = _cheap_shares(store, planned, settings, chosen, load_spec, decide)
    measured = _measured(store, planned, chosen, shares) if shares is not None else None
    if shares is None:
        random = np.random.default_rng(planned.request.seed)
        shares = random.integers(0, 2, len(chosen)).astype(np.float64)
    correlations = ASSUMED if measured is None else (measured,)
    known = "the correlation in earlier rounds of this judge"
    assumption = "assumed correlations" if measured is None else known
    curve = width_curve(
        Ask.parse(settings.ask),
        _table(store, planned, chosen, shares),
        battles=len(battles),
        counts=verdict_counts(len(battles), settings.verdicts),
        correlations=correlations,
        seed=planned.request.seed,
    )
    cost, cheap_cost = cost_of(planned), _cheap_cost(planned, settings, cost_of, load_spec)
    return {
        "basis": f"{source}; {assumption} of proxy shares and verdicts",
        "correlations": list(correlations),
        "cost_usd_cheap": cheap_cost,
        "curve": [
            {
                "verdicts": point.verdicts,
                "cost_usd": None
                if cost is None or cheap_cost is None
                else cost / len(battles) * point.verdicts + cheap_cost,
                "plain_width": point.plain,
                "widths": list(point.widths),
            }
            for point in curve
        ],
    }


def _whole_questions(battles: Sequence[PlannedBattle], step: int) -> list[PlannedBattle]:
    """The battles of every `step`-th question: intervals depend on battles that share a question."""
    questions = set(sorted({battle.question for battle in battles})[::step])
    return [battle for battle in battles if battle.question in questions]


def _cheap_shares(
    store: Store,
    planned: PlannedRound,
    settings: WaveSettings,
    battles: Sequence[PlannedBattle],
    load_spec: LoadSpec,
    decide: Decide | None,
) -> tuple[Floats | None, str]:
    """Shares of the first proxy judge that is free to ask, and in words what they are; None without one."""
    for judge in settings.cheap:
        if judge.kind is not CheapKind.JUDGE:
            alone = replace(settings, cheap=(judge,))
            earlier = known_verdicts(store, alone, battles)[0] or {}
            shares = [earlier.get(battle.key) for battle in battles]
            return _filled(
                shares
            ), f"verdicts of {judge.name} on {len(earlier):,} of {len(battles):,} battles"
        spec = load_spec(_source(judge))
        if decide is not None and not spec.models:
            verdicts = decide(spec, tuple(judge_inputs(store, planned, battles)))
            shares = [soft_share(verdict) for verdict in verdicts]
            return _filled(shares), f"verdicts of {judge.name} on {len(battles):,} battles"
    return None, "battles assumed to be even, since no proxy judge is free to ask"


def _source(judge: CheapJudge) -> str:
    return judge.name if judge.spec is None else str(judge.spec["source"])


def _filled(shares: Sequence[float | None]) -> Floats:
    """Shares, even where a judge gave none."""
    return np.array([EVEN if share is None else share for share in shares], dtype=np.float64)


def _measured(
    store: Store, planned: PlannedRound, battles: Sequence[PlannedBattle], shares: Floats
) -> float | None:
    """How the shares go with verdicts of the same judge in earlier rounds; None where there are too few."""
    place = {battle.key: number for number, battle in enumerate(battles)}
    verdicts = np.full(len(battles), np.nan)
    for round_ in store.rounds.all():
        if round_.set_name != planned.request.set_name or round_.judge.get("hash") != planned.spec.hash:
            continue
        for key, share in shares_of_round(store, round_.name, place).items():
            verdicts[place[key]] = share
    return correlation(shares, verdicts)


def _table(
    store: Store, planned: PlannedRound, battles: Sequence[PlannedBattle], shares: Floats
) -> BattleTable:
    """The battles with the winners that the shares name."""
    names = {entrant.id: entrant.system for entrant in planned.entrants}
    names[store.submissions.reference(planned.request.set_name).id] = planned.summary.reference_name
    questions = dict(store.sets.numbered(planned.summary.id))
    words = np.where(np.abs(shares - EVEN) < TIE_BAND, "tie", np.where(shares > EVEN, "model_a", "model_b"))
    return BattleTable.from_columns(
        question_id=[questions[battle.question].id for battle in battles],
        domain=[questions[battle.question].domain for battle in battles],
        model_a=[names[battle.a] for battle in battles],
        model_b=[names[battle.b] for battle in battles],
        winner=words.tolist(),
    )


def _cheap_cost(
    planned: PlannedRound, settings: WaveSettings, cost_of: CostOf, load_spec: LoadSpec
) -> float | None:
    """What the proxy judges cost for all battles; None where a price is not known."""
    total = 0.0
    for judge in settings.cheap:
        if judge.kind is not CheapKind.JUDGE:
            continue
        cost = cost_of(replace(planned, spec=load_spec(_source(judge))))
        if cost is None:
            return None
        total += cost
    return total
