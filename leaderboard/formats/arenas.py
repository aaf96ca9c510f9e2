"""Battles in native rows and as AlpacaEval, Arena-Hard, MT-bench and RAG-QA Arena write them.

Sources: AlpacaEval (Li et al., 2023), `metrics.get_winrate`; Arena-Hard-Auto (Li et al., 2024), its
`show_result`; Zheng et al. (2023), FastChat's `play_a_match_pair`; Han et al. (2024), their
`report_results`.
"""

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TextIO, TypeVar

from data.errors import FileFormatError, InputError, RecordError
from data.text import escape_formula
from leaderboard.battles import WinnerWord
from leaderboard.formats.rows import (
    COLUMNS,
    BattleRows,
    Context,
    Draft,
    LeftOut,
    Place,
    VerdictError,
    as_number,
    counts,
    covariate_columns,
    missing,
    names,
    refuse,
    scores,
    share_of,
    winners,
)
from leaderboard.formats.sources import Chunk, called, column, has, identifiers, optional
from leaderboard.vocabulary import Covariate

Value = TypeVar("Value")
A, B, TIE = WORDS = (WinnerWord.A.value, WinnerWord.B.value, WinnerWord.TIE.value)
COUNT_COLUMNS = ("weight", "count")
POSITIONS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("a", "model_a", "ab", "1"), 1.0)
    | dict.fromkeys(("b", "model_b", "ba", "-1"), -1.0)
    | dict.fromkeys(("both", "0"), 0.0)
)
"""Values of the columns `position` and `order`; `both` means both orders."""
SETTLED = (None, "", "judged")
"""Values of `outcome` for battles with a verdict."""
YES_OR_NO: Mapping[str, float] = MappingProxyType({"true": 1.0, "false": 0.0})
NOT_ANONYMOUS = frozenset({"false", "0", "0.0", "no"})
"""Values of `anony` for votes of people who saw the systems' names; LMArena's boards leave them out."""
ONE_HOT: Mapping[str, str] = MappingProxyType({f"winner_{word}": word for word in WORDS})


def parse_native(chunk: Chunk, context: Context) -> Draft:
    """Translate rows of `model_a, model_b, winner` and other native columns.

    A `weight` (or `count`) of 0 leaves a row out, and so does a vote that was not anonymous (`anony`).
    """
    words = [
        WinnerWord.TIE.value if is_open else won
        for is_open, won in zip(_without_verdict(chunk), column(chunk, "winner"), strict=True)
    ]
    return _native(chunk, context, "question_id", winners(chunk.place, words))


def _without_verdict(chunk: Chunk) -> list[bool]:
    return [not record.get("winner") and record.get("outcome") not in SETTLED for record in chunk.records]


def parse_one_hot(chunk: Chunk, context: Context) -> Draft:
    """Translate rows in which one of `winner_model_a`, `winner_model_b` and `winner_tie` is 1.

    Source: Chiang et al. (2024), the released 55,000 battles (`lmsys-arena-human-preference-55k`).
    """
    marks = [
        [_mark(chunk.place, index, name, value) for index, value in enumerate(column(chunk, name))]
        for name in ONE_HOT
    ]
    words: list[str] = []
    for index, row in enumerate(zip(*marks, strict=True)):
        if sum(row) != 1:
            cells = ", ".join(f"{name} {mark}" for name, mark in zip(ONE_HOT, row, strict=True))
            problem = f"exactly one of the three must be 1 (the row has {cells})"
            refuse(chunk.place, index, "winner_model_a", row[0], problem)
        words.append(WORDS[row.index(1)])
    question = "question_id" if has(chunk, "question_id") else "id"
    return _native(chunk, context, question, words)


def _mark(place: Place, index: int, name: str, value: object) -> int:
    number = YES_OR_NO.get(str(value).lower())
    number = as_number(place, index, name, value) if number is None else number
    if number not in {0, 1}:
        refuse(place, index, name, value, "1 or 0 is expected")
    return int(number)


