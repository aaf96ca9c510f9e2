"""Results of a ranking: table, summary, comparisons."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from math import exp, lgamma, log, log1p
from operator import attrgetter
from pathlib import Path
from typing import Any

from arena.services.accounts.redaction import without_addresses
from arena.services.evidence.reasons import explained, read_reasons
from arena.services.rounds.pairing import ALL
from data.errors import FileFormatError, InputError, NotFoundError
from data.models import (
    BattleEvidence,
    Board,
    Judgment,
    Outcome,
    Preference,
    Presentation,
    Round,
    RoundCounts,
    RoundState,
)
from data.models.questions import base_id
from data.store import Store
from data.text import counted, escape_formula, percent, percent_figure
from leaderboard.vocabulary import OVERALL

TIE = "tie"
UNKNOWN = "–"
MIN_SHOWN_P = 0.001
LEVEL = 0.95
MIN_CHANCE = 1e-6
"""Boards store probabilities with six decimals."""
EVEN = 0.5
MAX_QUOTED = 200
MIN_JUDGED = 0.9
"""Share of two systems' comparisons that need a verdict before a gate can pass or fail."""
REFERENCE_ONLY = "Rates and questions cover comparisons with the reference; ratings cover all comparisons."
UNDECIDABLE = "undecidable"
"""Outcome of a comparison that the judge lacks the input to decide."""
WITHOUT_VERDICT = ("unreadable", "refused", "failed", "skipped", "missing")
HEADS = ("rank", "system", "rating", "win / tie / loss", "win + tie", "questions")
DECLINES = ("declined", "declined rightly", "answered rightly")
MAX_IN_PAGE = 5_000
"""Maximum number of comparisons that a ranking's page lists."""
BOARD, TABLE, COMPARISONS = "board.html", "board.csv", "comparisons.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """Row of a ranking.

    Attributes:
        rank: Best and worst possible rank; None without a rating.
        rating: Elo rating; `lower` and `upper` are the ends of its interval.
        wins: Battles won, against the reference if the set has one; ties and losses are counted alike.
        covered: Mean share of facts that its answers cover, 0–1; None if unknown.
        covered_by: Metric behind `covered`; empty if the board has none.
        questions: Questions with a verdict in these battles.
        answers: Number of its answers.
        asked: Number of questions of the board.
        partial: Mark of a system that left questions out, such as `partial (31 of 40)`; else empty.
        declined: Counts of its answers that decline (`declines_of`).
        unranked: Reason why it has no rank; empty for ranked systems.
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
    answers: int
    unranked: str = ""
    covered_by: str = ""
    asked: int | None = None
    partial: str = ""
    declined: Mapping[str, Any] | None = None

    @property
    def marked(self) -> str:
        """System name, with its mark if partial."""
        return f"{self.system} [{self.partial}]" if self.partial else self.system

    @property
    def declines(self) -> Sequence[str]:
        """Counts of declined answers, of rightly declined and of rightly answered questions."""
        declined = self.declined or {}
        share = declined.get("share")
        figures = [UNKNOWN if share is None else f"{declined['count']:,} ({percent(share)})"]
        for part in filter(None, map(declined.get, ("where_should", "answered_where_should"))):
            ends = "" if part["lower"] is None else f" ({_ends(part['lower'], part['upper'])})"
            figures.append(f"{part['count']:,} of {part['of']:,}{ends}")
        return figures

    @property
    def cells(self) -> tuple[str | int | None, ...]:
        """Table row under `HEADS`."""
        return (*(self.places, self.marked, self.points, self.record, self.win_tie), self.questions or None)

    @property
    def places(self) -> str:
        """Rank or range of ranks."""
        if self.rank is None:
            return UNKNOWN
        return f"{self.rank[0]}" if self.rank[0] == self.rank[1] else f"{self.rank[0]}–{self.rank[1]}"

    @property
    def points(self) -> str:
        """Rating with half the width of its interval."""
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
        """Share of battles won or tied."""
        return UNKNOWN if self.win_tie_rate is None else percent(self.win_tie_rate)

    @property
    def facts(self) -> str:
        """Share of covered facts."""
        return UNKNOWN if self.covered is None else percent(self.covered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Battle on one question with its winner, margin and reason.

    Attributes:
        winner: The better system, `tie`, or empty without a verdict.
        margin: Margin of the win, 0–1; None if the judge gives none.
        reason: Rationale of the judge; without a verdict, the error.
        outcome: `judged`, `undecidable` (the judge lacks a reference or passages) or another outcome.
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
    """Comparison of two systems of a ranking.

    Attributes:
        first: System of interest.
        points: Rating difference; None if one of them won or lost everything.
        lower: Lower end of its 95 % interval, or None.
        upper: Upper end, or None.
        share: Share of the decided comparisons that `first` won; None if none is decided.
        share_lower: Lower end of its exact 95 % interval.
        share_upper: Upper end.
        p_value: Two-sided p-value of the test behind the interval.
        better: System that is ahead; empty if neither is.
        wins: Comparisons that `first` won against `second`; ties and losses are counted alike.
        planned: Planned comparisons of the two; counts by outcome follow.
        round: Round of the figures.
        newer: Newer round without a board; else empty.
    """

    first: str
    second: str
    points: float | None
    lower: float | None
    upper: float | None
    share: float | None
    share_lower: float
    share_upper: float
    p_value: float
    better: str
    wins: int
    ties: int
    losses: int
    planned: int
    judged: int
    failed: int
    refused: int
    unreadable: int
    skipped: int
    missing: int
    undecidable: int
    round: str
    newer: str

    @property
    def significant(self) -> bool:
        """True if the interval excludes equality."""
        if self.lower is None or self.upper is None:
            return not self.share_lower <= EVEN <= self.share_upper
        return not self.lower <= 0 <= self.upper

    @property
    def undecided(self) -> bool:
        """True if a gate cannot be decided: too few verdicts, or a newer round without a board."""
        few = not self.judged or self.judged < MIN_JUDGED * (self.planned - self.missing)
        return few or bool(self.newer)

    @property
    def worse(self) -> bool:
        """True if `first` is significantly worse."""
        return self.significant and self.better == self.second

    @property
    def sentence(self) -> str:
        """Comparison in sentences: the better system, the certainty, the record."""
        other = self.first if self.better == self.second else self.second
        claim = f"{self.first} and {self.second} do not differ significantly"
        if self.significant:
            claim = f"{self.better} is better than {other}"
        few = " This is too few for a gate." if self.undecided and self.judged and not self.newer else ""
        newer = f" Round {self.newer} has no board yet; these figures are from {self.round}."
        newer = newer if self.newer not in {"", self.round} else ""
        return f"{claim}: {self._size}. {self.record}{few}{newer}"

    def require_met(self) -> None:
        """Refuse two systems without comparisons."""
        if not self.planned:
            message = f"{self.first} and {self.second} never met in {self.round}."
            raise NotFoundError(message, advice="Rank all pairs (without --vs), or choose two other systems.")

    @property
    def record(self) -> str:
        """Head-to-head record in sentences."""
        if not self.planned:
            return "They never met."
        lacking = self.planned - self.judged
        of = counted(self.planned, "comparison")
        if not self.judged:
            return f"None of their {of} has a verdict ({self._why})."
        record = f"won {self.wins:,}, tied {self.ties:,} and lost {self.losses:,}"
        met = f"{self.first} {record} of {counted(self.judged, 'comparison')} with {self.second}."
        return (
            f"Head to head, {met}{f' {lacking:,} of {of} have no verdict ({self._why}).' if lacking else ''}"
        )

    @property
    def _why(self) -> str:
        kinds = {word: getattr(self, word) for word in (UNDECIDABLE, *WITHOUT_VERDICT)}
        kinds["pending"] = self.planned - self.judged - sum(kinds.values())
        return ", ".join(f"{count:,} {word}" for word, count in kinds.items() if count)

    @property
    def _size(self) -> str:
        p = "p < 0.001" if self.p_value < MIN_SHOWN_P else f"p = {self.p_value:.3f}"
        if self.points is not None and self.lower is not None and self.upper is not None:
            ahead = self.better or self.first
            ends = (self.lower, self.upper) if ahead == self.first else (-self.upper, -self.lower)
            interval = f"95 % interval {ends[0]:.0f} to {ends[1]:.0f}".replace("-", "−")
            return f"the rating of {ahead} is {abs(self.points):.0f} points higher ({interval}, {p})"
        if self.share is None:
            return f"no comparison between them was decided ({p})"
        decided = counted(self.wins + self.losses, "decided comparison")
        interval = f"95 % interval {percent(self.share_lower)} to {percent(self.share_upper)}"
        return f"{self.first} won {percent(self.share)} of {decided} ({interval}, {p})"


def sign_test(wins: int, losses: int) -> tuple[float, float, float]:
    """Return the exact p-value of a sign test, and the Clopper-Pearson interval of the win share."""

    def below(count: int, share: float) -> float:
        """Return the probability of at most `count` wins."""
        total = wins + losses
        log_ways = (lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1) for k in range(count + 1))
        return sum(
            exp(ways + k * log(share) + (total - k) * log1p(-share)) for k, ways in enumerate(log_ways)
        )

    def root(high: Callable[[float], bool]) -> float:
        low, top = 0.0, 1.0
        for _ in range(40):
            middle = (low + top) / 2
            low, top = (low, middle) if high(middle) else (middle, top)
        return (low + top) / 2

    tail = (1 - LEVEL) / 2
    lower = root(lambda share: 1 - below(wins - 1, share) > tail) if wins else 0.0
    upper = root(lambda share: below(wins, share) < tail) if losses else 1.0
    return min(1.0, 2 * below(min(wins, losses), 0.5)), lower, upper


