"""Result of a ranking: the table, the leader with its certainty, each comparison with its reason."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import combinations
from math import exp, lgamma, log, log1p
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
from data.store import Store
from data.text import counted, escape_formula, percent, percent_figure
from leaderboard.vocabulary import OVERALL

TIE = "tie"
UNKNOWN = "–"
LEAST_P = 0.001
LEVEL = 0.95
LEAST_CHANCE = 1e-6
"""Boards keep chances to six decimals."""
EVEN = 0.5
MAX_QUOTED = 200
MIN_JUDGED = 0.9
"""Share of the comparisons of two systems that a gate needs verdicts of."""
REFERENCE_ONLY = "Rates and questions are of the comparisons with the reference, ratings of all."
UNDECIDABLE = "undecidable"
"""Outcome of a comparison that the judge cannot decide whatever the answers say."""
WITHOUT_VERDICT = ("unreadable", "refused", "failed", "skipped", "missing")
"""Systems that the sentence names."""
HEADS = ("rank", "system", "rating", "win / tie / loss", "win + tie", "questions")
DECLINES = ("declined", "declined rightly", "answered rightly")
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
        questions: On how many questions it has a verdict, of those battles.
        answers: How many answers of it there are.
        asked: How many questions the board asks.
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
    answers: int
    unranked: str = ""
    covered_by: str = ""
    asked: int | None = None
    partial: str = ""
    declined: Mapping[str, Any] | None = None

    @property
    def marked(self) -> str:
        """Its name, with the mark of a partial one."""
        return f"{self.system} [{self.partial}]" if self.partial else self.system

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
    def cells(self) -> tuple[str | int | None, ...]:
        """Its row of the table under `HEADS`."""
        return (*(self.places, self.marked, self.points, self.record, self.win_tie), self.questions or None)

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
        outcome: `judged`, `undecidable` where the judge lacks what it compares with, or how the battle ended.
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
        lower: The lower end of the interval at 95 %; None likewise, as the next one.
        upper: The upper end.
        share: Share of the comparisons decided between the two that `first` won; None where none was.
        share_lower: The lower end of its exact interval at 95 %.
        share_upper: The upper end.
        p_value: Chance of so large a difference of equal systems, by the test behind the interval; two-sided.
        better: The one that is ahead; empty where neither is.
        wins: Comparisons that `first` won against `second`; ties and losses likewise.
        planned: Comparisons of the two that were to be judged; how many ended how follows.
        round: The round that the figures are of.
        newer: A newer round without a board, by its name; empty where there is none.
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
        """True if the interval excludes that the two are equal."""
        if self.lower is None or self.upper is None:
            return not self.share_lower <= EVEN <= self.share_upper
        return not self.lower <= 0 <= self.upper

    @property
    def undecided(self) -> bool:
        """True if a gate cannot be decided: too few comparisons have a verdict, or a newer round no board."""
        few = not self.judged or self.judged < MIN_JUDGED * (self.planned - self.missing)
        return few or bool(self.newer)

    @property
    def worse(self) -> bool:
        """True if the first is significantly worse."""
        return self.significant and self.better == self.second

    @property
    def sentence(self) -> str:
        """The comparison in sentences: which is better, how surely, and how the two met."""
        other = self.first if self.better == self.second else self.second
        told = f"{self.first} and {self.second} are not told apart"
        if self.significant:
            told = f"{self.better} is better than {other}"
        few = " Too few have one for a gate." if self.undecided and self.judged and not self.newer else ""
        newer = f" Round {self.newer} has no board yet; this is of {self.round}."
        newer = newer if self.newer not in {"", self.round} else ""
        return f"{told}: {self._size}. {self.record}{few}{newer}"

    def require_met(self) -> None:
        """Refuse two systems without comparisons."""
        if not self.planned:
            message = f"{self.first} and {self.second} never met in {self.round}."
            raise NotFoundError(message, advice="Rank all pairs (without --vs), or name two others.")

    @property
    def record(self) -> str:
        """Head-to-head record, in sentences."""
        if not self.planned:
            return "Head to head they never met."
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
        p = "p < 0.001" if self.p_value < LEAST_P else f"p = {self.p_value:.3f}"
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
    """Return the exact p of as many wins, and the ends of the interval of their share (Clopper-Pearson)."""

    def below(count: int, share: float) -> float:
        """Return the chance of at most so many wins."""
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
    """Reads what came of the rounds of a ranking."""

    store: Store

    def last_board(self) -> Board:
        """Return the board of the last round that has one."""
        name = self.last_round()
        boards = {board.name: board for board in self.store.boards.all()}
        if name not in boards:
            raise NotFoundError(f"Round {name} has no board yet.", advice="Rank the same files again.")
        return boards[name]

    def last_round(self) -> str:
        """Return the last round that has a board, else the last one."""
        rounds = [round_.name for round_ in self.store.rounds.all()]
        if not rounds:
            raise NotFoundError("Nothing was ranked here yet.", advice="Rank files first: arena rank FILES….")
        boards = {board.name for board in self.store.boards.all()}
        return next((name for name in rounds if name in boards), rounds[0])

    def systems(self, board: Board) -> tuple[RankedSystem, ...]:
        """Return the rows of a board, best first; the reference is one where it met systems."""
        from judges.metrics.registry import covering

        lines = board.standings["lines"][OVERALL]
        scored = {name for line in lines for name, found in (line.get("scores") or {}).items() if found}
        metric = next((name for name in covering() if name in scored), "")
        rows = (_system(line, metric) for line in lines)
        reference = board.standings.get("reference")
        return tuple(one for one in rows if one.system != reference or one.rating is not None or one.unranked)

    def notes(self, board: Board) -> Iterator[str]:
        """Say where rates count fewer battles than ratings, and where ratings are on several scales."""
        from arena.services.boards.text_tables import SCALES

        lines, facts = board.standings["lines"][OVERALL], board.standings["facts"]
        reference = board.standings.get("reference")
        if facts.get("pairs") == ALL and any(line["system"] == reference for line in lines):
            yield REFERENCE_ONLY
        rated = [line["rating"] for line in lines if line["rating"]]
        if len({rating["component"] for rating in rated if rating["rating"] is not None}) > 1:
            yield SCALES

    def covered_heading(self, board: Board) -> str:
        """Return the heading of the share of covered facts; empty where it is not known."""
        from judges.metrics.registry import covering

        headings = {name: column.heading.lower() for name, column in covering().items()}
        return next((headings[one.covered_by] for one in self.systems(board) if one.covered is not None), "")

    def decline_headings(self, board: Board) -> Sequence[str]:
        """Return the headings of the figures on declines, of marked questions where there are some."""
        marked = any(len(one.declines) > 1 for one in self.systems(board))
        return DECLINES if marked else DECLINES[:1]

    def sentence(self, board: Board) -> str:
        """Describe who is first and how surely, as the board's page does."""
        from arena.services.boards.sentences import headline
        from arena.services.boards.snapshot import read_board

        if all(one.rank is None for one in self.systems(board)):
            return str(board.standings.get("unrankable") or "No system has a rating.")
        view = read_board(board)
        doubts = "; ".join(check.clause for check in view.checks if check.holds is False)
        return f"{headline(view, OVERALL)}{f' Against it: {doubts}.' if doubts else ''}"

    def comparisons(self, name: str, *pair: str) -> Iterator[Comparison]:
        """Yield every battle of a round, or of two systems, in its order."""
        round_ = self.store.rounds.get(name)
        texts = {
            question.id: question.question for question in self.store.sets.get(round_.set_name).questions
        }
        for evidence in self.store.verdicts.evidence(name):
            if not pair or {evidence.battle.system_a, evidence.battle.system_b} == set(pair):
                yield _comparison(without_addresses(evidence), texts)

    def losses(self, name: str, loser: str, winner: str) -> tuple[Comparison, ...]:
        """Return the questions on which a system lost to another, the clearest first."""
        lost = [one for one in self._between(name, loser, winner) if one.winner == winner]
        return tuple(sorted(lost, key=lambda one: -(one.margin or 0.0)))

    def met(self, board: Board) -> tuple[str, str] | None:
        """Return the best system that met another and the best that it met; None where no two met."""
        battles = {frozenset((one.system_a, one.system_b)) for one in self.store.verdicts.battles(board.name)}
        names = [one.system for one in self.systems(board)]
        return next((pair for pair in combinations(names, 2) if frozenset(pair) in battles), None)

    def _between(self, name: str, first: str, second: str) -> tuple[Comparison, ...]:
        """Return the comparisons of two systems."""
        if first == second:
            raise InputError(f"{first!r} cannot be compared with itself.", advice="Name two systems.")
        self._require(name, first, second)
        return tuple(self.comparisons(name, first, second))

    def duel(self, name: str, first: str, second: str) -> Duel:
        """Compare two systems: the better one, by how much and how surely."""
        met = self._between(name, first, second)
        newest = self.store.rounds.all()[0]
        board = next((board for board in self.store.boards.all() if board.name == name), None)
        points, lower, upper, chance = _difference({} if board is None else board.standings, first, second)
        ended = Counter(one.outcome for one in met)
        wins, losses = (sum(one.winner == system for one in met) for system in (first, second))
        p_value, share_lower, share_upper = sign_test(wins, losses)
        if chance is not None:
            p_value = max(LEAST_CHANCE, 2 * min(chance, 1 - chance))
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
            ties=sum(one.winner == TIE for one in met),
            losses=losses,
            planned=len(met),
            **{word: ended[word] for word in ("judged", UNDECIDABLE, *WITHOUT_VERDICT)},
            round=name,
            newer="" if newest.state is RoundState.PUBLISHED else newest.name,
        )

    def write_comparisons(self, name: str, folder: Path) -> tuple[Comparison, ...]:
        """Write every battle of a round as CSV."""
        comparisons = tuple(self.comparisons(name))
        with _writing(folder), (folder / COMPARISONS).open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(list(Comparison.__slots__))
            for one in comparisons:
                rows.writerow([escape_formula(cell) for cell in asdict(one).values()])
        return comparisons

    def write(self, board: Board, folder: Path) -> None:
        """Write the board as one page, its rows and its comparisons as CSV."""
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
            comparisons=_by_pair(comparisons),
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
                    f"There is no system {system!r} here.", advice=f"There are: {', '.join(known)}."
                )


