"""RAG-QA Arena's `eval_results`: one file a domain and pair, a record a question; and people's majorities.

`order` says which system was shown as answer 1 and 2, `pred` is the judge's reply with
`<rating>1|2|0</rating>`; domain and judge stand in the file's name. The strict reading takes a
complete rating alone and counts every other reply as unreadable. The compatible one reads as the
published script does: the largest of 0, 1, 2 found anywhere in the rating (in the whole reply where
there is none), and anything else, failed calls included, as a tie.

Source: Han et al. (2024), the repository's `report_results`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from leaderboard.battles import WinnerWord
from leaderboard.formats.cells import names, refuse
from leaderboard.formats.fields import called, column, identifiers, judges, optional
from leaderboard.formats.places import Place
from leaderboard.formats.rows import BattleRows, Context, Draft, LeftOut
from leaderboard.formats.sources import Chunk

DOMAINS = ("bioasq", "fiqa", "lifestyle", "recreation", "technology", "science", "writing")

_DOMAIN = re.compile(r"\A([a-z]++)_")
_RATING = re.compile(r"<rating>\s*([012])\s*</rating>")
_DIGIT = re.compile(r"\d")
_WORDS = {"1": WinnerWord.A.value, "2": WinnerWord.B.value, "0": WinnerWord.TIE.value}


def context_of(file_name: str) -> Context:
    """Read domain and judge from a name such as `fiqa_gpt-4o_eval_by_gpt-4-0125-preview.json`."""
    plain = file_name.removesuffix(".gz")
    if not plain.endswith(".json"):
        return Context(domain="", judge="")
    match = _DOMAIN.match(plain)
    domain = match[1] if match else ""
    _, _, judge = plain[match.end() if match else 0 :].removesuffix(".json").partition("_eval_by_")
    return Context(domain=domain if domain in DOMAINS else "", judge=judge)


def parse_strict(chunk: Chunk, context: Context) -> Draft:
    """Translate records; a reply without one complete rating is unreadable."""
    return _parse(chunk, context, _strict)


def parse_compat(chunk: Chunk, context: Context) -> Draft:
    """Translate records as the published script does; nothing is left out, failures are ties."""
    return _parse(chunk, context, _compat)


def parse_people(chunk: Chunk, _context: Context) -> Draft:
    """Translate `human_evaluations.json`: a battle a pair, won by whom most people name.

    The key of a pair is its question's id and the two systems, joined by underscores; as in the published
    script the last two parts are the systems.
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
    return Draft(rows=rows, reasons=[None] * len(keys))


def _majority(place: Place, index: int, value: object, part: list[str]) -> str:
    words = {part[1]: WinnerWord.A.value, part[2]: WinnerWord.B.value, "Tie": WinnerWord.TIE.value}
    if not isinstance(value, str) or value not in words:
        refuse(place, index, "majority", value, f"{part[1]}, {part[2]} or Tie is expected")
    return words[value]


def _parse(chunk: Chunk, context: Context, read: Callable[[object], str | None]) -> Draft:
    place = called(called(chunk.place, "model_a", "order"), "model_b", "order")
    orders = [_order(place, index, value) for index, value in enumerate(column(chunk, "order"))]
    words = [read(reply) for reply in column(chunk, "pred")]
    rows = BattleRows(
        place=place,
        question_id=identifiers(chunk, "query"),
        domain=optional(chunk, "domain", context.domain),
        model_a=names(place, "model_a", [order[0] for order in orders]),
        model_b=names(place, "model_b", [order[1] for order in orders]),
        winner=[word or WinnerWord.TIE.value for word in words],
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
    """The last complete rating."""
    ratings = _RATING.findall(reply) if isinstance(reply, str) else []
    return _WORDS[ratings[-1]] if ratings else None


def _compat(reply: object) -> str | None:
    text = reply if isinstance(reply, str) else ""
    start, end = text.find("<rating>"), text.rfind("</rating>")
    rating = text[start:end] if 0 <= start < end else ""
    scanned = rating if _DIGIT.search(rating) else text
    digit = next((digit for digit in "210" if digit in scanned), "0")
    return _WORDS[digit]
