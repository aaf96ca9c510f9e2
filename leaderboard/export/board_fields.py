"""What the fields of a board's files mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

STANDINGS_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "board, content_sha256": "Whose standings these are, and the hash that names exactly these",
        "domain, system": "The domain's id (overall: all together) and the system's name",
        "rating, se, lower, upper": "Points on the Elo scale, standard error, 95 % interval; empty if none",
        "rank, rank_lower, rank_upper": "Rank, and the best and worst that the battles leave open (95 %)",
        "tie_group": "1 for the leader and all whom the battles do not separate from it, then 2, …",
        "letters": "Two systems of a component share a letter exactly where the battles do not separate them",
        "component, flags": "Group of comparable systems, and what a reader must know, such as never_wins",
        "battles, wins, ties, losses": "Counts of judged battles, against the reference where there is one; "
        "empty in the reference's own row, and so are the rates",
        "questions": "On how many questions",
        "win_rate, win_lower, win_upper": "Share of battles won, 0–1, and its 95 % interval",
        "win_tie_rate, win_tie_lower, win_tie_upper": "Share of battles won or tied, 0–1, and its interval",
        "mean_score, standard_error": "Mean share of the win, a tie being a half, and its standard error",
        "answers, no_answer_share": "Answers, and the share that says that none was found, 0–1",
        "median_words": "Median length of the answers in words",
        "clustered_error": "Standard error of the mean score, counting the battles of a question together",
        "comprehensiveness…": "Mean share of the yardstick's statements covered, 0–1, with its bounds",
        "organisation, model, licence, link": "As the team says of its system; empty where it says nothing",
        "open_weights, parameters, released, parameter_count": "Likewise",
        "tokens, usd, milliseconds": "Mean of an answer, as the answers report it",
        "tokens_answers, usd_answers, milliseconds_answers": "On how many answers that mean rests",
    }
)

BATTLE_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "question_id, domain": "Which question, in which domain",
        "model_a, model_b": "The two systems; the reference takes part under its own name",
        "winner": "model_a, model_b or tie; battles without a verdict are left out and counted on the board",
        "score": "Share of the win that model_a gets, 0–1, where the judge gives degrees",
    }
)


SHARES = ("win_rate", "win_lower", "win_upper", "win_tie_rate", "win_tie_lower", "win_tie_upper")
UNITS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("rating", "se", "lower", "upper"), "points"),
        **dict.fromkeys(("rank", "rank_lower", "rank_upper"), "place"),
        **dict.fromkeys(("tie_group", "component"), "number"),
        **dict.fromkeys(("battles", "wins", "ties", "losses", "questions", "answers"), "count"),
        **dict.fromkeys(SHARES, "share, 0–1"),
        **dict.fromkeys(("mean_score", "standard_error", "clustered_error"), "share, 0–1"),
        "no_answer_share": "share, 0–1",
        "median_words": "words",
        "parameter_count": "parameters",
        "tokens": "tokens an answer",
        "usd": "US dollars an answer",
        "milliseconds": "milliseconds an answer",
        "score": "share, 0–1",
    }
)
"""Units of columns by name; those of texts have none."""
PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "corrected_": "As votes of people correct it",
        "people_": "By votes of people alone",
        "judge_": "With the error of the judge, asked again",
        "all_": "With every error together",
        "error_": "Standard deviation by its source",
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file: its name, what its values are, their unit, and what they mean."""

    name: str
    kind: str
    unit: str
    meaning: str


KINDS: Mapping[type, str] = MappingProxyType({str: "text", int: "integer", float: "number"})


def columns_of(names: Iterable[str], kind_of: Callable[[str], type]) -> tuple[Column, ...]:
    """The columns of a standings file by their names."""
    said = meanings(STANDINGS_FIELDS)
    return tuple(
        Column(name, KINDS[kind_of(name)], "" if kind_of(name) is str else _unit(name), _meaning(name, said))
        for name in names
    )


def _unit(name: str) -> str:
    if name in UNITS:
        return UNITS[name]
    if name.startswith("error_"):
        return "points"
    if name.endswith("_answers"):
        return "count"
    prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), "")
    return UNITS.get(name.removeprefix(prefix), "share, 0–1")


def _meaning(name: str, said: Mapping[str, str]) -> str:
    if name in said:
        return said[name]
    prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), "")
    if prefix:
        base = said.get(name.removeprefix(prefix), "")
        return ": ".join(filter(None, (PREFIXES[prefix], base)))
    bound = next((bound for bound in ("lower", "upper") if name.endswith(f"_{bound}")), "")
    if bound:
        return f"The {bound} end of its 95 % interval"
    return "Mean of this metric over the answers"


def meanings(fields: Mapping[str, str]) -> Mapping[str, str]:
    """The same by single field: what stands together above shares a meaning."""
    return {name: meaning for names, meaning in fields.items() for name in names.split(", ")}
