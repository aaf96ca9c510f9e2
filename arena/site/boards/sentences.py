"""What a board says of its leader and of each system, in sentences and named figures."""

from __future__ import annotations

from collections.abc import Sequence

from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.trust.control_figures import LABELS
from arena.site.ui.formats import interval_of_points, interval_of_shares, percent, points, whole


def headline(view: BoardView, domain: str) -> str:
    """What readers see beside the title: how little was judged where that is so, then who leads."""
    return f"{view.partial} {leading(view, domain)}".strip()


def leading(view: BoardView, domain: str) -> str:
    """Who leads, and whether the lead is statistically significant, in one or two sentences."""
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
    elif view.is_by_people:
        return "Votes say nothing of these battles: none of them was put to people."
    else:
        return f"{leader.system} stands first, without a rating."
    where = "" if domain == OVERALL else f" in {view.label(domain)}"
    control = (
        f"Controlled for {LABELS[view.controlled_for]}, "
        if view.controlled_for is not None and domain == OVERALL
        else ""
    )
    source = "As people would say, " if view.is_by_people else ""
    opening = f"{source}{control}{leader.system} leads{where} with {value}."
    close = [line.system for line in rest if not view.separated(leader, line, domain)]
    if close:
        return (
            f"{opening} {_evidence(view)} do not separate it from {_listed(close)}."
            f"{_beside(view, domain, leader)}"
        )
    if not rest:
        return opening
    what = _evidence(view).lower()
    real = f"The lead is statistically significant: {what} separate it from every other system."
    return f"{opening} {real}{_beside(view, domain, leader)}"


def _evidence(view: BoardView) -> str:
    return "The votes" if view.is_by_people else "The battles"


def _beside(view: BoardView, domain: str, leader: Line) -> str:
    """How the leader stands to the reference."""
    reference = view.line(view.reference, domain)
    if reference is None or reference.rating is None or leader.rating is None:
        return ""
    if not view.separated(leader, reference, domain):
        return f" They do not separate it from {view.the_reference}."
    above = leader.rating.value > reference.rating.value
    return f" It stands {'above' if above else 'below'} {view.the_reference}."


def _listed(names: Sequence[str], most: int = 3) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def standing(view: BoardView, system: str) -> str:
    """Where one system stands, in a sentence or two."""
    line = view.line(system)
    if line is None or line.rating is None:
        return f"{system} has no rating on this board."
    others = [other for other in view.lines[OVERALL] if other is not line]
    peers = [other.system for other in others if not view.separated(line, other, OVERALL)]
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
    rates, against = line.own_rates, ", against all systems" if line.is_reference else ""
    figures = (
        (f"Win rate{against}", rates.win and percent(rates.win.value)),
        (f"Win + tie rate{against}", rates.win_tie and percent(rates.win_tie.value)),
        ("Comprehensiveness", line.comprehensiveness and percent(line.comprehensiveness.value)),
        ("Factual precision", line.factuality and percent(line.factuality.value)),
        ("No answer", None if line.no_answer is None else percent(line.no_answer)),
        ("Median words", None if line.words is None else whole(line.words)),
        ("Battles behind the rating", whole(line.battles)),
        ("Battles behind the rates", whole(rates.battles)),
        ("Answers", whole(line.answers) if line.answers else None),
    )
    return tuple((label, value) for label, value in figures if value)
