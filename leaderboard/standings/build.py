"""Build standings from judged battles and plain facts about answers."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from types import MappingProxyType
from typing import Any

import numpy as np

from data.errors import StatisticsError, UnrankableError
from data.models import Outcome
from data.parallel import parallel_map
from leaderboard.battles import BattleTable
from leaderboard.rates import Rate, RateTable, win_rates
from leaderboard.ratings import (
    Cluster,
    IntervalKind,
    Rating,
    RatingTable,
    Settings,
    difference,
    rate,
    star_battles,
)
from leaderboard.ratings.domains import rate_domains
from leaderboard.ratings.estimate import restrict
from leaderboard.ratings.uncertainty.differences import rate_as
from leaderboard.standings.answer_stats import (
    AnswerFact,
    BoardQuestion,
    declines_of,
    mean_score,
    too_few_answers,
)
from leaderboard.standings.head_to_head import head_to_head
from leaderboard.standings.model import About, Line, Standings
from leaderboard.standings.sections import JudgedShares
from leaderboard.standings.style import JudgeContext, style_section
from leaderboard.vocabulary import OVERALL


def build_standings(
    table: BattleTable,
    about: About,
    *,
    settings: Settings | None = None,
    answers: Mapping[str, Sequence[AnswerFact]] | None = None,
    outcomes: Mapping[str, Mapping[Outcome, int]] | None = None,
    ended: Mapping[Outcome, int] | None = None,
    badges: Mapping[str, Sequence[str]] | None = None,
    judged: JudgedShares | None = None,
    judge_context: JudgeContext | None = None,
    asked: Mapping[str, BoardQuestion] | None = None,
) -> Standings:
    """Compute a board from judged battles.

    Args:
        table: The judged battles alone; a table without battles gives a board without ratings.
        about: Description of the board.
        settings: How to rate; `cluster` also decides whether rates take battles on one question
            together, which a table of published counts cannot do.
        answers: Facts about each system's answers.
        outcomes: How each system's planned battles ended.
        ended: How all planned battles ended.
        badges: Organisers' badges of systems, such as `baseline`.
        judged: How much of the planned battles was judged.
        judge_context: Information that the judge had besides the answers.
        asked: The questions that the board is about, whose answers alone count, and which a system that does
            not answer them lacks; None if they are not known.

    A system that answered too few of the questions (`too_few_answers`) is listed without a rank, and its
    battles enter no rating; where questions are not known, as of published counts, everyone is ranked.

    Returns:
        The standings: the same input gives the same JSON.
    """
    chosen = settings or Settings()
    facts = answers or {}
    if asked is not None:
        # What a system answers beside the board's questions says nothing of it here.
        facts = {name: [fact for fact in part if fact.question in asked] for name, part in facts.items()}
    unranked = (
        too_few_answers(table, facts, asked=asked, reference=about.reference)
        if chosen.cluster is Cluster.QUESTION
        else {}
    )
    ranked = without_systems(table, unranked.keys())
    seen = _seen_without(judge_context or JudgeContext(), table, unranked.keys())
    started = time.monotonic()
    ratings, unrankable = _rated(ranked, chosen)
    seconds = time.monotonic() - started
    chosen = chosen if ratings is None else ratings.settings
    reference = about.reference if about.reference in table.systems else None
    inputs = _Inputs(
        table=ranked,
        everyone=table,
        settings=chosen,
        reference=reference,
        ratings=ratings,
        facts=facts,
        judge_context=seen,
    )
    # The longest first, so that no process is left with one while the others have nothing to do.
    tasks = [(part,) for part in (_style, _between, _by_domains, _rates)]
    covariates, beside, by_domain, (rates, everyone) = parallel_map(
        _computed, tasks, (inputs,), total=len(tasks), before=seconds
    )
    board = _Board(
        table=table,
        ratings={OVERALL: ratings, **by_domain},
        rates={(row.system, row.domain): row for row in rates.rows},
        against_all={(row.system, row.domain): row for row in everyone if row.system == reference},
        facts=facts,
        answers=_by_domain(facts),
        asked=_asked_by_domain(asked or {}),
        scored=_scored(facts),
        answered={fact.question for name, part in facts.items() if name != about.reference for fact in part},
        outcomes=outcomes or {},
        badges=badges or {},
        unranked=unranked,
        reference=about.reference,
    )
    count = len(table) if table.weight is None else round(float(table.weight.sum()))
    lines = {domain: board.lines(domain) for domain in (OVERALL, *_domains(table, about, facts))}
    order = [line.system for line in lines[OVERALL] if line.system in table.systems]
    return Standings(
        about=about,
        lines=MappingProxyType(lines),
        ratings=ratings,
        unrankable=unrankable,
        rates=rates,
        pairs=head_to_head(table, order),
        outcomes=MappingProxyType(dict(ended or {Outcome.JUDGED: count})),
        beside=beside,
        differences={} if ratings is None else all_differences(ratings),
        judged=judged,
        covariates=covariates,
        domain_notes={domain: " ".join(table.notes) for domain, table in by_domain.items() if table.notes},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Shared inputs of the independent parts of a board.

    `table` has the battles of systems that have a rank, `everyone` those of all.
    """

    table: BattleTable
    everyone: BattleTable
    settings: Settings
    reference: str | None
    ratings: RatingTable | None
    facts: Mapping[str, Sequence[AnswerFact]]
    judge_context: JudgeContext


