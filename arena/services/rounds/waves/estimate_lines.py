"""Estimates of a round in waves as lines of a file, from which anybody can compute its board again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.services.rounds.battle_table import WINNERS
from data.errors import FileFormatError
from data.files.text_files import ReadLimits, parse_json, read_text
from data.records import Preference
from leaderboard.battles import WINNER_WORDS, BattleTable
from leaderboard.sampling.asks import Ask
from leaderboard.sampling.estimates import Estimates, estimated
from leaderboard.sampling.waves import WaveState


def estimate_lines(state: WaveState, preference: NDArray[np.int8]) -> Iterator[Mapping[str, Any]]:
    """Yield a line for each battle that is estimated.

    Its `shares` are what each proxy judge gives `model_a`; `verdict` and `winner` are the judge's, null where
    it was not asked; `chance` is that of having been asked in any wave.
    """
    table, winners = state.planned, [WINNERS[preference] for preference in Preference]
    shares = np.column_stack([table.share, *state.others])
    for row in range(len(table)):
        known = bool(state.judged[row])
        yield {
            "question_id": table.questions[table.question[row]],
            "domain": table.domains[table.domain[row]],
            "model_a": table.systems[table.a[row]],
            "model_b": table.systems[table.b[row]],
            "shares": shares[row].tolist(),
            "verdict": float(state.verdicts[row]) if known else None,
            "winner": winners[preference[row]] if known else None,
            "chance": float(state.sampling_prob[row]),
        }


def read_estimates(path: Path, judged: BattleTable, ask: str) -> Estimates:
    """Estimate a round again from the lines of its file.

    Args:
        path: The file.
        judged: The judged battles.
        ask: What the round is asked.

    Raises:
        FileFormatError: The file cannot be read, or lacks a field.
    """
    lines = [parse_json(line, 0) for line in read_text(path, ReadLimits()).splitlines()]
    try:
        state = _state(lines)
        winners = [WINNER_WORDS[line["winner"] or "tie"] for line in lines]
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path} lacks {error}.", advice="Get the export again.") from error
    return estimated(state, judged, np.array(winners, dtype=np.int8), Ask.parse(ask))


def _state(lines: Sequence[Any]) -> WaveState:
    columns = ("question_id", "domain", "model_a", "model_b")
    table = BattleTable.from_columns(
        **{name: [line[name] for line in lines] for name in columns}, winner=["tie"] * len(lines)
    )
    first, *others = np.array([line["shares"] for line in lines], dtype=np.float64).T
    verdicts = [np.nan if line["verdict"] is None else line["verdict"] for line in lines]
    return WaveState(
        planned=replace(table, score=first),
        verdicts=np.array(verdicts, dtype=np.float64),
        sampling_prob=np.array([line["chance"] for line in lines], dtype=np.float64),
        others=tuple(others),
    )