def _draft(
    chunk: Chunk,
    context: Context,
    words: Sequence[str | None],
    called_there: Mapping[str, str] = MappingProxyType({}),
    own: Mapping[str, Any] = MappingProxyType({}),
    *,
    games: int = 1,
    reason: LeftOut = LeftOut.UNREADABLE,
) -> Draft:
    """Translate a chunk with a word per game, None for games to leave out for a `reason`.

    `called_there` has the format's names of our columns; `own` has columns that need another reader.
    """
    field = {name: called_there.get(name, name) for name in COLUMNS}
    place = called(called(chunk.place, "model_a", field["model_a"]), "model_b", field["model_b"])
    readers: Mapping[str, Callable[[], list[str] | None]] = {
        "question_id": lambda: identifiers(chunk, field["question_id"]),
        "domain": lambda: optional(chunk, field["domain"], context.domain, "domain"),
        "model_a": lambda: names(place, "model_a", column(chunk, field["model_a"])),
        "model_b": lambda: names(place, "model_b", column(chunk, field["model_b"])),
        "judge": lambda: optional(chunk, field["judge"], context.judge, "judge"),
        "order": lambda: optional(chunk, "order"),
    }
    read = {name: _per_game(read(), games) for name, read in readers.items() if name not in own}
    winner = [word or TIE for word in words]
    rows = BattleRows(place=replace(place, rows_a_record=games), winner=winner, **{**read, **own})
    return Draft(rows=rows, reasons=[reason if word is None else None for word in words])


def _per_game(values: Sequence[str] | None, games: int) -> Sequence[str] | None:
    return values if values is None or games == 1 else [value for value in values for _ in range(games)]


def _native(chunk: Chunk, context: Context, question: str, words: list[str]) -> Draft:
    weight = _weights(chunk)
    own = {
        "score": scores(chunk.place, column(chunk, "score")) if has(chunk, "score") else None,
        "weight": weight,
        "covariates": _covariates(chunk) if context.covariates else {},
    }
    draft = _draft(chunk, context, words, {"question_id": question}, own)
    reasons = [LeftOut.NO_VERDICT if is_open else None for is_open in _without_verdict(chunk)]
    if not context.named and has(chunk, "anony"):
        for index, value in enumerate(column(chunk, "anony")):
            if str(value).lower() in NOT_ANONYMOUS:
                reasons[index] = LeftOut.NAMED
    for index, count in enumerate(weight or ()):
        if count == 0:
            reasons[index] = LeftOut.ZERO_COUNT
    return replace(draft, reasons=reasons, first=_misplaced(chunk, reasons))


def _misplaced(chunk: Chunk, reasons: list[LeftOut | None]) -> Mapping[LeftOut, InputError]:
    first: dict[LeftOut, InputError] = {}
    if not (has(chunk, "order") and has(chunk, "position")):
        return first
    for index, (order, position) in enumerate(
        zip(column(chunk, "order"), column(chunk, "position"), strict=True)
    ):
        known = [POSITIONS.get(_position(value)) for value in (order, position)]
        if None not in known and known[0] != known[1]:
            reasons[index] = LeftOut.CONTRADICTION
            message = (
                f"{chunk.place.at(index, 'position')}: the position is {position!r}, but the order {order!r} "
                "puts another answer first."
            )
            advice = "Correct one of them, or leave one of the columns out."
            first.setdefault(LeftOut.CONTRADICTION, RecordError(message, advice=advice))
    return first


def _weights(chunk: Chunk) -> list[float | None] | None:
    weight_columns = [name for name in COUNT_COLUMNS if has(chunk, name)]
    if len(weight_columns) > 1:
        missing(chunk.place, 0, weight_columns[0], " Use either weight or count, not both.")
    return (
        counts(chunk.place, weight_columns[0], column(chunk, weight_columns[0])) if weight_columns else None
    )


def _covariates(chunk: Chunk) -> Mapping[str, list[float | None]]:
    """Return the covariates of a chunk by column; `order` replaces a missing `position`."""
    cells: dict[str, list[float | None]] = {}
    for covariate in Covariate:
        for name in covariate_columns(covariate):
            source = "order" if covariate is Covariate.POSITION and not has(chunk, name) else name
            if has(chunk, source):
                values = enumerate(column(chunk, source))
                cells[name] = [_covariate(chunk.place, at, source, covariate, value) for at, value in values]
    return cells


def _position(value: object) -> str:
    return str(value).strip().removesuffix(".0")