def without_systems(table: BattleTable, systems: AbstractSet[str]) -> BattleTable:
    """Return the battles in which none of some systems is a side, with the names of the others."""
    if not systems:
        return table
    return restrict(table, np.flatnonzero([system not in systems for system in table.systems]))


def _seen_without(judge_context: JudgeContext, table: BattleTable, systems: AbstractSet[str]) -> JudgeContext:
    if not systems or judge_context.position is None or len(judge_context.position) != len(table):
        return judge_context
    left_out = np.array([system in systems for system in table.systems])
    return replace(judge_context, position=judge_context.position[~(left_out[table.a] | left_out[table.b])])


def _computed(inputs: _Inputs, part: Callable[[_Inputs], Any]) -> Any:  # noqa: ANN401 - each part is of its own type
    return part(inputs)


def _rates(inputs: _Inputs) -> tuple[RateTable, Sequence[Rate]]:
    """Rates against the reference if there is one, and its own against all systems."""
    reference = inputs.reference
    clustered = inputs.settings.cluster is Cluster.QUESTION
    rates = win_rates(inputs.everyone, reference=reference, clustered=clustered)
    if not clustered and inputs.everyone.weight is not None:
        # Rows of published counts are not questions: each battle is on one of its own.
        rates = replace(rates, rows=tuple(replace(row, questions=round(row.battles)) for row in rates.rows))
    if reference is None:
        return rates, ()
    # The reference's own rates alone are shown, and battles of others say nothing of them.
    return rates, win_rates(star_battles(inputs.everyone, reference), clustered=clustered).rows


def _style(inputs: _Inputs) -> Mapping[str, object]:
    if inputs.ratings is None:
        return {}
    return style_section(inputs.table, inputs.settings, inputs.facts, inputs.judge_context, inputs.reference)


def _between(inputs: _Inputs) -> tuple[Mapping[str, object], ...]:
    if inputs.ratings is None:
        return ()
    return (between_systems(inputs.table, inputs.settings, inputs.reference),)


def _rated(table: BattleTable, settings: Settings) -> tuple[RatingTable | None, str]:
    try:
        ratings = rate(
            table,
            method=settings.method,
            # Nobody asks a board for resamples, so that very many systems go without, as in `rate`.
            interval=None if settings.interval is IntervalKind.BOOTSTRAP else settings.interval,
            bootstrap=settings.bootstrap or 0,
            cluster=settings.cluster,
            anchor=settings.anchor,
            seed=settings.seed,
            bounds=settings.bounds,
        )
    except UnrankableError as error:
        return None, str(error)
    return ratings, ""


def _by_domains(inputs: _Inputs) -> Mapping[str, RatingTable]:
    table, overall = inputs.table, inputs.ratings
    if overall is None or len(table.domains) < 2:  # noqa: PLR2004 - one is overall
        return {}
    try:
        rated = rate_domains(table, inputs.settings, overall=overall)
        return {domain_table.domain: domain_table.table for domain_table in rated}
    except UnrankableError:
        # The overall ratings are of no use to shrink towards; rates are shown alone.
        return {}


def _domains(table: BattleTable, about: About, facts: Mapping[str, Sequence[AnswerFact]]) -> tuple[str, ...]:
    """Domains in the order of the labels, then those of battles and answers; none if unnamed."""
    met = (*table.domains, *(fact.domain for answers in facts.values() for fact in answers))
    ordered = dict.fromkeys((*about.labels, *met))
    return tuple(domain for domain in ordered if domain in set(met) and domain)


def _by_domain(facts: Mapping[str, Sequence[AnswerFact]]) -> Mapping[tuple[str, str], Sequence[AnswerFact]]:
    parts = defaultdict[tuple[str, str], list[AnswerFact]](list)
    for system, answers in facts.items():
        for answer in answers:
            parts[system, answer.domain].append(answer)
    return {**parts, **{(system, OVERALL): answers for system, answers in facts.items()}}


def _asked_by_domain(asked: Mapping[str, BoardQuestion]) -> Mapping[str, Mapping[str, BoardQuestion]]:
    parts = defaultdict[str, dict[str, BoardQuestion]](dict)
    for question, one in asked.items():
        parts[one.domain][question] = one
    return {**parts, OVERALL: asked}


def _scored(facts: Mapping[str, Sequence[AnswerFact]]) -> Mapping[str, AbstractSet[str]]:
    scored = defaultdict[str, set[str]](set)
    for part in facts.values():
        for fact in part:
            for metric, score in fact.scores.items():
                if score is not None:
                    scored[metric].add(fact.question)
    return scored


