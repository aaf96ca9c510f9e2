"""Battles as the public arenas write them: AlpacaEval, Arena-Hard, MT-bench and RAG-QA Arena.

Sources: AlpacaEval (Li et al., 2023), `metrics.get_winrate`; Arena-Hard-Auto (Li et al., 2024), its
`show_result`; Zheng et al. (2023), FastChat's `play_a_match_pair`; Han et al. (2024), their
`report_results`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from leaderboard.battles import WinnerWord
from leaderboard.formats.rows import (
    BattleRows,
    Context,
    Draft,
    LeftOut,
    Place,
    VerdictError,
    as_number,
    missing,
    names,
    refuse,
)
from leaderboard.formats.sources import Chunk, called, column, has, identifiers, judges, optional

A, B, TIE = WinnerWord.A.value, WinnerWord.B.value, WinnerWord.TIE.value
EVEN_PREFERENCE = 1.5
GAMES = 2
STRONG = 3.0
"""Weight of a clear win (`>>`), Arena-Hard's default."""
GRADES: Mapping[str, tuple[int, float]] = MappingProxyType(
    {
        "A>>B": (1, STRONG),
        "A>B": (1, 1.0),
        "A=B": (0, 1.0),
        "B>A": (-1, 1.0),
        "B>>A": (-1, STRONG),
        "A<B": (-1, 1.0),
        "A<<B": (-1, STRONG),
        "B=A": (0, 1.0),
        "B<A": (1, 1.0),
        "B<<A": (1, STRONG),
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
    place = called(called(chunk.place, "model_a", "generator_1"), "model_b", "generator_2")
    preferences = [
        _preference(place, index, value) for index, value in enumerate(column(chunk, "preference"))
    ]
    rows = BattleRows(
        place=place,
        question_id=identifiers(chunk, "instruction"),
        domain=optional(chunk, "dataset", context.domain, "domain"),
        model_a=names(place, "model_a", column(chunk, "generator_1")),
        model_b=names(place, "model_b", column(chunk, "generator_2")),
        winner=[
            TIE if value in {None, EVEN_PREFERENCE} else A if value < EVEN_PREFERENCE else B
            for value in preferences
        ],
        score=[None if value in {None, 1, EVEN_PREFERENCE, 2} else 2 - value for value in preferences],
        judge=judges(chunk, "annotator", context.judge),
        order=optional(chunk, "order"),
    )
    reasons = [LeftOut.NO_PREFERENCE if value is None else None for value in preferences]
    return Draft(rows=rows, reasons=reasons)


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
    place = called(called(chunk.place, "model_a", "model"), "model_b", "baseline")
    grades = [
        grade for index, games in enumerate(column(chunk, "games")) for grade in _grades(place, index, games)
    ]
    baseline = optional(chunk, "baseline", context.baseline, "model_b") or []
    question = identifiers(chunk, "uid") if has(chunk, "uid") else identifiers(chunk, "question_id")
    if question is None:
        missing(place, 0, "question_id", " Newer files have uid instead.")
    rows = BattleRows(
        place=replace(place, rows_a_record=GAMES),
        question_id=_per_game(question),
        domain=_per_game(optional(chunk, "category", context.domain, "domain")),
        model_a=_per_game(names(place, "model_a", column(chunk, "model"))) or [],
        model_b=_per_game([name or context.baseline for name in baseline]) or [],
        winner=[
            TIE if grade is None or grade[0] == 0 else A if (grade[0] > 0) == (at % GAMES == 1) else B
            for at, grade in enumerate(grades)
        ],
        weight=[1.0 if grade is None else grade[1] for grade in grades],
        judge=_per_game(judges(chunk, "judge", context.judge)),
        order=["ba", "ab"] * len(chunk.records),
    )
    return Draft(rows=rows, reasons=[LeftOut.UNREADABLE if grade is None else None for grade in grades])


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
    if not isinstance(score, str) or score not in GRADES:
        refuse(place, index, "games", score, f"one of {', '.join(GRADES)} is expected", VerdictError)
    return GRADES[score]


def _per_game(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else [value for value in values for _ in range(GAMES)]


def parse_mt_bench(chunk: Chunk, context: Context) -> Draft:
    """Translate both games of each of MT-bench's lines; `model_1` comes first in the first game.

    Games with an unreadable reply are left out.
    """
    place = called(called(chunk.place, "model_a", "model_1"), "model_b", "model_2")
    games = list(zip(*(column(chunk, name) for name in GAME_WINNERS), strict=True))
    words = [
        _game_word(chunk.place, index, name, value)
        for index, game in enumerate(games)
        for name, value in zip(GAME_WINNERS, game, strict=True)
    ]
    rows = BattleRows(
        place=replace(place, rows_a_record=GAMES),
        question_id=_per_game(identifiers(chunk, "question_id")),
        domain=_per_game(optional(chunk, "domain", context.domain)),
        model_a=_per_game(names(place, "model_a", column(chunk, "model_1"))) or [],
        model_b=_per_game(names(place, "model_b", column(chunk, "model_2"))) or [],
        winner=[word or TIE for word in words],
        judge=_per_game(judges(chunk, "judge", context.judge)),
        order=["ab", "ba"] * len(games),
    )
    return Draft(rows=rows, reasons=[LeftOut.UNREADABLE if word is None else None for word in words])


def _game_word(place: Place, index: int, name: str, value: object) -> str | None:
    if value is None or value in ("", ERROR):
        return None
    if not isinstance(value, str) or value not in GAME_WORDS:
        refuse(
            place, index, name, value, f"one of {', '.join(GAME_WORDS)}, {ERROR} is expected", VerdictError
        )
    return GAME_WORDS[value]


def context_of(file_name: str) -> Context:
    """Read domain and judge from a name such as `fiqa_gpt-4o_eval_by_gpt-4-0125-preview.json`."""
    plain = file_name.removesuffix(".gz")
    if not plain.endswith(".json"):
        return Context()
    match = _DOMAIN.match(plain)
    domain = match[1] if match else ""
    _, _, judge = plain[match.end() if match else 0 :].removesuffix(".json").partition("_eval_by_")
    return Context(domain=domain if domain in DOMAINS else "", judge=judge)


def parse_eval_strict(chunk: Chunk, context: Context) -> Draft:
    """Translate RAG-QA Arena's `eval_results`; replies without a complete rating are unreadable."""
    return _parse_eval(chunk, context, _strict)


def parse_eval_compat(chunk: Chunk, context: Context) -> Draft:
    """Translate `eval_results` like the published script, which counts failures as ties."""
    return _parse_eval(chunk, context, _compat)


def _parse_eval(chunk: Chunk, context: Context, read: Callable[[object], str | None]) -> Draft:
    place = called(called(chunk.place, "model_a", "order"), "model_b", "order")
    orders = [_order(place, index, value) for index, value in enumerate(column(chunk, "order"))]
    words = [read(reply) for reply in column(chunk, "pred")]
    rows = BattleRows(
        place=place,
        question_id=identifiers(chunk, "query"),
        domain=optional(chunk, "domain", context.domain),
        model_a=names(place, "model_a", [order[0] for order in orders]),
        model_b=names(place, "model_b", [order[1] for order in orders]),
        winner=[word or TIE for word in words],
        judge=judges(chunk, "judge", context.judge),
        order=["ab"] * len(words),
    )
    return Draft(rows=rows, reasons=[LeftOut.UNREADABLE if word is None else None for word in words])


def _order(place: Place, index: int, value: object) -> tuple[object, object]:
    if not isinstance(value, Mapping) or not {"1", "2"} <= value.keys():
        refuse(place, index, "order", value, 'an object {"1": system, "2": system} is expected')
    first, second = (str(value[key]).replace("/", "-") for key in ("1", "2"))
    return first, second


def _strict(reply: object) -> str | None:
    ratings = _RATING.findall(reply) if isinstance(reply, str) else []
    return _RATINGS[ratings[-1]] if ratings else None


def _compat(reply: object) -> str | None:
    """Return the largest of 0, 1, 2 in the rating, or without one in the whole reply."""
    text = reply if isinstance(reply, str) else ""
    start, end = text.find("<rating>"), text.rfind("</rating>")
    rating = text[start:end] if 0 <= start < end else ""
    scanned = rating if _DIGIT.search(rating) else text
    return _RATINGS[next((digit for digit in "210" if digit in scanned), "0")]


def parse_people(chunk: Chunk, _context: Context) -> Draft:
    """Translate RAG-QA Arena's `human_evaluations.json`: one battle per pair, by majority.

    The key of a pair is the question id and the two systems, joined by underscores.
    """
    place = chunk.place
    keys = names(place, "pair", column(chunk, "pair"))
    parts = [key.rsplit("_", 2) for key in keys]
    for index, (key, part) in enumerate(zip(keys, parts, strict=True)):
        if len(part) < len(("question", "model_a", "model_b")) or not all(part):
            refuse(place, index, "pair", key, "QUESTION_MODEL-A_MODEL-B is expected")
    rows = BattleRows(
        place=called(called(place, "model_a", "pair"), "model_b", "pair"),
        question_id=[part[0] for part in parts],
        domain=[domain if (domain := key.partition("_")[0]) in DOMAINS else "" for key in keys],
        model_a=[part[1] for part in parts],
        model_b=[part[2] for part in parts],
        winner=[
            _majority(place, index, value, parts[index])
            for index, value in enumerate(column(chunk, "majority"))
        ],
        judge=["people"] * len(keys),
        order=["ab"] * len(keys),
    )
    return Draft(rows=rows)


def _majority(place: Place, index: int, value: object, part: list[str]) -> str:
    words = {part[1]: A, part[2]: B, "Tie": TIE}
    if not isinstance(value, str) or value not in words:
        refuse(place, index, "majority", value, f"{part[1]}, {part[2]} or Tie is expected")
    return words[value]