def _covariate(place: Place, index: int, name: str, covariate: Covariate, value: object) -> float | None:
    if value is None or value == "":
        return None
    if covariate is Covariate.POSITION:
        if _position(value) not in POSITIONS:
            refuse(place, index, name, value, '"a", "b" or "both" is expected: the first answer')
        return POSITIONS[_position(value)]
    number = as_number(place, index, name, value)
    if number < 0:
        refuse(place, index, name, value, "a count of 0 or more is expected")
    return number


ALPACA_EVAL = {
    "model_a": "generator_1",
    "model_b": "generator_2",
    "question_id": "instruction",
    "domain": "dataset",
    "judge": "annotator",
}
EVEN_PREFERENCE = 1.5
GAMES = 2
STRONG = 3.0
"""Weight of a clear win (`>>`), Arena-Hard's default."""
GRADES: Mapping[str, tuple[int, float]] = MappingProxyType(
    {"A=B": (0, 1.0), "B=A": (0, 1.0)}
    | {
        f"{first}{sign * times}{second}": (won if sign == ">" else -won, weight)
        for first, second, won in (("A", "B", 1), ("B", "A", -1))
        for sign in "><"
        for times, weight in ((2, STRONG), (1, 1.0))
    }
)
"""Result of answer A by grade (1 won, 0 tied, -1 lost), and its weight."""
GAME_WINNERS = ("g1_winner", "g2_winner")
GAME_WORDS = {"model_1": A, "model_2": B, "tie": TIE}
ERROR = "error"
DOMAINS = ("bioasq", "fiqa", "lifestyle", "recreation", "technology", "science", "writing")
_DOMAIN = re.compile(r"\A([a-z]++)_")
_RATING = re.compile(r"<rating>\s*([012])\s*</rating>")
_DIGIT = re.compile(r"\d")
_RATINGS = {"1": A, "2": B, "0": TIE}


def parse_alpaca_eval(chunk: Chunk, context: Context) -> Draft:
    """Translate AlpacaEval's annotations: `generator_1` is `model_a`, instructions are question ids."""
    preferences = [
        _preference(chunk.place, index, value) for index, value in enumerate(column(chunk, "preference"))
    ]
    words = [None if value is None else _word(EVEN_PREFERENCE - value) for value in preferences]
    score = [None if value in {None, 1, EVEN_PREFERENCE, 2} else 2 - value for value in preferences]
    return _draft(chunk, context, words, ALPACA_EVAL, {"score": score}, reason=LeftOut.NO_PREFERENCE)


def _word(sign: float) -> str:
    return A if sign > 0 else B if sign < 0 else TIE


