"""Values in docs/other-tools.md, recomputed, and comparison with recorded boards of other tools."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arena.services.battle_files import RatingRequest, rate_file
from data.errors import InputError
from leaderboard import ratings
from leaderboard.agreement.coefficients import krippendorff_alpha
from leaderboard.battles import BattleTable
from leaderboard.formats.rows import Context
from leaderboard.peers.battles import WrittenBattles, read_written
from leaderboard.peers.compare import Comparison, compare_tools
from leaderboard.peers.facts import facts, half_widths, rules
from leaderboard.peers.tools import PEERS, ArenaRank, Peer
from leaderboard.vocabulary import Method
from submissions.check import check_answers
from submissions.limits import IntakeLimits
from tests.battle_tables import coded
from tests.submissions.conftest import QUESTIONS

ROOT = Path(__file__).parents[3]
RECORDED: dict[str, dict[str, Any]] = json.loads((ROOT / "tests/golden/peers.json").read_text("utf-8"))
PAGE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs/other-tools.md").read_text("utf-8").splitlines()
    if line.startswith("| `")
]
HERE = {row[0].strip("`"): row[-2] for row in PAGE}
TOOLS = {row[0].strip("`"): row[1] for row in PAGE}


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def gap(rows: Sequence[Mapping[str, object]], folder: Path, **request: Any) -> float:  # noqa: ANN401
    """Return the rating of `a` minus that of `b`."""
    result = rate_file(written(folder / "b.csv", rows), RatingRequest(bootstrap=20, **request))
    return (result.table.of("a").rating or 0) - (result.table.of("b").rating or 0)


def battles(*words: object, **columns: object) -> list[dict[str, object]]:
    return [
        {"question_id": f"q{at}", "model_a": "a", "model_b": "b", "winner": word, **columns}
        for at, word in enumerate(words)
    ]


def lengths(*, sorted_sides: bool) -> list[dict[str, object]]:
    """Battles of equal systems won by length; `a` is longest, and comes first if sides are sorted."""
    rng, rows = np.random.default_rng(2), []
    for at in range(9000):
        pair = [("a", "b"), ("b", "c"), ("a", "c")][at % 3]
        cells = np.array([130, 70]) + rng.normal(0, 10, 2)
        if not sorted_sides and rng.random() < 1 / 2:
            pair, cells = pair[::-1], cells[::-1]
        won = rng.random() < 1 / (1 + np.exp(-2 * (cells[0] - cells[1]) / cells.sum()))
        names = {"model_a": pair[0], "model_b": pair[1], "winner": "model_a" if won else "model_b"}
        rows.append({"question_id": f"q{at}", **names, "a_length": cells[0], "b_length": cells[1]})
    return rows


def style(folder: Path, *, sorted_sides: bool) -> str:
    file = written(folder / "s.csv", lengths(sorted_sides=sorted_sides))
    return f"{np.ptp(rate_file(file, RatingRequest(method=Method.STYLE)).table.points):.0f} points"


def newcomer(_: Path) -> str:
    """System with 60 battles on a board of 300,060."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 5, 300_000)
    b, strength = (a + rng.integers(1, 5, len(a))) % 5, np.array([0.9, 0.4, 0, -0.4, -0.9])
    won = (rng.random(len(a)) > 1 / (1 + np.exp(strength[b] - strength[a]))).astype(int)
    own = [np.full(60, 5), np.arange(60) % 5, np.arange(60) % 2]
    a, b, won = (np.concatenate(pair) for pair in zip((a, b, won), own, strict=True))
    table = coded([*"abcde", "new"], 1, a, b, won, np.zeros(len(a)))
    result = ratings.rate(table, interval=ratings.IntervalKind.SANDWICH, cluster=ratings.Cluster.NONE)
    plain, ridge = (half_widths(result, table, size)[5] for size in (0.0, ArenaRank.ridge * len(a)))
    assert f"{ridge:.1f}" == "70.7"  # arena-rank 0.1.1's
    return f"±{plain:.1f}"


def refused(winner: object) -> str:
    with pytest.raises(InputError):
        BattleTable.from_columns(["q"], ["d"], ["a"], ["b"], [winner])
    return "refused"


def shares(folder: Path) -> str:
    """Return strengths of three systems as shares of their sum."""
    results = {("a", "b"): (6, 3), ("b", "c"): (6, 5), ("a", "c"): (7, 3)}
    rows = []
    for (first, second), (won, lost) in results.items():
        rows += battles(*["model_a"] * won, *["model_b"] * lost, model_a=first, model_b=second)
    strength = 10 ** (rated(folder, rows).points / 400)
    return " / ".join(f"{share:.3f}" for share in strength / strength.sum())


def answers(name: str) -> str:
    path = ROOT / "tests/golden/answers" / name
    return f"{check_answers(path, QUESTIONS, limits=IntakeLimits(system='s')).answers} answers"


def shuffled(folder: Path) -> str:
    rows = battles(*["model_a", "model_b", "model_a", "tie"] * 5)
    orders = [rows, random.Random(1).sample(rows, len(rows))]
    tables = [rate_file(written(folder / "o.csv", order), RatingRequest()).as_json() for order in orders]
    return "the same" if tables[0] == tables[1] else "another"