@dataclass(frozen=True, slots=True, kw_only=True)
class _Board:
    table: BattleTable
    ratings: Mapping[str, RatingTable | None]
    rates: Mapping[tuple[str, str], Rate]
    against_all: Mapping[tuple[str, str], Rate]
    facts: Mapping[str, Sequence[AnswerFact]]
    answers: Mapping[tuple[str, str], Sequence[AnswerFact]]
    asked: Mapping[str, Mapping[str, BoardQuestion]]
    scored: Mapping[str, AbstractSet[str]]
    answered: AbstractSet[str]
    outcomes: Mapping[str, Mapping[Outcome, int]]
    badges: Mapping[str, Sequence[str]]
    unranked: Mapping[str, str]
    reference: str | None

    def lines(self, domain: str) -> tuple[Line, ...]:
        """Every system that has battles or answers here, best first."""
        ratings = self.ratings.get(domain)
        rated = {} if ratings is None else {rating.system: rating for rating in ratings.ratings}
        names = dict.fromkeys((*self.table.systems, *self.facts, *self.outcomes))
        if self.reference not in {*self.table.systems, *self.outcomes}:
            # Held against its answers or not, a reference that meets nobody is not an entrant.
            names.pop(self.reference or "", None)
        lines = [self._line(name, domain, rated.get(name)) for name in names]
        visible = [line for line in lines if domain == OVERALL or _is_met(line)]
        place = {name: index for index, name in enumerate(rated)}
        return tuple(sorted(visible, key=lambda line: _order(line, place)))

    def _line(self, system: str, domain: str, rating: Rating | None) -> Line:
        facts = self.answers.get((system, domain), ())
        metrics = sorted(set().union(*(fact.scores for fact in facts if fact.scores)))
        asked = {} if system == self.reference else self.asked.get(domain, {})
        lacked = asked.keys() - {fact.question for fact in facts}
        marked = any(not one.answerable for one in self.asked[OVERALL].values())
        return Line(
            system=system,
            rating=rating,
            rate=self.rates.get((system, domain)),
            answers=len(facts),
            asked=len(asked) if asked else None,
            declined=declines_of(facts, asked, marked=marked and bool(asked)) if facts or asked else None,
            median_words=float(median([fact.words for fact in facts])) if facts else None,
            scores=MappingProxyType(
                {name: mean_score(facts, name, self._counted(lacked, name)) for name in metrics}
            ),
            outcomes=self.outcomes.get(system, {}) if domain == OVERALL else {},
            badges=tuple(self.badges.get(system, ())),
            unranked=self.unranked.get(system, ""),
            rate_against_all=self.against_all.get((system, domain)),
        )

    def _counted(self, lacked: AbstractSet[str], metric: str) -> Sequence[str]:
        """Return the lacked questions that count 0: answers of others have scores, or nobody's is there."""
        there, undefined = self.scored.get(metric, set()), metric.partition(" ")[0]
        return [
            question
            for question in lacked
            if question in there
            or (question not in self.answered and undefined not in self.asked[OVERALL][question].undefined)
        ]


def _is_met(line: Line) -> bool:
    return line.rate is not None or line.rate_against_all is not None or bool(line.answers)


def _order(line: Line, place: Mapping[str, int]) -> tuple[bool, int, float, float, str]:
    """By rating; without one by win rate, ties and name; last those that answered too few questions."""
    rate = line.rate
    won, not_lost = (0.0, 0.0) if rate is None else (rate.win_rate, rate.win_tie_rate)
    at = place.get(line.system, len(place) + (rate is None))
    return bool(line.unranked), at, -won, -not_lost, line.system


MAX_COMPARED = 60


def all_differences(ratings: RatingTable) -> dict[str, object]:
    """Return the paired difference of every two rated systems, from joint draws, kept small.

    Returns:
        `systems` (best first, at most `MAX_COMPARED`) and `pairs`, each a list: two places in `systems`, then
        points, lower and upper end of the 95 % interval (one decimal) and the chance that the first is the
        better (six); pairs that cannot be compared are left out.
    """
    rated = [rating.system for rating in ratings.ratings if rating.rating is not None][:MAX_COMPARED]
    pairs: list[list[float]] = []
    for first, second in combinations(range(len(rated)), 2):
        try:
            gap = difference(ratings, rated[first], rated[second])
        except StatisticsError:
            continue
        ends = [round(value, 1) for value in (gap.points, gap.lower, gap.upper)]
        pairs.append([first, second, *ends, round(gap.prob_better, 6)])
    return {"systems": rated, "pairs": pairs}


def between_systems(table: BattleTable, settings: Settings, reference: str | None) -> dict[str, object]:
    """Return the ratings of systems by each other alone, best first, with a note on what they are of."""
    rows: list[dict[str, object]] = []
    code = table.systems.index(reference) if reference in table.systems else -1
    chosen = (table.a != code) & (table.b != code)
    if code < 0:
        note = "Every battle is between systems: the same ratings."
    elif not chosen.any():
        note = "There are no battles between systems."
    else:
        note = f"From the {int(chosen.sum()):,} battles between systems, without those against {reference}."
        try:
            rated = rate_as(table.select(chosen), settings).ratings
            rows = [rating.as_json() for rating in rated if rating.rating is not None]
        except StatisticsError as error:
            note = str(error)
    return {"kind": "between-systems", "ratings": rows, "note": note}