def _preference(place: Place, index: int, value: object) -> float | None:
    """Parse 0 (a tie) or 1…2; None for missing values."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    number = as_number(place, index, "preference", value)
    if number != 0 and not 1 <= number <= 2:  # noqa: PLR2004 - the bounds that the format defines
        refuse(place, index, "preference", value, "0, or a number between 1 and 2, is expected", VerdictError)
    return number or EVEN_PREFERENCE


def parse_arena_hard(chunk: Chunk, context: Context) -> Draft:
    """Translate both games of each of Arena-Hard's lines: `model` is `model_a`, the baseline `model_b`.

    The baseline is A in the first game, the model in the second. `A>>B` counts three times, so that the share
    of wins equals Arena-Hard's score. Games without a grade are left out.
    """
    place = called(chunk.place, "model_b", "baseline")
    grades = [
        grade for index, games in enumerate(column(chunk, "games")) for grade in _grades(place, index, games)
    ]
    if not (has(chunk, "uid") or has(chunk, "question_id")):
        missing(place, 0, "question_id", " Newer files have uid instead.")
    baseline = optional(chunk, "baseline", context.baseline, "model_b") or []
    words = [grade and _word(grade[0] if at % GAMES == 1 else -grade[0]) for at, grade in enumerate(grades)]
    question = "uid" if has(chunk, "uid") else "question_id"
    there = {"model_a": "model", "model_b": "baseline", "domain": "category", "question_id": question}
    own = {
        "model_b": _per_game([name or context.baseline for name in baseline], GAMES),
        "weight": [1.0 if grade is None else grade[1] for grade in grades],
        "order": ["ba", "ab"] * len(chunk.records),
    }
    return _draft(chunk, context, words, there, own, games=GAMES)


def _grades(place: Place, index: int, games: object) -> list[tuple[int, float] | None]:
    if not isinstance(games, list) or len(games) > GAMES:
        refuse(place, index, "games", games, "a list of two games is expected")
    return [_grade(place, index, game) for game in [*games, *[None] * (GAMES - len(games))]]


def _grade(place: Place, index: int, game: object) -> tuple[int, float] | None:
    if game is None:
        return None
    if not isinstance(game, Mapping) or "score" not in game:
        refuse(place, index, "games", game, "a game with a score is expected")
    score = game["score"]
    if score is None or score == "":
        return None
    return _known(place, index, "games", score, GRADES, f"one of {', '.join(GRADES)} is expected")


def _known(
    place: Place, index: int, name: str, value: object, meanings: Mapping[str, Value], expected: str
) -> Value:
    if not isinstance(value, str) or value not in meanings:
        refuse(place, index, name, value, expected, VerdictError)
    return meanings[value]


def parse_mt_bench(chunk: Chunk, context: Context) -> Draft:
    """Translate both games of each of MT-bench's lines; `model_1` comes first in the first game.

    Games with an unreadable reply are left out.
    """
    expected = f"one of {', '.join(GAME_WORDS)}, {ERROR} is expected"
    words = [
        None if value in (None, "", ERROR) else _known(chunk.place, index, name, value, GAME_WORDS, expected)
        for index, record in enumerate(chunk.records)
        for name in GAME_WINNERS
        for value in (record.get(name),)
    ]
    own = {"order": ["ab", "ba"] * len(chunk.records)}
    return _draft(chunk, context, words, {"model_a": "model_1", "model_b": "model_2"}, own, games=GAMES)


def context_of(file_name: str) -> Context:
    """Read domain and judge from a name such as `fiqa_gpt-4o_eval_by_gpt-4-0125-preview.json`."""
    plain = file_name.removesuffix(".gz")
    if not plain.endswith(".json"):
        return Context()
    match = _DOMAIN.match(plain)
    domain = match[1] if match else ""
    _, _, judge = plain[match.end() if match else 0 :].removesuffix(".json").partition("_eval_by_")
    return Context(domain=domain if domain in DOMAINS else "", judge=judge)


def parse_eval(
    chunk: Chunk, context: Context, *, read: Callable[[object], str | None] | None = None
) -> Draft:
    """Translate RAG-QA Arena's `eval_results`; replies without a complete rating are unreadable."""
    place = called(called(chunk.place, "model_a", "order"), "model_b", "order")
    orders = [_order(place, index, value) for index, value in enumerate(column(chunk, "order"))]
    words = [(read or _strict)(reply) for reply in column(chunk, "pred")]
    own = {
        "model_a": names(place, "model_a", [order[0] for order in orders]),
        "model_b": names(place, "model_b", [order[1] for order in orders]),
        "order": ["ab"] * len(words),
    }
    return _draft(
        chunk, context, words, {"model_a": "order", "model_b": "order", "question_id": "query"}, own
    )


def _order(place: Place, index: int, value: object) -> tuple[object, object]:
    if not isinstance(value, Mapping) or not {"1", "2"} <= value.keys():
        refuse(place, index, "order", value, 'an object {"1": system, "2": system} is expected')
    first, second = (str(value[key]).replace("/", "-") for key in ("1", "2"))
    return first, second


def _strict(reply: object) -> str | None:
    ratings = _RATING.findall(reply) if isinstance(reply, str) else []
    return _RATINGS[ratings[-1]] if ratings else None


def published_rating(reply: object) -> str | None:
    """Rate like the published script: the largest of 0, 1, 2 in the rating, else in the reply, else a tie."""
    text = reply if isinstance(reply, str) else ""
    start, end = text.find("<rating>"), text.rfind("</rating>")
    rating = text[start:end] if 0 <= start < end else ""
    scanned = rating if _DIGIT.search(rating) else text
    return _RATINGS[next((digit for digit in "210" if digit in scanned), "0")]


