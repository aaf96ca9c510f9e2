"""Build standings from judged battles and facts on answers."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from types import MappingProxyType
from typing import Any, TypeAlias

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
    MeanScore,
    declines_of,
    mean_scores,
    questions_of,
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
    questions: Mapping[str, BoardQuestion] | None = None,
) -> Standings:
    """Compute a board from judged battles.

    A system that answered too few questions (`too_few_answers`) is listed without a rank, and its battles
    enter no rating. With unclustered battles, such as published counts, every system is ranked.

    Args:
        table: Judged battles; an empty table gives a board without ratings.
        about: Description of the board.
        settings: How to rate; `cluster` also decides whether rates are clustered by question.
        answers: Facts on each system's answers.
        outcomes: Outcomes of each system's planned battles.
        ended: Outcomes of all planned battles.
        badges: Organisers' badges of systems, such as `baseline`.
        judged: Shares of the planned battles that were judged.
        judge_context: Information that the judge had in addition to the answers.
        questions: Questions of the board; answers to other questions are ignored. None if unknown.

    Returns:
        The standings: equal input gives equal JSON.
    """
    chosen = settings or Settings()
    facts = answers or {}
    if questions is not None:
        facts = {name: [fact for fact in part if fact.question in questions] for name, part in facts.items()}
    unranked = (
        too_few_answers(table, facts, questions=questions, reference=about.reference)
        if chosen.cluster is Cluster.QUESTION
        else {}
    )
    ranked = without_systems(table, unranked.keys())
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
        judge_context=_context_without(judge_context or JudgeContext(), table, unranked.keys()),
    )
    # The longest first, to balance the load of processes.
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
        questions=_questions_by_domain(questions or {}),
        scored=_scored(facts),
        answered={fact.question for name, part in facts.items() if name != about.reference for fact in part},
        outcomes=outcomes or {},
        badges=badges or {},
        unranked=unranked,
        reference=about.reference,
    )
    count = len(table) if table.weight is None else round(float(table.weight.sum()))
    domains = (OVERALL, *_domains(table, about, facts))
    scores = board.scores(domains)
    lines = {domain: board.lines(domain, scores) for domain in domains}
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
    """Shared inputs of the parts of a board; `table` has the battles of ranked systems, `everyone` all."""

    table: BattleTable
    everyone: BattleTable
    settings: Settings
    reference: str | None
    ratings: RatingTable | None
    facts: Mapping[str, Sequence[AnswerFact]]
    judge_context: JudgeContext


def without_systems(table: BattleTable, systems: AbstractSet[str]) -> BattleTable:
    """Return the battles that involve none of the systems."""
    if not systems:
        return table
    return restrict(table, np.flatnonzero([system not in systems for system in table.systems]))


def _context_without(
    judge_context: JudgeContext, table: BattleTable, systems: AbstractSet[str]
) -> JudgeContext:
    if not systems or judge_context.position is None or len(judge_context.position) != len(table):
        return judge_context
    left_out = np.array([system in systems for system in table.systems])
    return replace(judge_context, position=judge_context.position[~(left_out[table.a] | left_out[table.b])])


def _computed(inputs: _Inputs, part: Callable[[_Inputs], Any]) -> Any:  # noqa: ANN401 - each part has its own type
    return part(inputs)


def _rates(inputs: _Inputs) -> tuple[RateTable, Sequence[Rate]]:
    """Return rates against the reference if there is one, and the reference's against all systems."""
    reference = inputs.reference
    clustered = inputs.settings.cluster is Cluster.QUESTION
    rates = win_rates(inputs.everyone, reference=reference, clustered=clustered)
    if not clustered and inputs.everyone.weight is not None:
        # Rows of published counts are not questions: each battle counts as one.
        rates = replace(rates, rows=tuple(replace(row, questions=round(row.battles)) for row in rates.rows))
    if reference is None:
        return rates, ()
    # Only the reference's own rows are used.
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
            # None lets `rate` choose the sandwich for very many systems.
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
        # Without overall ratings to shrink towards, domains have only rates.
        return {}


def _domains(table: BattleTable, about: About, facts: Mapping[str, Sequence[AnswerFact]]) -> tuple[str, ...]:
    used = (*table.domains, *(fact.domain for answers in facts.values() for fact in answers))
    ordered = dict.fromkeys((*about.labels, *used))
    return tuple(domain for domain in ordered if domain in set(used) and domain)


def _by_domain(facts: Mapping[str, Sequence[AnswerFact]]) -> Mapping[tuple[str, str], Sequence[AnswerFact]]:
    parts = defaultdict[tuple[str, str], list[AnswerFact]](list)
    for system, answers in facts.items():
        for answer in answers:
            parts[system, answer.domain].append(answer)
    return {**parts, **{(system, OVERALL): answers for system, answers in facts.items()}}


def _questions_by_domain(questions: Mapping[str, BoardQuestion]) -> Mapping[str, Mapping[str, BoardQuestion]]:
    parts = defaultdict[str, dict[str, BoardQuestion]](dict)
    for name, question in questions.items():
        parts[question.domain][name] = question
    return {**parts, OVERALL: questions}


def _scored(facts: Mapping[str, Sequence[AnswerFact]]) -> Mapping[str, AbstractSet[str]]:
    scored = defaultdict[str, set[str]](set)
    for part in facts.values():
        for fact in part:
            for metric, score in fact.scores.items():
                if score is not None:
                    scored[metric].add(fact.question)
    return scored


