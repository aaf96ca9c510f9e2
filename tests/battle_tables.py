"""Battle tables from records, for comparison with tables from columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.services.rounds.battle_table import WINNERS
from data.models import BattleRecord, Board
from leaderboard.battles import BattleTable
from leaderboard.ratings import Cluster, Settings
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About, Standings
from leaderboard.standings.published import bundled_board


def table_of(records: Sequence[BattleRecord]) -> BattleTable:
    """Return the table of the judged battles among records."""
    judged = [record for record in records if record.preference is not None]
    table = BattleTable.from_columns(
        question_id=[record.question_id for record in judged],
        domain=[record.domain for record in judged],
        model_a=[record.system_a for record in judged],
        model_b=[record.system_b for record in judged],
        winner=[WINNERS[record.preference] for record in judged if record.preference is not None],
    )
    scores = np.array([np.nan if record.score is None else record.score for record in judged])
    return replace(table, score=None if np.isnan(scores).all() else scores)


def encoded(rows: Sequence[tuple[str, str, str, str, str]]) -> BattleTable:
    """Encode battles of rows with question, domain, two systems and winner."""
    return BattleTable.from_columns(*map(list, zip(*rows, strict=True)))


def coded(
    systems: Sequence[str],
    questions: int,
    a: ArrayLike,
    b: ArrayLike,
    winner: ArrayLike,
    question: ArrayLike,
    *,
    domains: tuple[str, ...] = ("x",),
    domain: ArrayLike | None = None,
    score: NDArray[np.float64] | None = None,
    weight: NDArray[np.float64] | None = None,
) -> BattleTable:
    """Build battles from codes, on questions q0, q1 and so on."""
    first = np.asarray(a, dtype=np.int32)
    return BattleTable(
        systems=tuple(systems),
        questions=tuple(f"q{number}" for number in range(questions)),
        domains=domains,
        a=first,
        b=np.asarray(b, dtype=np.int32),
        winner=np.asarray(winner, dtype=np.int8),
        question=np.asarray(question, dtype=np.int32),
        domain=np.zeros_like(first) if domain is None else np.asarray(domain, dtype=np.int32),
        score=score,
        weight=weight,
    )


def rows_of(table: BattleTable) -> list[tuple[object, ...]]:
    """Return question, domain, systems, winner, share and weight of each battle."""
    weight = np.ones(len(table)) if table.weight is None else table.weight
    return [
        (table.questions[question], table.domains[domain], table.systems[a], table.systems[b], *numbers)
        for question, domain, a, b, *numbers in zip(
            *(table.question.tolist(), table.domain.tolist(), table.a.tolist(), table.b.tolist()),
            *(table.winner.tolist(), table.share.tolist(), weight.tolist()),
            strict=True,
        )
    ]


def board_of(standings: Standings) -> Board:
    """Build a published board from standings."""
    return Board(
        id=1,
        name=standings.about.name,
        round_name=None,
        standings=json.loads(json.dumps(standings.as_json())),
        content_hash="ab" * 32,
        notice="",
        retracted=False,
        published_at=datetime(2026, 11, 1, tzinfo=UTC),
    )


def paper_board() -> Board:
    """Build the board of the paper's Table 3."""
    paper = bundled_board()
    about = About(name="paper", title=paper.title, reference=paper.reference, labels=paper.labels)
    return board_of(build_standings(paper.table, about, settings=Settings(cluster=Cluster.NONE)))


def printed_ratings() -> dict[str, float]:
    """Return the ratings of the paper's Table 5 (A), by system."""
    path = Path(__file__).parents[1] / "data/sets/rag-qa-arena/ratings.csv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    return {row["system"]: float(row["rating"]) for row in rows if row["column"] == "A"}