def parse_people(chunk: Chunk, context: Context) -> Draft:
    """Translate RAG-QA Arena's `human_evaluations.json`: one battle per pair, by majority.

    The key of a pair is the question id and the two systems, joined by underscores.
    """
    place = chunk.place
    keys = names(place, "pair", column(chunk, "pair"))
    parts = [key.rsplit("_", 2) for key in keys]
    for index, (key, part) in enumerate(zip(keys, parts, strict=True)):
        if len(part) < len(("question", "model_a", "model_b")) or not all(part):
            refuse(place, index, "pair", key, "QUESTION_MODEL-A_MODEL-B is expected")
    words = [
        _majority(place, index, value, parts[index]) for index, value in enumerate(column(chunk, "majority"))
    ]
    own = {
        "question_id": [part[0] for part in parts],
        "domain": [domain if (domain := key.partition("_")[0]) in DOMAINS else "" for key in keys],
        "model_a": [part[1] for part in parts],
        "model_b": [part[2] for part in parts],
        "judge": ["people"] * len(keys),
        "order": ["ab"] * len(keys),
    }
    return _draft(chunk, context, words, {"model_a": "pair", "model_b": "pair"}, own)


def _majority(place: Place, index: int, value: object, part: list[str]) -> str:
    words = {part[1]: A, part[2]: B, "Tie": TIE}
    if not isinstance(value, str) or value not in words:
        refuse(place, index, "majority", value, f"{part[1]}, {part[2]} or Tie is expected")
    return words[value]


Record = Mapping[str, object]
Writer = Callable[[Iterable[BattleRows], TextIO], None]

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
_FLIPPED: Mapping[str, str] = MappingProxyType({"model_a": "model_b", "model_b": "model_a"})
_REPLIES: Mapping[str, str] = MappingProxyType({"model_a": "1", "model_b": "2"})
NATIVE_ADVICE = "Write native battles, which keep every column."
ADD_COLUMN = "Write native battles, or add the column."
ANNOTATION = ("instruction", "generator_1", "generator_2", "preference", "dataset", "annotator")


def as_lines(records: Callable[[BattleRows], Iterable[Record]]) -> Writer:
    """Return a writer of JSON Lines."""
    return lambda chunks, text: text.writelines(
        f"{_ENCODER.encode(record)}\n" for chunk in chunks for record in records(chunk)
    )


def as_array(records: Callable[[BattleRows], Iterable[Record]]) -> Writer:
    """Return a writer of a JSON array."""

    def write(chunks: Iterable[BattleRows], text: TextIO) -> None:
        every = (record for chunk in chunks for record in records(chunk))
        text.write("[")
        text.writelines(f"{',' if at else ''}\n{_ENCODER.encode(record)}" for at, record in enumerate(every))
        text.write("\n]\n")

    return write


def write_csv(chunks: Iterable[BattleRows], columns: Iterable[str], text: TextIO) -> None:
    """Write native CSV; cells are escaped against formulas."""
    writer = csv.writer(text, lineterminator="\n")
    header = list(columns)
    writer.writerow(map(escape_formula, header))
    for chunk in chunks:
        known, empty = chunk.columns, [""] * len(chunk)
        cells = [map(escape_formula, known.get(name, empty)) for name in header]
        writer.writerows(zip(*cells, strict=True))