@dataclass(frozen=True, slots=True)
class RankingResults:
    """Results of the rounds of a ranking."""

    store: Store

    def last_board(self) -> Board:
        """Return the newest board."""
        name = self.last_round()
        boards = {board.name: board for board in self.store.boards.all()}
        if name not in boards:
            raise NotFoundError(f"Round {name} has no board yet.", advice="Rank the same files again.")
        return boards[name]

    def last_round(self) -> str:
        """Return the last round with a board, else the last round."""
        rounds = [round_.name for round_ in self.store.rounds.all()]
        if not rounds:
            raise NotFoundError("There is no ranking yet.", advice="Rank files first: arena rank FILES….")
        boards = {board.name for board in self.store.boards.all()}
        return next((name for name in rounds if name in boards), rounds[0])

    def systems(self, board: Board) -> tuple[RankedSystem, ...]:
        """Return the rows of a board, best first, with the reference if it met systems."""
        from judges.metrics.registry import covering

        lines = board.standings["lines"][OVERALL]
        scored = {name for line in lines for name, score in (line.get("scores") or {}).items() if score}
        metric = next((name for name in covering() if name in scored), "")
        rows = (_system(line, metric) for line in lines)
        reference = board.standings.get("reference")
        return tuple(row for row in rows if row.system != reference or row.rating is not None or row.unranked)

    def notes(self, board: Board) -> Iterator[str]:
        """Note if rates count fewer battles than ratings, or if ratings are on several scales."""
        from arena.services.boards.text_tables import SCALES

        lines, facts = board.standings["lines"][OVERALL], board.standings["facts"]
        reference = board.standings.get("reference")
        if facts.get("pairs") == ALL and any(line["system"] == reference for line in lines):
            yield REFERENCE_ONLY
        rated = [line["rating"] for line in lines if line["rating"]]
        if len({rating["component"] for rating in rated if rating["rating"] is not None}) > 1:
            yield SCALES

    def covered_heading(self, board: Board) -> str:
        """Return the heading of the share of covered facts; empty if it is unknown."""
        from judges.metrics.registry import covering

        headings = {name: column.heading.lower() for name, column in covering().items()}
        return next((headings[row.covered_by] for row in self.systems(board) if row.covered is not None), "")

    def decline_headings(self, board: Board) -> Sequence[str]:
        """Return the headings of declines, with those of marked questions if the set has any."""
        marked = any(len(row.declines) > 1 for row in self.systems(board))
        return DECLINES if marked else DECLINES[:1]

    def sentence(self, board: Board) -> str:
        """Describe the leader and its certainty, as the board's page does."""
        from arena.services.boards.sentences import headline
        from arena.services.boards.snapshot import read_board

        if all(row.rank is None for row in self.systems(board)):
            return str(board.standings.get("unrankable") or "No system has a rating.")
        view = read_board(board)
        doubts = "; ".join(check.clause for check in view.checks if check.holds is False)
        return f"{headline(view, OVERALL)}{f' Against it: {doubts}.' if doubts else ''}"

    def comparisons(self, name: str, *pair: str) -> Iterator[Comparison]:
        """Yield the battles of a round, or of two systems, in order."""
        round_ = self.store.rounds.get(name)
        texts = {
            question.id: question.question for question in self.store.sets.get(round_.set_name).questions
        }
        for evidence in self.store.verdicts.evidence(name):
            if not pair or {evidence.battle.system_a, evidence.battle.system_b} == set(pair):
                yield _comparison(without_addresses(evidence), texts)

    def losses(self, name: str, loser: str, winner: str) -> tuple[Comparison, ...]:
        """Return the questions on which a system lost to another, clearest first."""
        lost = [row for row in self._between(name, loser, winner) if row.winner == winner]
        return tuple(sorted(lost, key=lambda row: -(row.margin or 0.0)))

    def met(self, board: Board) -> tuple[str, str] | None:
        """Return the best system that met another and its best opponent; None without battles."""
        battles = {
            frozenset((battle.system_a, battle.system_b))
            for battle in self.store.verdicts.battles(board.name)
        }
        names = [row.system for row in self.systems(board)]
        return next((pair for pair in combinations(names, 2) if frozenset(pair) in battles), None)

    def _between(self, name: str, first: str, second: str) -> tuple[Comparison, ...]:
        if first == second:
            raise InputError(f"{first!r} cannot be compared with itself.", advice="Choose two systems.")
        self._require(name, first, second)
        return tuple(self.comparisons(name, first, second))

    def duel(self, name: str, first: str, second: str) -> Duel:
        """Compare two systems."""
        battles = self._between(name, first, second)
        newest = self.store.rounds.all()[0]
        board = next((board for board in self.store.boards.all() if board.name == name), None)
        points, lower, upper, chance = _difference({} if board is None else board.standings, first, second)
        ended = Counter(battle.outcome for battle in battles)
        wins, losses = (sum(battle.winner == system for battle in battles) for system in (first, second))
        leads = Counter[str]()
        for battle in battles:
            leads[base_id(battle.question_id)] += (battle.winner == first) - (battle.winner == second)
        # Several answers to one question are not independent trials.
        signs = [lead > 0 for lead in leads.values() if lead]
        p_value, share_lower, share_upper = sign_test(sum(signs), len(signs) - sum(signs))
        if chance is not None:
            p_value = max(MIN_CHANCE, 2 * min(chance, 1 - chance))
        lead = wins - losses if points is None else points
        return Duel(
            first=first,
            second=second,
            points=points,
            lower=lower,
            upper=upper,
            share=wins / (wins + losses) if wins + losses else None,
            share_lower=share_lower,
            share_upper=share_upper,
            p_value=p_value,
            better=first if lead > 0 else second if lead < 0 else "",
            wins=wins,
            ties=sum(battle.winner == TIE for battle in battles),
            losses=losses,
            planned=len(battles),
            **{word: ended[word] for word in ("judged", UNDECIDABLE, *WITHOUT_VERDICT)},
            round=name,
            newer="" if newest.state is RoundState.PUBLISHED else newest.name,
        )

    def write_comparisons(self, name: str, folder: Path) -> tuple[Comparison, ...]:
        """Write every battle of a round as CSV."""
        comparisons, cells = tuple(self.comparisons(name)), attrgetter(*Comparison.__slots__)
        with _writing(folder), (folder / COMPARISONS).open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(Comparison.__slots__)
            for comparison in comparisons:
                rows.writerow(map(escape_formula, cells(comparison)))
        return comparisons

    def write(self, board: Board, folder: Path) -> None:
        """Write the board as a page, and its rows and comparisons as CSV."""
        from arena.html_pages import rendered
        from leaderboard.export.tables import standings_file
        from leaderboard.vocabulary import BoardForm

        comparisons = self.write_comparisons(board.round_name or board.name, folder)
        page = rendered(
            "ranking.html",
            title=board.standings["title"],
            sentence=self.sentence(board),
            notes=self.notes(board),
            systems=self.systems(board),
            covered=self.covered_heading(board),
            declines=self.decline_headings(board),
            judge=board.standings["facts"].get("judge", ""),
            model=board.standings["facts"].get("model", ""),
            published=board.published_at.date().isoformat(),
            comparisons=_by_pair(comparisons if len(comparisons) <= MAX_IN_PAGE else ()),
            left_out=len(comparisons) if len(comparisons) > MAX_IN_PAGE else 0,
        )
        with _writing(folder):
            (folder / TABLE).write_bytes(standings_file(board.standings, BoardForm.CSV))
            (folder / BOARD).write_text(page, encoding="utf-8")

    def _require(self, name: str, *systems: str) -> None:
        round_ = self.store.rounds.get(name)
        known = [*round_.plan["systems"], self.store.sets.summary(round_.set_name).reference_name]
        for system in systems:
            if system not in known:
                raise NotFoundError(
                    f"This ranking has no system {system!r}.", advice=f"The systems are: {', '.join(known)}."
                )


