"""Writers of battle files in native format and in those of the public arenas."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TextIO

from data.errors import FileFormatError
from data.text import escape_formula
from leaderboard.battles import WinnerWord
from leaderboard.formats.arenas import GAMES, GRADES
from leaderboard.formats.rows import BattleRows, share_of

Record = Mapping[str, object]
Writer = Callable[[Iterable[BattleRows], TextIO], None]

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
_FLIPPED: Mapping[str, str] = MappingProxyType({"model_a": "model_b", "model_b": "model_a"})
_RATINGS: Mapping[str, str] = MappingProxyType({"model_a": "1", "model_b": "2"})
NATIVE_ADVICE = "Write native battles, which keep every column."
ANNOTATION = ("instruction", "generator_1", "generator_2", "preference", "dataset", "annotator")


def write_lines(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write native JSON Lines."""
    for chunk in chunks:
        text.writelines(f"{_ENCODER.encode(record)}\n" for record in _records(chunk))


def write_csv(chunks: Iterable[BattleRows], columns: Iterable[str], text: TextIO) -> None:
    """Write native CSV; cells are escaped against formulas."""
    writer = csv.writer(text, lineterminator="\n")
    header = list(columns)
    writer.writerow(map(escape_formula, header))
    for chunk in chunks:
        known, empty = chunk.columns, [""] * len(chunk)
        cells = [map(escape_formula, known.get(name, empty)) for name in header]
        writer.writerows(zip(*cells, strict=True))


