from __future__ import annotations

import csv
import json
from pathlib import Path

import evalica
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from data.errors import FileFormatError, RecordError
from data.models import Outcome
from data.text import escape_formula
from leaderboard.battles import BattleTable
from leaderboard.export.tables import export_standings, flat_rows, standings_text
from leaderboard.formats.reading import read_battles
from leaderboard.ratings import Settings, rate
from leaderboard.standings.answer_stats import AnswerFact, mean_scores
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About, Line, Standings
from tests.battle_tables import coded

ABOUT = About(
    name="b", title="A board", reference="ref", labels={"d1": "One", "d0": "Zero"}, facts={"judge": "lexical"}
)
QUICK = Settings(bootstrap=100, seed=3)


def battles(seed: int = 1) -> BattleTable:
    random = np.random.default_rng(seed)
    question, system = np.divmod(np.arange(120), 3)
    winner, names = random.integers(0, 3, 120), ("=x", "y", "z", "ref")
    return coded(
        names, 40, system, np.full(120, 3), winner, question, domains=("d0", "d1"), domain=question % 2
    )


def facts(seed: int = 1) -> dict[str, list[AnswerFact]]:
    random = np.random.default_rng(seed)
    return {
        system: [
            AnswerFact(
                question=f"q{n}",
                domain=f"d{n % 2}",
                words=int(random.integers(5, 90)),
                no_answer=n % 10 == 0,
                scores={"comprehensiveness": None if n % 20 == 0 else float(random.random())},
            )
            for n in range(40)
        ]
        for system in ("=x", "y", "unjudged")
    }


def line_of(standings: Standings, system: str, domain: str = "overall") -> Line:
    return next(line for line in standings.lines[domain] if line.system == system)


def board() -> Standings:
    return build_standings(
        battles(),
        ABOUT,
        settings=QUICK,
        answers=facts(),
        outcomes={"y": {Outcome.JUDGED: 40, Outcome.UNREADABLE: 2}},
        ended={Outcome.JUDGED: 120, Outcome.UNREADABLE: 2},
    )


def test_board_has_every_system_overall_and_by_domain() -> None:
    standings = board()
    assert list(standings.lines) == ["overall", "d1", "d0"]
    lines = standings.lines["overall"]
    assert [line.rating.rank for line in lines if line.rating] == sorted(
        line.rating.rank for line in lines if line.rating
    )
    assert lines[-1].system == "unjudged"
    assert lines[-1].rating is None
    assert lines[-1].rate is None
    assert line_of(standings, "y").outcomes[Outcome.UNREADABLE] == 2
    assert {line.system for line in standings.lines["d0"]} == {"=x", "y", "z", "ref", "unjudged"}


def test_rates_are_against_reference() -> None:
    """The reference's rate against all is a separate field."""
    standings = board()
    for system in ("=x", "y", "z"):
        line = line_of(standings, system)
        assert line.rate is not None
        assert line.rate.battles == 40
        assert line.rate_against_all is None
    for domain in ("overall", "d0"):
        assert line_of(standings, "ref", domain).rate is None
    against_all = line_of(standings, "ref").rate_against_all
    assert against_all is not None
    assert against_all.battles == 120


def test_old_boards_export_no_rates_of_reference() -> None:
    """They are empty: neither 0 nor the rate against all."""
    standings = dict(board().as_json())
    before = json.loads(json.dumps(standings))
    for part in before["lines"].values():
        for line in part:
            line["rate"] = line["rate"] or line.pop("rate_against_all")
    for board_json in (standings, before):
        rows = [row for row in flat_rows(board_json) if row["system"] == "ref"]
        assert len(rows) == 3
        for row in rows:
            names = ("battles", "wins", "win_rate", "win_tie_rate", "win_lower", "mean_score", "questions")
            assert [row[name] for name in names] == [None] * len(names)
            assert row["rating"] is not None