def _difference(
    standings: Mapping[str, Any], first: str, second: str
) -> tuple[float | None, float | None, float | None, float | None]:
    """Return points, both ends of their interval and the probability that the first is better."""
    differences = standings.get("differences") or {}
    names = list(differences.get("systems", ()))
    for row, column, points, lower, upper, chance in differences.get("pairs", ()):
        if (names[row], names[column]) == (first, second):
            return points, lower, upper, chance
        if (names[column], names[row]) == (first, second):
            return -points, -upper, -lower, 1 - chance
    return None, None, None, None


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
        questions=rates.get("questions") or 0,
        answers=line.get("answers") or 0,
        unranked=line.get("unranked", ""),
        covered_by=metric,
        asked=line.get("asked"),
        partial=line.get("partial", ""),
        declined=line.get("declined"),
    )


def _ends(lower: float, upper: float) -> str:
    return f"{percent_figure(lower, decimals=0)}–{percent(upper, decimals=0)}"


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror or error}."
        raise FileFormatError(message, advice="Choose a folder that you can write to.") from error


def _by_pair(comparisons: Sequence[Comparison]) -> list[tuple[str, list[Comparison]]]:
    pairs: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        pairs.setdefault(f"{comparison.system_a} – {comparison.system_b}", []).append(comparison)
    return list(pairs.items())


