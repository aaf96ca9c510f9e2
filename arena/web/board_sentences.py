"""What a board says of its leader and of each system, in sentences and named figures."""

from __future__ import annotations

from collections.abc import Sequence

from arena.web.figures import interval_of_points, interval_of_shares, percent, points, whole
from arena.web.views import OVERALL, BoardView, Line


def leading(view: BoardView, domain: str) -> str:
    """Who leads, and whether the lead is real, in one or two sentences."""
    lines = [line for line in view.lines.get(domain, ()) if not line.is_reference]
    if not lines:
        return "No system has been judged here."
    leader, *rest = lines
    if leader.rating is not None:
        value = f"a rating of {points(leader.rating.value)} ({interval_of_points(leader.rating)})"
    elif leader.win_tie is not None:
        value = (
            f"{percent(leader.win_tie.value)} of its battles not lost ({interval_of_shares(leader.win_tie)})"
        )
    else:
        return f"{leader.system} stands first, without a rating."
    where = "" if domain == OVERALL else f" in {view.label(domain)}"
    opening = f"{leader.system} leads{where} with {value}."
    close = [line.system for line in rest if not _apart(leader, line)]
    if close:
        return (
            f"{opening} The battles do not separate it from {_listed(close)}.{_beside(view, domain, leader)}"
        )
    if not rest:
        return opening
    real = "The lead is real: the battles separate it from every other system."
    return f"{opening} {real}{_beside(view, domain, leader)}"


def _beside(view: BoardView, domain: str, leader: Line) -> str:
    """How the leader stands to the human-written reference."""
    reference = view.line(view.reference, domain)
    if reference is None or reference.is_reference is leader.is_reference:
        return ""
    if not _apart(leader, reference) and not _apart(reference, leader):
        return " They do not separate it from the human-written reference."
    ours, theirs = leader.rating or leader.win_tie, reference.rating or reference.win_tie
    above = ours is not None and theirs is not None and ours.value > theirs.value
    return f" It stands {'above' if above else 'below'} the human-written reference."


def _apart(leader: Line, other: Line) -> bool:
    """Whether the battles separate two systems: by tie groups, else by intervals that do not overlap."""
    if leader.tie_group is not None and other.tie_group is not None:
        return leader.tie_group != other.tie_group
    ours, theirs = leader.rating or leader.win_tie, other.rating or other.win_tie
    return ours is not None and theirs is not None and ours.span[0] > theirs.span[1]


def _listed(names: Sequence[str], most: int = 3) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def standing(view: BoardView, system: str) -> str:
    """Where one system stands, in a sentence or two."""
    line = view.line(system)
    if line is None or line.rating is None:
        return f"{system} has no rating on this board."
    peers = [one.system for one in view.lines[OVERALL] if one.tie_group == line.tie_group and one is not line]
    place = f"Rank {line.rank} of {len(view.systems)}, rating {points(line.rating.value)}"
    opening = f"{place} ({interval_of_points(line.rating)})."
    if not peers:
        return f"{opening} The battles separate it from every other system."
    return f"{opening} The battles do not separate it from {_listed(peers)}."


def record_of(view: BoardView, system: str) -> tuple[tuple[str, str], ...]:
    """One system's figures, with what they are; what is not known is left out."""
    line = view.line(system)
    if line is None:
        return ()
    figures = (
        ("Win rate", line.win and percent(line.win.value)),
        ("Win + tie rate", line.win_tie and percent(line.win_tie.value)),
        ("Comprehensiveness", line.comprehensiveness and percent(line.comprehensiveness.value)),
        ("Factual precision", line.factuality and percent(line.factuality.value)),
        ("No answer", None if line.no_answer is None else percent(line.no_answer)),
        ("Median words", None if line.words is None else whole(line.words)),
        ("Battles behind the rating", whole(line.battles)),
        ("Battles behind the rates", whole(line.rate_battles)),
        ("Answers", whole(line.answers) if line.answers else None),
    )
    return tuple((label, value) for label, value in figures if value)
