"""Result of a ranking: the table, the leader with its certainty, each comparison with its reason."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.services.accounts.redaction import without_addresses
from arena.services.evidence.questions import CONTRADICTS, MISSES, Side, read_reasons
from data.errors import FileFormatError, InputError, NotFoundError
from data.models import BattleEvidence, Board, Judgment, MissingRule, Preference, Presentation, RoundCounts
from data.store import Store
from data.text import counted, escape_formula, percent, percent_figure
from judges.metrics.registry import covering
from leaderboard.standings.places import separates
from leaderboard.vocabulary import OVERALL
from submissions.problem_codes import listed

TIE = "tie"
UNKNOWN = "–"
LEAST_P = 0.001
MOST_NAMED = 3
DECLINES = ("declined", "declined rightly", "answered rightly")
"""Systems that the sentence names."""
BOARD, TABLE, COMPARISONS = "board.html", "board.csv", "comparisons.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """One row of a ranking.

    Attributes:
        rank: The best and the worst place that its battles allow; None of a system without a rating.
        rating: On the Elo scale, with the ends of its interval.
        wins: Won battles against the reference where there is one, else against all; so ties and losses.
        covered: How much its answers cover on average, 0–1; None where it is not known.
        covered_by: The metric that says so; empty where the board has none.
        questions: How many questions it answered.
        asked: How many there are.
        partial: Mark of a system that did not answer all of them, as `partial (31 of 40)`; else empty.
        declined: How many of its answers decline (`declines_of`), and where they should.
        unranked: Why it has no rank, since it answered too few; empty of all others.
    """

    system: str
    rank: tuple[int, int] | None
    rating: float | None
    lower: float | None
    upper: float | None
    wins: int
    ties: int
    losses: int
    win_tie_rate: float | None
    covered: float | None
    questions: int
    unranked: str = ""
    covered_by: str = ""
    asked: int | None = None
    partial: str = ""
    declined: Mapping[str, Any] | None = None

    @property
    def marked(self) -> str:
        """Its name, with the mark of a partial one."""
        return f"{self.system}, {self.partial}" if self.partial else self.system

    @property
    def declines(self) -> Sequence[str]:
        """Count and share of its answers that decline; where it should, and answered where it should."""
        declined = self.declined or {}
        share = declined.get("share")
        figures = [UNKNOWN if share is None else f"{declined['count']:,} ({percent(share)})"]
        for part in filter(None, map(declined.get, ("where_should", "answered_where_should"))):
            ends = "" if part["lower"] is None else f" ({_ends(part['lower'], part['upper'])})"
            figures.append(f"{part['count']:,} of {part['of']:,}{ends}")
        return figures

    @property
    def places(self) -> str:
        """Its rank, or the ranks that it may have."""
        if self.rank is None:
            return UNKNOWN
        return f"{self.rank[0]}" if self.rank[0] == self.rank[1] else f"{self.rank[0]}–{self.rank[1]}"

    @property
    def points(self) -> str:
        """Its rating with half the width of its interval."""
        if self.rating is None or self.lower is None or self.upper is None:
            return UNKNOWN if self.rating is None else f"{self.rating:.0f}"
        return f"{self.rating:.0f} ± {(self.upper - self.lower) / 2:.0f}"

    @property
    def record(self) -> str:
        """Battles won, tied and lost."""
        met = self.wins + self.ties + self.losses
        return f"{self.wins:,} / {self.ties:,} / {self.losses:,}" if met else UNKNOWN

    @property
    def win_tie(self) -> str:
        """The share of battles that it did not lose."""
        return UNKNOWN if self.win_tie_rate is None else percent(self.win_tie_rate)

    @property
    def facts(self) -> str:
        """Share of facts that its answers cover."""
        return UNKNOWN if self.covered is None else percent(self.covered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One battle: who won on a question, by how much, and why.

    Attributes:
        winner: The better system, `tie`, or empty where there is no verdict.
        margin: How clearly, 0–1; None where the judge gives no degree.
        reason: The judge's words; of a battle without a verdict what happened.
        outcome: `judged`, or how the battle ended else.
    """

    question_id: str
    question: str
    domain: str
    system_a: str
    system_b: str
    winner: str
    margin: float | None
    reason: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """Two systems of a ranking against each other.

    Attributes:
        first: The one that is asked about.
        points: How much higher its rating is; None where one has none, since it won or lost everything.
        lower: The lower end of the interval at 95 %; None likewise, as the next two.
        upper: The upper end.
        p_value: That so large a difference comes by chance, of these two alone; two-sided.
        significant: Whether the battles tell the two apart, for all pairs of the board at once.
        better: The one that is ahead, by ratings or else by places and battles; empty where neither is.
        wins: Battles that `first` won against `second`; ties and losses likewise.
    """

    first: str
    second: str
    points: float | None
    lower: float | None
    upper: float | None
    p_value: float | None
    significant: bool
    better: str
    wins: int
    ties: int
    losses: int

    @property
    def worse(self) -> bool:
        """True if the first is significantly worse."""
        return self.significant and self.better == self.second

    @property
    def sentence(self) -> str:
        """The comparison in a sentence: the better one, by how much and how surely."""
        other = self.first if self.better == self.second else self.second
        size = self._size
        battles = self.wins + self.ties + self.losses
        counts = f"won {self.wins:,}, tied {self.ties:,} and lost {self.losses:,}"
        met = f"{self.first} {counts} of their {battles:,} battles." if battles else "They never met."
        if self.significant:
            return f"{self.better} is better than {other}{f' by {size}' if size else ''}. {met}"
        ahead = f": {self.better} is ahead{f' by {size}' if size else ''}" if self.better else ""
        return f"{self.first} and {self.second} are not told apart{ahead}. {met}"

    @property
    def _size(self) -> str:
        if self.points is None or self.lower is None or self.upper is None or self.p_value is None:
            return ""
        ends = sorted((self.lower, self.upper) if self.points >= 0 else (-self.lower, -self.upper))
        told = f"p {'< 0.001' if self.p_value < LEAST_P else f'= {self.p_value:.3f}'}"
        alone = "" if self.significant else " for these two alone"
        return f"{abs(self.points):.0f} points (95 % interval {ends[0]:.0f} to {ends[1]:.0f}){alone}, {told}"


