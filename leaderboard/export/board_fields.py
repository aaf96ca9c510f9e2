"""What the fields of a board's files mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

STANDINGS_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "board": "The board whose standings these are",
        "content_sha256": "The hash that names exactly these standings",
        "domain": "The domain's id; overall is all together",
        "system": "The system's name",
        "rating": "Rating on the Elo scale; empty where there is none",
        "se": "Standard error of the rating",
        "lower, upper": "The ends of the rating's 95 % interval",
        "rank": "Place by rating",
        "rank_lower, rank_upper": "The best and the worst place that the battles leave open (95 %)",
        "tie_group": "1 for the leader and all whom the battles do not separate from it, then 2, …",
        "letters": "Two systems of a component share a letter exactly where the battles do not separate them",
        "component": "Group of systems that can be compared with each other, 0 for the main one",
        "flags": "What a reader must know of the rating, such as never_wins",
        "battles": "Judged battles, against the reference where there is one; empty in the reference's own "
        "row, and so are the rates",
        "wins, ties, losses": "How these battles ended for the system",
        "questions": "On how many questions these battles are",
        "win_rate": "Share of battles won",
        "win_lower, win_upper": "The ends of that share's 95 % interval",
        "win_tie_rate": "Share of battles won or tied",
        "win_tie_lower, win_tie_upper": "The ends of that share's 95 % interval",
        "mean_score": "Mean share of the win, a tie being a half",
        "standard_error": "Standard error of the mean share of the win",
        "clustered_error": "The same, counting the battles of a question together",
        "answers": "Answers of the system",
        "no_answer_share": "Share of its answers that say that none was found",
        "median_words": "Median length of the answers",
        "comprehensiveness…": "Mean share of the yardstick's statements covered, 0–1, with its bounds",
        "organisation": "Who runs the system, as its team says; empty where it says nothing",
        "model": "The LLM that it uses, as its team says",
        "licence": "The system's licence, as its team says",
        "link": "Where more of it is to be read, as its team says",
        "open_weights": "Whether its weights are open, as its team says",
        "parameters, parameter_count": "How many parameters it has, as its team says, and as a number",
        "released": "When it was released, as its team says",
        "tokens, usd, milliseconds": "Mean over the answers that report it",
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
        "tokens": "tokens per answer",
        "usd": "US dollars per answer",
        "milliseconds": "milliseconds per answer",
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