def write_array(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write Chatbot Arena's JSON array of battles, with extra columns."""
    _write_array((record for chunk in chunks for record in _records(chunk)), text)


def write_columns(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write RAG-QA Arena's `all_battles.json`: lists `model_a`, `model_b`, `winner`, and extra ones.

    Columns are collected in memory, 8 bytes per cell.
    """
    shared: dict[str, str] = {}
    columns: dict[str, list[object]] = {"model_a": [], "model_b": [], "winner": []}
    rows = 0
    for chunk in chunks:
        for name, values in chunk.columns.items():
            known = columns.setdefault(name, [None] * rows)
            known.extend(shared.setdefault(cell, cell) if isinstance(cell, str) else cell for cell in values)
        rows += len(chunk)
        for known in columns.values():
            known.extend([None] * (rows - len(known)))
    text.write("{")
    for index, (name, known) in enumerate(columns.items()):
        text.write(f"{',' if index else ''}\n  {_ENCODER.encode(name)}: [")
        text.writelines(f"{', ' if cell else ''}{_ENCODER.encode(value)}" for cell, value in enumerate(known))
        text.write("]")
    text.write("\n}\n")


def write_eval_results(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write RAG-QA Arena's `eval_results`: the first answer is 1, the verdict only a rating."""
    _write_array((record for chunk in chunks for record in _eval_records(chunk)), text)


def write_annotations(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write AlpacaEval's `annotations.json`: `model_a` is `generator_1`, a soft score the preference."""
    _write_array((record for chunk in chunks for record in _annotations(chunk)), text)


def write_games(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write Arena-Hard's judgments: `model_a` is the model, `model_b` the baseline, one line for both orders.

    Lines are collected in memory, since the two games may be far apart.
    """
    lines: dict[tuple[str, str, str, str], dict[str, object]] = {}
    for chunk in chunks:
        _without(chunk, "score", "arena-hard")
        for index in range(len(chunk)):
            _add_game(lines, chunk, index)
    text.writelines(f"{_ENCODER.encode(line)}\n" for line in lines.values())


def _records(chunk: BattleRows) -> Iterator[Record]:
    columns = chunk.columns
    for cells in zip(*columns.values(), strict=True):
        yield {
            name: cell for name, cell in zip(columns, cells, strict=True) if cell is not None and cell != ""
        }


def _write_array(records: Iterator[Record], text: TextIO) -> None:
    text.write("[")
    for index, record in enumerate(records):
        text.write(",\n" if index else "\n")
        text.write(_ENCODER.encode(record))
    text.write("\n]\n")


def _without(chunk: BattleRows, name: str, kind: str) -> None:
    values: Sequence[object] = getattr(chunk, name) or ()
    for index, value in enumerate(values):
        if value not in {None, 1.0} or (name == "score" and value is not None):
            message = f"{chunk.place.at(index, name)}: {kind} battles cannot have the {name} {value}."
            raise FileFormatError(message, advice=NATIVE_ADVICE)


def _question(chunk: BattleRows, index: int) -> str:
    if chunk.question_id is None:
        message = f"{chunk.place.at(index, 'question_id')}: this format needs the question of each battle."
        raise FileFormatError(message, advice="Write native battles, or add the column.")
    return chunk.question_id[index]


def _without_empty(**columns: str | None) -> dict[str, object]:
    return {name: value for name, value in columns.items() if value}


def _cell(column: Sequence[str] | None, index: int) -> str | None:
    return None if column is None else column[index]


def _eval_records(chunk: BattleRows) -> Iterator[Record]:
    for name in ("score", "weight"):
        _without(chunk, name, "rag-qa-arena-eval")
    for index, winner in enumerate(chunk.winner):
        first, second, word = chunk.model_a[index], chunk.model_b[index], winner
        if _cell(chunk.order, index) == "ba":
            first, second, word = second, first, _FLIPPED.get(winner, winner)
        yield {
            "query": _question(chunk, index),
            "order": {"1": first, "2": second},
            "pred": f"<rating>{_RATINGS.get(word, '0')}</rating>",
        } | _without_empty(domain=_cell(chunk.domain, index), judge=_cell(chunk.judge, index))


def _annotations(chunk: BattleRows) -> Iterator[Record]:
    _without(chunk, "weight", "alpaca-eval")
    further = {name: cells for name, cells in chunk.further.items() if name not in ANNOTATION}
    for index, winner in enumerate(chunk.winner):
        score = None if chunk.score is None else chunk.score[index]
        own = {
            "instruction": _question(chunk, index),
            "generator_1": chunk.model_a[index],
            "generator_2": chunk.model_b[index],
            "preference": 2 - (share_of(winner) if score is None else score),
        } | _without_empty(
            dataset=_cell(chunk.domain, index),
            annotator=_cell(chunk.judge, index),
            order=_cell(chunk.order, index),
        )
        yield own | {name: cells[index] for name, cells in further.items() if cells[index] is not None}


def _add_game(
    lines: dict[tuple[str, str, str, str], dict[str, object]], chunk: BattleRows, index: int
) -> None:
    order = _cell(chunk.order, index)
    if order not in {"ab", "ba"}:
        message = f"{chunk.place.at(index, 'order')}: arena-hard needs the order of each game, ab or ba."
        raise FileFormatError(message, advice="Write native battles, or add the column.")
    uid, model, baseline = _question(chunk, index), chunk.model_a[index], chunk.model_b[index]
    fresh = (
        {"uid": uid}
        | _without_empty(category=_cell(chunk.domain, index), judge=_cell(chunk.judge, index))
        | {"model": model, "baseline": baseline, "games": [None] * GAMES}
    )
    games = lines.setdefault((uid, model, baseline, _cell(chunk.judge, index) or ""), fresh)["games"]
    game = 1 if order == "ab" else 0
    if not isinstance(games, list) or games[game] is not None:
        message = f"{chunk.place.at(index)}: the game of {model} and {baseline} in this order appears twice."
        raise FileFormatError(message, advice="Remove one; Arena-Hard has one game per order.")
    games[game] = {"score": _grade(chunk, index, game)}


def _grade(chunk: BattleRows, index: int, game: int) -> str:
    winner = chunk.winner[index]
    won = {WinnerWord.A: 1, WinnerWord.B: -1}.get(WinnerWord(winner), 0)
    sign = won if game == 1 else -won
    cell = None if chunk.weight is None else chunk.weight[index]
    weight = 1.0 if cell is None else cell
    for name in ("A>>B", "A>B", "A=B", "B>A", "B>>A"):
        if GRADES[name] == (sign, weight):
            return name
    message = f"{chunk.place.at(index, 'weight')}: arena-hard has no grade that counts {weight:g} times."
    raise FileFormatError(message, advice=NATIVE_ADVICE)