@dataclass(frozen=True, slots=True)
class RankingResults:
    """Reads what came of the rounds of a ranking."""

    store: Store

    def systems(self, board: Board) -> tuple[RankedSystem, ...]:
        """Return the rows of a board, best first; the reference is one where it met systems."""
        lines = board.standings["lines"][OVERALL]
        scored = {name for line in lines for name, found in (line.get("scores") or {}).items() if found}
        metric = next((name for name in covering() if name in scored), "")
        rows = (_system(line, metric) for line in lines)
        reference = board.standings.get("reference")
        return tuple(one for one in rows if one.system != reference or one.rating is not None or one.unranked)

    def covered_heading(self, board: Board) -> str:
        """Return the heading of the share of covered facts."""
        headings = {name: column.heading.lower() for name, column in covering().items()}
        return next((headings[one.covered_by] for one in self.systems(board) if one.covered_by), "covered")

    def decline_headings(self, board: Board) -> Sequence[str]:
        """Return the headings of the figures on declines, of marked questions where there are some."""
        marked = any(len(one.declines) > 1 for one in self.systems(board))
        return DECLINES if marked else DECLINES[:1]

    def sentence(self, board: Board) -> str:
        """Describe the leader and its certainty, and which systems are partial."""
        skips = board.standings.get("missing") == MissingRule.SKIP
        said = " Only questions that both systems of a pair answered are compared." if skips else ""
        return f"{self._leading(board, skips=skips)}{said}"

    def _leading(self, board: Board, *, skips: bool) -> str:
        rated = [one for one in self.systems(board) if one.rank is not None]
        if not rated:
            return str(board.standings.get("unrankable") or "No system has a rating.")
        tied = [one.marked for one in rated if one.rank is not None and one.rank[0] == 1]
        first = rated[0]
        name = f"{first.marked}{',' if first.partial else ''}"
        if len(rated) == 1:
            opponent = f" against the {reference}" if (reference := board.standings.get("reference")) else ""
            counts = f"won {first.wins:,}, tied {first.ties:,} and lost {first.losses:,} battles{opponent}"
            return f"{name} is the only system with a rank: it {counts}."
        if skips and first.partial:
            return f"No system leads: {name} is ahead on the questions that it answered."
        if len(tied) == 1:
            return f"{name} leads, and its battles separate it from every other system."
        if len(rated) == len(tied) > 1 and len({one.rating and round(one.rating) for one in rated}) == 1:
            return "No system leads: the battles separate none of them."
        others = listed((other for other in tied if other != first.marked), MOST_NAMED)
        return f"{name} is ahead, but its battles do not separate it from {others}."

    def comparisons(self, name: str) -> Iterator[Comparison]:
        """Every battle of a round in its order."""
        round_ = self.store.rounds.get(name)
        texts = {
            question.id: question.question for question in self.store.sets.get(round_.set_name).questions
        }
        for evidence in map(without_addresses, self.store.verdicts.evidence(name)):
            yield _comparison(evidence, texts)

    def losses(self, name: str, loser: str, winner: str) -> tuple[Comparison, ...]:
        """Return the questions on which a system lost to another, the clearest first."""
        self._require(name, loser, winner)
        lost = [
            one
            for one in self.comparisons(name)
            if {one.system_a, one.system_b} == {loser, winner} and one.winner == winner
        ]
        return tuple(sorted(lost, key=lambda one: -(one.margin or 0.0)))

    def duel(self, name: str, first: str, second: str) -> Duel:
        """Compare two systems: the better one, by how much and how surely."""
        if first == second:
            raise InputError(f"{first!r} cannot be compared with itself.", advice="Name two systems.")
        self._require(name, first, second)
        standings = self.store.boards.get(name).standings
        found = _difference(standings, first, second)
        points, lower, upper, prob_better = found or (None,) * 4
        met = [one for one in self.comparisons(name) if {one.system_a, one.system_b} == {first, second}]
        wins, losses = (sum(one.winner == name for one in met) for name in (first, second))
        lead = _lead(standings, first, second) or wins - losses if points is None else points
        return Duel(
            first=first,
            second=second,
            points=points,
            lower=lower,
            upper=upper,
            p_value=None if prob_better is None else 2 * min(prob_better, 1 - prob_better),
            significant=separates(standings, first, second),
            better=first if lead > 0 else second if lead < 0 else "",
            wins=wins,
            ties=sum(one.winner == TIE for one in met),
            losses=losses,
        )

    def write(self, board: Board, folder: Path, standings: bytes) -> tuple[Path, ...]:
        """Write the board as one page, its rows and its comparisons as CSV."""
        from arena.html_pages import rendered

        name = board.round_name or board.name
        try:
            (folder / TABLE).write_bytes(standings)
            comparisons = tuple(self.comparisons(name))
            with (folder / COMPARISONS).open("w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file)
                rows.writerow(list(Comparison.__slots__))
                for one in comparisons:
                    rows.writerow([escape_formula(cell) for cell in asdict(one).values()])
            page = rendered(
                "ranking.html",
                title=board.standings["title"],
                sentence=self.sentence(board),
                systems=self.systems(board),
                covered=self.covered_heading(board),
                declines=self.decline_headings(board),
                judge=board.standings["facts"].get("judge", ""),
                model=board.standings["facts"].get("model", ""),
                published=board.published_at.date().isoformat(),
                comparisons=_by_pair(comparisons),
            )
            (folder / BOARD).write_text(page, encoding="utf-8")
        except OSError as error:
            message = f"{folder} cannot be written: {error.strerror or error}."
            raise FileFormatError(message, advice="Name a folder that you can write to.") from error
        return (folder / BOARD, folder / TABLE, folder / COMPARISONS)

    def _require(self, name: str, *systems: str) -> None:
        round_ = self.store.rounds.get(name)
        known = [*round_.plan["systems"], self.store.sets.summary(round_.set_name).reference_name]
        for system in systems:
            if system not in known:
                raise NotFoundError(
                    f"There is no system {system!r} here.", advice=f"There are: {', '.join(known)}."
                )


def _difference(standings: Mapping[str, Any], first: str, second: str) -> tuple[float, ...] | None:
    """Points, both ends of their interval, and the chance that the first is better; None where not known."""
    differences = standings.get("differences") or {}
    names = list(differences.get("systems", ()))
    if not {first, second} <= set(names):
        return None
    wanted = [names.index(first), names.index(second)]
    for one, other, points, lower, upper, prob_better in differences["pairs"]:
        if [one, other] == wanted:
            return points, lower, upper, prob_better
        if [other, one] == wanted:
            return -points, -upper, -lower, 1 - prob_better
    return None


def _lead(standings: Mapping[str, Any], first: str, second: str) -> int:
    """1 where one system surely stands above another, -1 where it stands below, else 0."""
    if not separates(standings, first, second):
        return 0
    order = [line["system"] for line in standings["lines"][OVERALL]]
    return 1 if order.index(first) < order.index(second) else -1


def _system(line: Mapping[str, Any], metric: str) -> RankedSystem:
    rating: Mapping[str, Any] = line["rating"] or {}
    rates: Mapping[str, Any] = line["rate"] or line.get("rate_against_all") or {}
    scores: Mapping[str, Any] = (line.get("scores") or {}).get(metric) or {}
    ranked = rating.get("rank_lower") is not None
    return RankedSystem(
        system=line["system"],
        rank=(rating["rank_lower"], rating["rank_upper"]) if ranked else None,
        rating=rating.get("rating"),
        lower=rating.get("lower"),
        upper=rating.get("upper"),
        wins=rates.get("wins", 0),
        ties=rates.get("ties", 0),
        losses=rates.get("losses", 0),
        win_tie_rate=rates.get("win_tie_rate"),
        covered=scores.get("mean"),
        questions=line.get("answers") or 0,
        unranked=line.get("unranked", ""),
        covered_by=metric,
        asked=line.get("asked"),
        partial=line.get("partial", ""),
        declined=line.get("declined"),
    )


def _ends(lower: float, upper: float) -> str:
    return f"{percent_figure(lower, decimals=0)}–{percent(upper, decimals=0)}"


def _by_pair(comparisons: Sequence[Comparison]) -> list[tuple[str, list[Comparison]]]:
    pairs: dict[str, list[Comparison]] = {}
    for one in comparisons:
        pairs.setdefault(f"{one.system_a} – {one.system_b}", []).append(one)
    return list(pairs.items())


def without_verdict(counts: RoundCounts) -> Iterator[str]:
    """Describe the comparisons without a verdict, by outcome."""
    for word in ("unreadable", "refused", "failed", "skipped", "missing"):
        if count := getattr(counts, word):
            yield f"{counted(count, 'comparison')} {word}; {COMPARISONS} says why."


def _comparison(evidence: BattleEvidence, texts: Mapping[str, str]) -> Comparison:
    battle = evidence.battle
    sides = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: TIE}
    score = battle.score
    return Comparison(
        question_id=battle.question_id,
        question=texts.get(battle.question_id, ""),
        domain=battle.domain,
        system_a=battle.system_a,
        system_b=battle.system_b,
        winner="" if battle.preference is None else sides[battle.preference],
        margin=_margin(evidence.judgments) if score is None else abs(2 * score - 1),
        reason=battle.detail
        or " / ".join(
            filter(None, (_reason(one, battle.system_a, battle.system_b) for one in evidence.judgments))
        ),
        outcome="" if battle.outcome is None else battle.outcome.value,
    )


def _margin(judgments: Sequence[Judgment]) -> float | None:
    margins = [one.margin for one in judgments if one.margin is not None]
    return abs(sum(margins) / len(margins)) if margins else None


def _reason(judgment: Judgment, system_a: str, system_b: str) -> str:
    """Return a judge's words, or its figures as words, in which the systems are named."""
    reasons = read_reasons(judgment.rationale)
    if reasons is not None:
        sides = ((system_a, reasons.a), (system_b, reasons.b))
        return "; ".join(f"{name} {_told(side, reasons.ground_truth)}" for name, side in sides)
    if not judgment.rationale:
        return ""
    first = system_a if judgment.presentation is Presentation.A_FIRST else system_b
    return f"(shown first: {first}) {judgment.rationale}"


def _told(side: Side, ground_truth: str) -> str:
    """Describe the facts that an answer covers, misses and contradicts."""
    if side.says or side.coverage is None:
        return f"gives {side.says}"
    parts = [f"covers {percent(side.coverage)} of the {ground_truth}"] + [
        f"{verb} {', '.join(repr(fact.text) for fact in side.of(sign))}"
        for verb, sign in (("misses", MISSES), ("contradicts", CONTRADICTS))
        if side.of(sign)
    ]
    return ", ".join(parts)