def without_verdict(round_: Round, counts: RoundCounts, folder: Path) -> Iterator[str]:
    """Describe the comparisons without a verdict, by outcome."""
    undecidable: Mapping[str, int] = round_.plan["undecidable"]
    for reason, count in undecidable.items():
        yield f"{counted(count, 'comparison')} cannot be decided: {reason}."
    for word in WITHOUT_VERDICT:
        # Undecidable comparisons were never sent to the judge.
        count = getattr(counts, word) - (sum(undecidable.values()) if word == "unreadable" else 0)
        if count > 0:
            yield f"{counted(count, 'comparison')} {word}; {folder / COMPARISONS} says why."


def _comparison(evidence: BattleEvidence, texts: Mapping[str, str]) -> Comparison:
    battle = evidence.battle
    sent = any(judgment.reply is not None or judgment.calls for judgment in evidence.judgments)
    sides = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: TIE}
    score, systems = battle.score, (battle.system_a, battle.system_b)
    return Comparison(
        question_id=battle.question_id,
        question=texts.get(battle.question_id, ""),
        domain=battle.domain,
        system_a=battle.system_a,
        system_b=battle.system_b,
        winner="" if battle.preference is None else sides[battle.preference],
        margin=_margin(evidence.judgments) if score is None else abs(2 * score - 1),
        reason=_without(evidence)
        or " / ".join(filter(None, (_reason(judgment, *systems) for judgment in evidence.judgments))),
        outcome=UNDECIDABLE if battle.outcome is Outcome.UNREADABLE and not sent else battle.outcome or "",
    )


def _without(evidence: BattleEvidence) -> str:
    """Return a battle's error, and the judge's reply if that gave no verdict."""
    lacks = evidence.battle.preference is None
    replies = (row.reply for row in evidence.judgments if lacks and row.preference is None)
    texts = [reply.text for reply in replies if reply is not None and reply.text.strip()]
    quoted = f": «{' '.join(texts[-1].split())[:MAX_QUOTED]}»" if texts else ""
    return f"{evidence.battle.detail}{quoted}" if evidence.battle.detail else ""


def _margin(judgments: Sequence[Judgment]) -> float | None:
    margins = [row.margin for row in judgments if row.margin is not None]
    return abs(sum(margins) / len(margins)) if margins else None


def _reason(judgment: Judgment, system_a: str, system_b: str) -> str:
    """Return a judge's rationale, or its figures in words, with the systems' names."""
    reasons = read_reasons(judgment.rationale)
    if reasons is not None:
        return explained(reasons, system_a, system_b)
    if not judgment.rationale:
        return ""
    first = system_a if judgment.presentation is Presentation.A_FIRST else system_b
    return f"(shown first: {first}) {judgment.rationale}"
