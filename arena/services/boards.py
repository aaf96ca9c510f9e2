"""Boards: standings computed from a round, published, exported, retracted."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from arena.services.attacks import RoundAttacks, attacks_of
from arena.services.exports import write_round
from data.errors import ConflictError
from data.records import BattleRecord, Board, JudgeKind, Outcome, Preference, Round, RoundState, SetSummary
from data.store import Store
from data.store.scores import ScoredAnswer
from judges.cleaning import clean
from leaderboard.answer_facts import AnswerFact
from leaderboard.battles import BattleTable
from leaderboard.export import export_standings, flat_rows
from leaderboard.published import bundled_board
from leaderboard.ratings import Cluster, Settings
from leaderboard.standings import About, Standings, build_standings

Note = Callable[[str], None]
ScoreSet = Callable[[str, Note], None]
PUBLISHABLE = (RoundState.FINISHED, RoundState.PUBLISHED)
WINNERS = {Preference.A: "model_a", Preference.B: "model_b", Preference.TIE: "tie"}
SHOWN = ("rank", "system", "rating", "lower", "upper", "win", "win+tie", "no answer", "battles")


class BoardService:
    """Use cases around boards.

    Args:
        store: Where rounds and boards are kept.
        score_set: Scores the answers of a set that have no score yet by the metrics of the board.
    """

    def __init__(self, store: Store, *, score_set: ScoreSet) -> None:
        self._store = store
        self._score_set = score_set

    def standings(self, name: str) -> Standings:
        """Compute a round's standings from its judged battles, at whatever state it is.

        Raises:
            NotFoundError: There is no such round.
        """
        found = self._store.rounds.get(name)
        summary = self._store.sets.summary(found.set_name)
        battles = tuple(self._store.verdicts.battles(name))
        return build_standings(
            table_of(battles),
            _about(found, summary, attacks_of(self._store.canaries.of_round(name))),
            settings=Settings(seed=found.seed),
            answers=self._facts(found, summary),
            outcomes=_outcomes(battles),
            ended=Counter(battle.outcome for battle in battles if battle.outcome is not None),
        )

    def publish(self, name: str, *, report: Note, score: bool = True) -> tuple[Board, bool]:
        """Score what has no score yet, compute a finished round's standings, and publish them.

        Args:
            name: The round.
            report: Told what is being done.
            score: Whether to score; without, the board has the scores that are there already.

        Returns:
            The board, and whether it is new; publishing again changes nothing.

        Raises:
            ConflictError: The round is not finished, or was published and retracted.
        """
        found = self._store.rounds.get(name)
        if found.state is RoundState.PUBLISHED:
            return self._store.boards.get(name), False
        if found.state is RoundState.RETRACTED:
            raise ConflictError(
                f"Round {name} was published and retracted.", advice="Judge a new round instead."
            )
        if found.state not in PUBLISHABLE:
            raise ConflictError(
                f"Round {name} is {found.state}, so it cannot be published.",
                advice=f"Finish it first: `arena rounds resume {name}`.",
            )
        if score:
            self._score_set(found.set_name, report)
        board, created = self._store.boards.publish(
            name, round_id=found.id, standings=self.standings(name).as_json()
        )
        self._store.rounds.move(name, to=RoundState.PUBLISHED, allowed=PUBLISHABLE)
        return board, created

    def publish_paper(self) -> Board:
        """Publish the bundled board of RAG-QA Arena's results; one that stands already stays."""
        paper = bundled_board()
        standing = [board for board in self._store.boards.all() if board.name == paper.name]
        if standing:
            return standing[0]
        about = About(
            name=paper.name,
            title=paper.title,
            note=paper.note,
            reference=paper.reference,
            labels=paper.labels,
            facts={"judge": paper.judge, "source": paper.source, "licence": paper.licence},
        )
        standings = build_standings(paper.table, about, settings=Settings(cluster=Cluster.NONE))
        board, _ = self._store.boards.publish(paper.name, round_id=None, standings=standings.as_json())
        return board

    def published(self) -> tuple[Board, ...]:
        """Every board that stands, newest round first."""
        return self._store.boards.all()

    def get(self, name: str) -> Board:
        """One board, retracted or not.

        Raises:
            NotFoundError: No board has this name.
        """
        return self._store.boards.get(name)

    def retract(self, name: str, notice: str) -> Board:
        """Take a board down with a notice for its readers."""
        board = self._store.boards.retract(name, notice)
        if board.round_name is not None:
            self._store.rounds.move(
                board.round_name, to=RoundState.RETRACTED, allowed=(RoundState.PUBLISHED,)
            )
        return board

    def table(self, board: Board, domain: str) -> tuple[Sequence[str], Sequence[Sequence[str | int | None]]]:
        """The lines of one domain of a board, as text for a terminal."""
        rows = [row for row in flat_rows(board.standings) if row["domain"] == domain]
        if not rows:
            known = ", ".join(board.standings["lines"])
            raise ConflictError(
                f"Board {board.name} has no domain {domain!r}.", advice=f"Use one of: {known}."
            )
        return SHOWN, [_line(row) for row in rows]

    def export_board(self, name: str, destination: Path) -> None:
        """Write a board as CSV, JSON or Parquet, by the ending of the destination."""
        export_standings(self.get(name).standings, destination)

    def export_round(self, name: str, folder: Path) -> Mapping[str, str]:
        """Write a round's battles, judgments, books and standings, and return the files' checksums."""
        return write_round(self._store, name, self.standings(name).as_json(), folder)

    def _facts(self, found: Round, summary: SetSummary) -> Mapping[str, Sequence[AnswerFact]]:
        versions: Mapping[str, int] = found.plan["systems"]
        sides = [
            self._store.submissions.reference(summary.name),
            *(
                one
                for one in self._store.submissions.find(set_name=summary.name)
                if versions.get(one.system) == one.version
            ),
        ]
        scores = _scores_by_answer(tuple(self._store.scores.of_submissions([side.id for side in sides])))
        return {
            side.system: [
                AnswerFact(
                    question=fact.question_id,
                    domain=fact.domain,
                    words=len(clean(fact.text).split()),
                    no_answer=fact.no_answer,
                    scores=scores.get((side.id, fact.question_id), {}),
                )
                for fact in self._store.submissions.facts(side.id)
            ]
            for side in sides
        }