def write_columns(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write RAG-QA Arena's `all_battles.json`: lists `model_a`, `model_b`, `winner`, and extra ones."""
    parts = [(chunk.columns, [None] * len(chunk)) for chunk in chunks]
    header = dict.fromkeys(("model_a", "model_b", "winner", *(name for part, _ in parts for name in part)))
    text.write("{")
    for index, name in enumerate(header):
        cells = [cell for part, none in parts for cell in part.get(name, none)]
        text.write(f"{',' if index else ''}\n  {_ENCODER.encode(name)}: {_ENCODER.encode(cells)}")
    text.write("\n}\n")


def records(chunk: BattleRows) -> Iterator[Record]:
    """Yield native records with all columns."""
    columns = chunk.columns
    for cells in zip(*columns.values(), strict=True):
        yield {
            name: cell for name, cell in zip(columns, cells, strict=True) if cell is not None and cell != ""
        }


def _rows(chunk: BattleRows, kind: str, *lacking: str) -> Iterator[dict[str, Any]]:
    """Yield the battles for a format that needs questions and lacks some columns."""
    if chunk.question_id is None and len(chunk):
        message = f"{chunk.place.at(0, 'question_id')}: this format needs the question of each battle."
        raise FileFormatError(message, advice=ADD_COLUMN)
    for name in lacking:
        for index, value in enumerate(getattr(chunk, name) or ()):
            if value not in {None, 1.0} or (name == "score" and value is not None):
                message = f"{chunk.place.at(index, name)}: {kind} battles cannot have the {name} {value}."
                raise FileFormatError(message, advice=NATIVE_ADVICE)
    columns = [getattr(chunk, name) or [None] * len(chunk) for name in COLUMNS]
    for cells in zip(*columns, strict=True):
        yield dict(zip(COLUMNS, cells, strict=True))


def _without_empty(**columns: str | None) -> dict[str, object]:
    return {name: value for name, value in columns.items() if value}


def eval_records(chunk: BattleRows) -> Iterator[Record]:
    """Yield RAG-QA Arena's `eval_results`: the first answer is 1, and the reply contains only the rating."""
    for row in _rows(chunk, "rag-qa-arena-eval", "score", "weight"):
        first, second, word = row["model_a"], row["model_b"], row["winner"]
        if row["order"] == "ba":
            first, second, word = second, first, _FLIPPED.get(word, word)
        yield {
            "query": row["question_id"],
            "order": {"1": first, "2": second},
            "pred": f"<rating>{_REPLIES.get(word, '0')}</rating>",
        } | _without_empty(domain=row["domain"], judge=row["judge"])


def annotations(chunk: BattleRows) -> Iterator[Record]:
    """Yield AlpacaEval's annotations: `model_a` is `generator_1`, a soft score the preference."""
    further = {name: cells for name, cells in chunk.further.items() if name not in ANNOTATION}
    for index, row in enumerate(_rows(chunk, "alpaca-eval", "weight")):
        own = {
            "instruction": row["question_id"],
            "generator_1": row["model_a"],
            "generator_2": row["model_b"],
            "preference": 2 - (share_of(row["winner"]) if row["score"] is None else row["score"]),
        } | _without_empty(dataset=row["domain"], annotator=row["judge"], order=row["order"])
        yield own | {name: cells[index] for name, cells in further.items() if cells[index] is not None}


def write_games(chunks: Iterable[BattleRows], text: TextIO) -> None:
    """Write Arena-Hard's judgments: `model_a` is the model, `model_b` the baseline, one line for both orders.

    Lines are collected in memory, since the two games may be far apart.
    """
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for chunk in chunks:
        for index, row in enumerate(_rows(chunk, "arena-hard", "score")):
            _add_game(lines, row, chunk.place, index)
    text.writelines(f"{_ENCODER.encode(line)}\n" for line in lines.values())


def _add_game(
    lines: dict[tuple[str, ...], dict[str, Any]], row: Mapping[str, Any], place: Place, index: int
) -> None:
    if row["order"] not in {"ab", "ba"}:
        message = f"{place.at(index, 'order')}: arena-hard needs the order of each game, ab or ba."
        raise FileFormatError(message, advice=ADD_COLUMN)
    uid, model, baseline = row["question_id"], row["model_a"], row["model_b"]
    fresh = (
        {"uid": uid}
        | _without_empty(category=row["domain"], judge=row["judge"])
        | {"model": model, "baseline": baseline, "games": [None] * GAMES}
    )
    games = lines.setdefault((uid, model, baseline, row["judge"] or ""), fresh)["games"]
    game = 1 if row["order"] == "ab" else 0
    if games[game] is not None:
        message = f"{place.at(index)}: the game of {model} and {baseline} in this order appears twice."
        raise FileFormatError(message, advice="Remove one; Arena-Hard has one game per order.")
    won = {WinnerWord.A: 1, WinnerWord.B: -1}.get(WinnerWord(row["winner"]), 0)
    weight = 1.0 if row["weight"] is None else row["weight"]
    grade = (won if game == 1 else -won, weight)
    name = next((name for name in ("A>>B", "A>B", "A=B", "B>A", "B>>A") if GRADES[name] == grade), None)
    if name is None:
        message = f"{place.at(index, 'weight')}: arena-hard has no grade that counts {weight:g} times."
        raise FileFormatError(message, advice=NATIVE_ADVICE)
    games[game] = {"score": name}