def _difference(
    standings: Mapping[str, Any], first: str, second: str
) -> tuple[float | None, float | None, float | None, float | None]:
    """Points, both ends of their interval and the chance that the first is better; None where not known."""
    differences = standings.get("differences") or {}
    names = list(differences.get("systems", ()))
    for one, other, points, lower, upper, chance in differences.get("pairs", ()):
        if (names[one], names[other]) == (first, second):
            return points, lower, upper, chance
        if (names[other], names[one]) == (first, second):
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
        raise FileFormatError(message, advice="Name a folder that you can write to.") from error


def _by_pair(comparisons: Sequence[Comparison]) -> list[tuple[str, list[Comparison]]]:
    pairs: dict[str, list[Comparison]] = {}
    for one in comparisons:
        pairs.setdefault(f"{one.system_a} – {one.system_b}", []).append(one)
    return list(pairs.items())


def without_verdict(round_: Round, counts: RoundCounts, folder: Path) -> Iterator[str]:
    """Describe the comparisons without a verdict, by outcome."""
    undecidable: Mapping[str, int] = round_.plan["undecidable"]
    for reason, count in undecidable.items():
        yield f"{counted(count, 'comparison')} cannot be decided: {reason}."
    for word in WITHOUT_VERDICT:
        # The judge declines those; there was no reply to read.
        count = getattr(counts, word) - (sum(undecidable.values()) if word == "unreadable" else 0)
        if count > 0:
            yield f"{counted(count, 'comparison')} {word}; {folder / COMPARISONS} says why."


