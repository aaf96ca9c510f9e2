"""What a board says of its leader and of each system, in sentences and named figures."""

from __future__ import annotations

from collections.abc import Sequence

from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.trust.control_figures import LABELS
from arena.site.ui.formats import interval_of_points, interval_of_shares, percent, points, whole
from leaderboard.vocabulary import ErrorKind


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
    source = "As people would say, " if view.is_by_people else _counted(view, domain)
    opening = f"{source}{control}{leader.system} leads{where} with {value}."
    close = [line.system for line in rest if not view.separated(leader, line, domain)]
    if close:
        return (
            f"{opening} {_evidence(view)} do not separate it from {listed(close)}."
            f"{_beside(view, domain, leader)}"
        )
    if not rest:
        return opening
    what = _evidence(view).lower()
    real = f"The lead is statistically significant: {what} separate it from every other system."
    return f"{opening} {real}{_beside(view, domain, leader)}"


def _counted(view: BoardView, domain: str) -> str:
    """What the intervals count beside the questions."""
    if domain != OVERALL or view.error_kind is ErrorKind.QUESTIONS:
        return ""
    return "With full error, " if view.error_kind is ErrorKind.ALL else "With the judge's own error, "


def leading_shortly(view: BoardView, domain: str) -> str:
    """Who leads a domain and whether it is certain, in as few words as there are."""
    lines = view.competitors(domain)
    if not lines or (lines[0].rating or lines[0].win_tie) is None:
        return "Nothing is known of who leads."
    leader, *rest = lines
    close = [line.system for line in rest if not view.separated(leader, line, domain)]
    if not rest:
        return f"{leader.system} is alone."
    if not close:
        return f"{leader.system} leads, separated from every other."
    return f"{leader.system} leads, not separated from {listed(close, 1)}."


def judged(view: BoardView) -> str:
    """What board this is: by which judge, on which day, on how many questions and battles."""
    battles = f"{whole(view.battles)} battles"
    on = "an unknown number of questions" if view.questions is None else f"{whole(view.questions)} questions"
    judge = f"Judged by {view.judge}" if view.judge else "Judged"
    day = f" on {view.judged_on}" if view.judged_on else f", published on {view.published}"
    return f"{view.title}. {judge}{day}: {battles} on {on}."


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


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence; of more than `most`, how many others there are."""
    if len(names) == 1:
        return names[0]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def named_once(name: str, more: str) -> str:
    """A name with more of what it is in brackets; once where both are the same."""
    return name if more in {"", name} else f"{name} ({more})"


def standing(view: BoardView, system: str) -> str:
    """Where one system stands, in a sentence or two."""
    line = view.line(system)
    if line is None or line.rating is None:
        return f"{system} has no rating on this board."
    comma = "," if line.system in {one.system for one in view.competitors()} else ":"
    rating = f"rating {points(line.rating.value)} ({interval_of_points(line.rating)})"
    return f"{place_of(view, system)}{comma} {rating}. {separation(view, line)}"


def place_of(view: BoardView, system: str) -> str:
    """The places that the battles leave a system, without the dot at the end; the reference has none."""
    competitors = {one.system: one for one in view.competitors()}
    if system not in competitors:
        return "The reference, which the systems are held against and which takes no rank"
    return f"Rank {competitors[system].rank} of {len(competitors)} systems"


def separation(view: BoardView, line: Line) -> str:
    """From which systems the battles do not separate one, in a sentence."""
    others = [other for other in view.lines[OVERALL] if other is not line]
    peers = [other.system for other in others if not view.separated(line, other, OVERALL)]
    if not peers:
        return "The battles separate it from every other system."
    return f"The battles do not separate it from {listed(peers)}."


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