UNDEFEATED, EVALICA = "tests/golden/battles/undefeated.csv", "tests/golden/battles/evalica.csv"
ARENAKIT, WON = "tests/golden/battles/arenakit.csv", ["model_a", "model_a", "model_a", "model_b"]
EVEN = ["model_a"] * 6 + ["model_b"] * 4
GAPS = [*battles(*EVEN), *battles(*EVEN, model_a="b", model_b="z")]
SHARES = [
    *battles(*["model_a"] * 90, *["model_b"] * 10),
    *battles("model_a", *["model_b"] * 9, model_b="c"),
    *battles(*["model_a", "model_b"] * 5, "tie", "tie", model_a="b", model_b="c"),
]
RATED = [[1, 2, 3, 3, 2, 1, 4, 1, 2, 5, 1, 3], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 4, 3]]
ROWS: dict[str, Callable[[Path], str]] = {
    "undefeated": lambda _: (
        f"at least {rate_file(ROOT / UNDEFEATED, RatingRequest()).table.of('king').lower:.0f}"
    ),
    "apart": lambda f: rated(f, [*battles(*WON), *battles(*WON, model_a="c", model_b="d")]).of("c").flags[-1],
    "words": lambda _: f"{rate_file(ROOT / EVALICA, RatingRequest()).table.of('x').rating:.1f}",
    "gaps": lambda f: f"{rated(f, [*GAPS, *battles(*['model_b'] * 20, model_b=None)]).of('z').rating:.1f}",
    "shares": lambda f: f"rank {rated(f, SHARES).of('a').rank}",
    "ties": lambda f: f"{gap([*battles(*WON, 'tie (bothbad)', 'tie (bothbad)')], f):.1f}",
    "truth": lambda _: refused(1),
    "numpy-truth": lambda _: refused(np.True_),
    "weights": lambda f: f"{gap([*battles('model_a', weight=3), *battles('model_b', weight=1)], f):.1f}",
    "elo-weights": lambda f: f"{gap([*battles(*WON), *battles('model_a', weight=0)], f):.1f}",
    "scores": lambda f: f"{gap([*battles('model_a', 'model_a', score=0.75)], f):.1f}",
    "questions": lambda _: f"{facts(read(ARENAKIT))['questions']['clustered']}",
    "few": newcomer,
    "close": lambda f: f"{rated(f, battles(*['model_a'] * 7, 'model_b')).of('a').lower:.0f}",
    "length": lambda f: style(f, sorted_sides=False),
    "sides": lambda f: style(f, sorted_sides=True),
    "two-steps": shares,
    "alpha": lambda _: f"{krippendorff_alpha(np.array(RATED, dtype=float).T).value:.3f}",
    "row-order": shuffled,
    "zstandard": lambda _: answers("inspect.eval"),
    "joined": lambda _: answers("deepeval.json"),
}


def read(file: str) -> WrittenBattles:
    return read_written(ROOT / file, None, Context())


def rated(folder: Path, rows: Sequence[Mapping[str, object]]) -> ratings.RatingTable:
    return rate_file(written(folder / "r.csv", rows), RatingRequest()).table


def test_page_rows_and_versions_are_complete() -> None:
    assert sorted(HERE) == sorted(ROWS)
    for name, version in rules()["versions"].items():
        assert any(f"{name} {version}" in tools for tools in TOOLS.values()), name


@pytest.mark.parametrize("row", ROWS)
def test_page_row_has_our_value(row: str, tmp_path: Path) -> None:
    assert ROWS[row](tmp_path) in HERE[row]


def compared(file: str, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    """Compare with the recorded boards of a file."""
    for peer in PEERS:
        made = RECORDED[file][peer.name]

        def replay(_peer: Peer, *_: object, made: Mapping[str, Any] = made) -> tuple[pd.DataFrame, Any]:
            if "error" in made:
                raise ValueError(made["error"])
            return pd.DataFrame.from_dict(made["board"], orient="index").astype(float), made["own"]

        monkeypatch.setattr(type(peer), "rate", replay)
        monkeypatch.setattr(type(peer), "version", made["version"])
    return compare_tools(read(file))


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (UNDEFEATED, {"undefeated", "ties", "weights", "questions", "interval", "collapsed"}),
        (ARENAKIT, {"words", "ties", "questions", "interval"}),
        ("tests/golden/former_store/export/battles.jsonl", {"undefeated", "collapsed"}),
    ],
)
def test_reasons_match_page(file: str, expected: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    result, texts = compared(file, monkeypatch), rules()["rules"]
    named = set()
    for reason in result.reasons:
        tool, version, text = reason.replace(":", "", 1).split(" ", 2)
        assert rules()["versions"][tool] == version
        for rule, row in texts.items():
            pattern = re.sub(r"\\{.*?\\}", ".*", re.escape(row.get(tool, "-")))
            named |= {rule} if re.fullmatch(pattern, text) else set()
    assert named == expected
    assert named - {"interval", "collapsed"} <= HERE.keys()


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
@pytest.mark.parametrize("file", [UNDEFEATED, ARENAKIT])
def test_installed_tool_reproduces_recorded_board(peer: Peer, file: str) -> None:
    made = RECORDED[file][peer.name]
    if peer.version != made["version"]:
        pytest.skip(f"{peer.name} {made['version']} is not installed (extra `peers`)")
    if "error" in made:
        with pytest.raises((ValueError, RuntimeError)), np.errstate(all="ignore"):
            peer.rate(read(file), 0)
    else:
        frame = pd.DataFrame.from_dict(made["board"], orient="index").astype(float)
        pd.testing.assert_frame_equal(peer.rate(read(file), 0)[0].loc[frame.index, frame.columns], frame)