def table_of(battles: Sequence[BattleRecord]) -> BattleTable:
    """The judged battles as the table that ratings and rates take."""
    judged = [battle for battle in battles if battle.preference is not None]
    soft = any(battle.score is not None for battle in judged)
    return BattleTable.from_columns(
        question_id=[battle.question_id for battle in judged],
        domain=[battle.domain for battle in judged],
        model_a=[battle.system_a for battle in judged],
        model_b=[battle.system_b for battle in judged],
        winner=[WINNERS[battle.preference] for battle in judged if battle.preference is not None],
        score=[math.nan if battle.score is None else battle.score for battle in judged] if soft else None,
    )


def _about(found: Round, summary: SetSummary, attacks: RoundAttacks) -> About:
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
    )


def _outcomes(battles: Sequence[BattleRecord]) -> Mapping[str, Mapping[Outcome, int]]:
    counts: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for battle in battles:
        if battle.outcome is not None:
            counts[battle.system_a][battle.outcome] += 1
            counts[battle.system_b][battle.outcome] += 1
    return counts


def _scores_by_answer(
    scored: Sequence[ScoredAnswer],
) -> Mapping[tuple[int, str], Mapping[str, float | None]]:
    found: dict[tuple[int, str], dict[str, float | None]] = defaultdict(dict)
    for one in scored:
        # An LLM's scores stand beside the embedded ones, never in their place.
        name = f"{one.metric} {one.judge}".strip()
        found[one.submission, one.question_id][name] = one.score
    return found


def _line(row: Mapping[str, object]) -> Sequence[str | int | None]:
    places = (row["rank_lower"], row["rank_upper"])
    return (
        None if None in places else f"{places[0]}–{places[1]}",
        str(row["system"]),
        _number(row["rating"], ".0f"),
        _number(row["lower"], ".0f"),
        _number(row["upper"], ".0f"),
        _number(row["win_rate"], ".1%"),
        _number(row["win_tie_rate"], ".1%"),
        _number(row["no_answer_share"], ".1%"),
        _number(row["battles"], ",.0f"),
    )


def _number(value: object, form: str) -> str | None:
    return format(value, form) if isinstance(value, int | float) else None
