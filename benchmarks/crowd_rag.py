"""How far the LLM judge of the Crowd-RAG study can be trusted: flips, ties and pairs without a verdict.

Run: python -m benchmarks.crowd_rag [--study pairs.jsonl] [--asked quality_overall] [--battles FILE]

The study has the verdicts of one LLM on pairs of six kinds of answers, in both orders, asked about all
aspects at once (`llm_combined`) and apart (`llm_individual`), and people's majority. Orders that disagree are
a tie, as everywhere here. With --battles the verdicts of `llm_combined` are written as a file of battles.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from data.intervals import Interval, wilson
from leaderboard.battles import BattleTable
from leaderboard.stats.intervals import cluster_variance, effective_count

STUDY = Path(__file__).parents[1] / "../shared/data/crowd_rag/pairs.jsonl"
ORDERS = ("a_first", "b_first")
WINNERS = {"a": "model_a", "b": "model_b", "n": "tie"}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Verdicts:
    """A judge's verdicts as battles, and how many pairs it did not decide."""

    name: str
    battles: Sequence[tuple[str, str, str, str, str]]
    undecided: int

    @property
    def table(self) -> BattleTable:
        """The battles, rated as everywhere."""
        return BattleTable.from_columns(*[list(column) for column in zip(*self.battles, strict=True)])


def settled(row: Row, judge: str, asked: str) -> str | None:
    """What both orders of a judge come to; None where one of them is missing."""
    told = row[judge] or {}
    sides = [(told.get(order) or {}).get(asked) for order in ORDERS]
    if None in sides:
        return None
    return WINNERS[str(sides[0])] if sides[0] == sides[1] else "tie"


def one_order(order: str) -> Callable[[Row, str, str], str | None]:
    """What a judge says in one order alone."""

    def told(row: Row, judge: str, asked: str) -> str | None:
        side = ((row[judge] or {}).get(order) or {}).get(asked)
        return None if side is None else WINNERS[str(side)]

    return told


def by_people(row: Row, judge: str, asked: str) -> str | None:
    """What people's majority says."""
    side = row[judge].get(asked)
    return None if side is None else WINNERS[str(side)]


def read_verdicts(
    rows: Sequence[Row], name: str, judge: str, asked: str, read: Callable[[Row, str, str], str | None]
) -> Verdicts:
    """The verdicts of a judge as battles."""
    told = [(row, read(row, judge, asked)) for row in rows]
    battles = [
        (row["question_id"], "rag", row["model_a"], row["model_b"], winner)
        for row, winner in told
        if winner is not None
    ]
    return Verdicts(name=name, battles=battles, undecided=len(told) - len(battles))


def flips(rows: Sequence[Row], judge: str, asked: str) -> tuple[float, Interval | None]:
    """Share of the pairs asked in both orders whose verdict changed, clustered by question."""
    first, second = (one_order(order) for order in ORDERS)
    said = [(row["question_id"], first(row, judge, asked), second(row, judge, asked)) for row in rows]
    twice = [(question, one != other) for question, one, other in said if one and other]
    share = sum(changed for _, changed in twice) / len(twice)
    sums: dict[str, float] = {}
    for question, changed in twice:
        sums[question] = sums.get(question, 0.0) + changed - share
    variance = cluster_variance(np.array(list(sums.values())), len(twice)) or 0.0
    return share, wilson(share, effective_count(share, len(twice), len(sums), variance))


def report(verdicts: Verdicts) -> None:
    """Print what one judge's verdicts come to."""
    table = verdicts.table
    ties = sum(battle[4] == "tie" for battle in verdicts.battles)
    print(f"\n{verdicts.name}: {len(table)} pairs, {ties} ties, {verdicts.undecided} without a verdict")


def main() -> None:
    """Read the study and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", type=Path, default=STUDY)
    parser.add_argument("--asked", default="quality_overall")
    parser.add_argument("--battles", type=Path)
    chosen = parser.parse_args()
    rows = [json.loads(line) for line in chosen.study.read_text(encoding="utf-8").splitlines()]
    for judge in ("llm_combined", "llm_individual"):
        changed = flips(rows, judge, chosen.asked)
        print(f"{judge}: verdicts that change with the order {changed}")
    readings = {
        "aspects asked together, both orders": ("llm_combined", settled),
        "aspects asked together, first order": ("llm_combined", one_order(ORDERS[0])),
        "aspects asked apart, both orders": ("llm_individual", settled),
        "people's majority": ("people_gold", by_people),
    }
    for name, (judge, read) in readings.items():
        report(read_verdicts(rows, name, judge, chosen.asked, read))
    if chosen.battles is not None:
        names = ("question_id", "domain", "model_a", "model_b", "winner")
        verdicts = read_verdicts(rows, "", "llm_combined", chosen.asked, settled)
        lines = [json.dumps(dict(zip(names, battle, strict=True))) for battle in verdicts.battles]
        chosen.battles.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