def test_answer_statistics_exclude_undefined_scores() -> None:
    line = line_of(board(), "y", "d0")
    assert line.answers == 20
    assert line.declined is not None
    assert line.declined["share"] == pytest.approx(4 / 20)
    score = line.scores["comprehensiveness"]
    assert (score.answers, score.undefined) == (18, 2)
    values = [f.scores["comprehensiveness"] for f in facts()["y"] if f.domain == "d0"]
    assert score.mean == pytest.approx(np.mean([value for value in values if value is not None]))
    assert score.interval is not None
    assert score.mean is not None
    assert score.mean in score.interval
    assert next(mean_scores([([], "comprehensiveness", ())])).mean is None
    with pytest.raises(RecordError, match="score"):
        AnswerFact(question="q", domain="d", words=1, scores={"m": float("nan")})


def test_equal_input_gives_equal_bytes() -> None:
    text, again = (standings_text(board().as_json()) for _ in range(2))
    assert text == again
    assert json.loads(text)["lines"]["overall"][0]["rating"]["rank"] == 1
    assert json.loads(text)["outcomes"]["unreadable"] == 2


def test_board_without_battles_has_reason() -> None:
    nothing = battles().select(np.zeros(120, dtype=bool))
    standings = build_standings(nothing, ABOUT, settings=QUICK, answers=facts())
    assert standings.ratings is None
    assert standings.unrankable
    assert line_of(standings, "y").answers == 40
    assert line_of(standings, "y").rate is None
    json.dumps(standings.as_json(), allow_nan=False)


def test_csv_json_and_parquet_agree(tmp_path: Path) -> None:
    snapshot = board().as_json()
    for name in ("b.csv", "b.csv.gz", "b.json", "b.parquet"):
        export_standings(snapshot, tmp_path / name)
    rows = list(csv.DictReader((tmp_path / "b.csv").read_text().splitlines()))
    assert len(rows) == len(flat_rows(snapshot))
    table = pq.read_table(tmp_path / "b.parquet").to_pylist()
    assert json.loads((tmp_path / "b.json").read_text()) == json.loads(json.dumps(snapshot))
    assert len(rows) == len(table)
    for row, same in zip(rows, table, strict=True):
        assert row["system"].removeprefix("'") == same["system"]
        for column in ("rating", "win_rate", "win_lower", "comprehensiveness", "median_words"):
            assert (float(row[column]) if row[column] else None) == same[column]
    assert pd.read_csv(tmp_path / "b.csv.gz").shape == (len(rows), len(rows[0]))
    with pytest.raises(FileFormatError, match="has none of the suffixes"):
        export_standings(snapshot, tmp_path / "b.xlsx")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_escaped(text: str) -> None:
    assert escape_formula(text) == f"'{text}"
    assert escape_formula("gpt-4o") == "gpt-4o"
    assert escape_formula(-1.5) == -1.5


def test_chatbot_arena_csv_gives_evalicas_strengths(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    names = [f"m{n}" for n in range(8)]
    words = ["model_a", "model_b", "tie", "tie (bothbad)"]
    rows = []
    for _ in range(3000):
        a, b = random.choice(8, 2, replace=False)
        tied = random.random() < 0.2
        a_wins = random.random() < 1 / (1 + np.exp((b - a) / 4))
        rows.append(
            (names[a], names[b], words[int(random.integers(2, 4))] if tied else words[0 if a_wins else 1])
        )
    path = tmp_path / "arena.csv"
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])
    frame.to_csv(path, index=False)
    codes = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}
    winners = [codes.get(word, evalica.Winner.Draw) for word in frame.pop("winner")]
    theirs = evalica.bradley_terry(
        frame["model_a"].tolist(), frame["model_b"].tolist(), winners, tolerance=1e-14, limit=100_000
    ).scores
    log_scores = np.log(theirs) - np.log(theirs).mean()
    ours = rate(read_battles(path).table, bootstrap=2)
    for rating in ours.ratings:
        assert rating.rating is not None
        strength = (rating.rating - 1000) * np.log(10) / 400
        assert strength == pytest.approx(log_scores[rating.system], abs=1e-6)