def _comparison(evidence: BattleEvidence, texts: Mapping[str, str]) -> Comparison:
    battle = evidence.battle
    asked = any(one.reply is not None or one.calls for one in evidence.judgments)
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
        reason=_without(evidence)
        or " / ".join(
            filter(None, (_reason(one, battle.system_a, battle.system_b) for one in evidence.judgments))
        ),
        outcome=UNDECIDABLE if battle.outcome is Outcome.UNREADABLE and not asked else battle.outcome or "",
    )


def _without(evidence: BattleEvidence) -> str:
    """Return what is noted of a battle, and what the judge replied where that gave no verdict."""
    lacks = evidence.battle.preference is None
    replies = (one.reply for one in evidence.judgments if lacks and one.preference is None)
    texts = [reply.text for reply in replies if reply is not None and reply.text.strip()]
    quoted = f": «{' '.join(texts[-1].split())[:MAX_QUOTED]}»" if texts else ""
    return f"{evidence.battle.detail}{quoted}" if evidence.battle.detail else ""


def _margin(judgments: Sequence[Judgment]) -> float | None:
    margins = [one.margin for one in judgments if one.margin is not None]
    return abs(sum(margins) / len(margins)) if margins else None


def _reason(judgment: Judgment, system_a: str, system_b: str) -> str:
    """Return a judge's words, or its figures as words, in which the systems are named."""
    reasons = read_reasons(judgment.rationale)
    if reasons is not None:
        return explained(reasons, system_a, system_b)
    if not judgment.rationale:
        return ""
    first = system_a if judgment.presentation is Presentation.A_FIRST else system_b
    return f"(shown first: {first}) {judgment.rationale}"