_Scores: TypeAlias = Mapping[tuple[str, str], Mapping[str, MeanScore]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Board:
    table: BattleTable
    ratings: Mapping[str, RatingTable | None]
    rates: Mapping[tuple[str, str], Rate]
    against_all: Mapping[tuple[str, str], Rate]
    facts: Mapping[str, Sequence[AnswerFact]]
    answers: Mapping[tuple[str, str], Sequence[AnswerFact]]
    questions: Mapping[str, Mapping[str, BoardQuestion]]
    scored: Mapping[str, AbstractSet[str]]
    answered: AbstractSet[str]
    outcomes: Mapping[str, Mapping[Outcome, int]]
    badges: Mapping[str, Sequence[str]]
    unranked: Mapping[str, str]
    reference: str | None

    def scores(self, domains: Sequence[str]) -> _Scores:
        """Return the mean scores by domain and system, then by metric."""
        wanted = {
            (domain, system, metric): (facts, metric, self._scored_zero(system, domain, metric))
            for domain in domains
            for system in self.facts
            if (facts := self.answers.get((system, domain)))
            for metric in sorted(set().union(*(fact.scores for fact in facts if fact.scores)))
        }
        scores: dict[tuple[str, str], dict[str, MeanScore]] = defaultdict(dict)
        for (*line, metric), mean in zip(wanted, mean_scores([*wanted.values()]), strict=True):
            scores[line[0], line[1]][metric] = mean
        return scores

    def lines(self, domain: str, scores: _Scores) -> tuple[Line, ...]:
        """Return the lines of systems with battles or answers in the domain, best first."""
        ratings = self.ratings.get(domain)
        rated = {} if ratings is None else {rating.system: rating for rating in ratings.ratings}
        names = dict.fromkeys((*self.table.systems, *self.facts, *self.outcomes))
        if self.reference not in {*self.table.systems, *self.outcomes}:
            # A reference without battles is not listed, even if it has answers.
            names.pop(self.reference or "", None)
        lines = [self._line(name, domain, rated.get(name), scores) for name in names]
        visible = [line for line in lines if domain == OVERALL or _has_data(line)]
        place = {name: index for index, name in enumerate(rated)}
        return tuple(sorted(visible, key=lambda line: _order(line, place)))

    def _asked(self, system: str, domain: str) -> Mapping[str, BoardQuestion]:
        return {} if system == self.reference else self.questions.get(domain, {})

    def _line(self, system: str, domain: str, rating: Rating | None, scores: _Scores) -> Line:
        facts = self.answers.get((system, domain), ())
        questions = self._asked(system, domain)
        marked = any(not question.answerable for question in self.questions[OVERALL].values())
        return Line(
            system=system,
            rating=rating,
            rate=self.rates.get((system, domain)),
            answers=questions_of(facts),
            asked=len(questions) if questions else None,
            declined=declines_of(facts, questions, marked=marked and bool(questions))
            if facts or questions
            else None,
            median_words=float(median([fact.words for fact in facts])) if facts else None,
            scores=MappingProxyType(scores.get((domain, system), {})),
            outcomes=self.outcomes.get(system, {}) if domain == OVERALL else {},
            badges=tuple(self.badges.get(system, ())),
            unranked=self.unranked.get(system, ""),
            rate_against_all=self.against_all.get((system, domain)),
        )

    def _scored_zero(self, system: str, domain: str, metric: str) -> Sequence[str]:
        """Return the unanswered questions on which the metric is defined, so that they count 0."""
        missing = self._asked(system, domain).keys() - {
            fact.question for fact in self.answers[system, domain]
        }
        scored, name = self.scored.get(metric, set()), metric.partition(" ")[0]
        return [
            question
            for question in missing
            if question in scored
            or (question not in self.answered and name not in self.questions[OVERALL][question].undefined)
        ]


def _has_data(line: Line) -> bool:
    return line.rate is not None or line.rate_against_all is not None or bool(line.answers)


def _order(line: Line, place: Mapping[str, int]) -> tuple[bool, int, float, float, str]:
    """Sort by rating; without one by win rate, ties and name; unranked systems last."""
    rate = line.rate
    won, not_lost = (0.0, 0.0) if rate is None else (rate.win_rate, rate.win_tie_rate)
    at = place.get(line.system, len(place) + (rate is None))
    return bool(line.unranked), at, -won, -not_lost, line.system


MAX_COMPARED = 60


def all_differences(ratings: RatingTable) -> dict[str, object]:
    """Return the paired difference of every two rated systems, from joint draws, in compact form.

    Returns:
        `systems` (best first, at most `MAX_COMPARED`) and `pairs`, each a list: two indices into `systems`,
        points, lower and upper end of the 95 % interval (one decimal) and the probability that the first is
        better (six decimals); pairs that cannot be compared are left out.
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
    """Return the ratings without battles against the reference, best first, with a note on their basis."""
    rows: list[dict[str, object]] = []
    code = table.systems.index(reference) if reference in table.systems else -1
    chosen = (table.a != code) & (table.b != code)
    if code < 0:
        note = "All battles are between systems, so the ratings are the same."
    elif not chosen.any():
        note = "No battles between systems."
    else:
        note = f"From the {int(chosen.sum()):,} battles between systems, without those against {reference}."
        try:
            rated = rate_as(table.select(chosen), settings).ratings
            rows = [rating.as_json() for rating in rated if rating.rating is not None]
        except StatisticsError as error:
            note = str(error)
    return {"kind": "between-systems", "ratings": rows, "note": note}
