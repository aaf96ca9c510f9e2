"""Sentences and figures on a board's leader and systems."""

from __future__ import annotations

from collections.abc import Sequence

from arena.formats import Bounded, ends_of, interval_of, points, range_of, whole
from arena.models.boards import OVERALL, BoardView, Check, Line
from arena.services.boards.metric_columns import usual_metrics
from data.text import are, counted, percent
from leaderboard.paired import Deciding
from leaderboard.rates import Rate
from leaderboard.ratings.ranks import is_separated
from leaderboard.standings.grid import FEW_QUESTIONS
from leaderboard.vocabulary import COMMON_QUESTIONS_NOTE

NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def opening(view: BoardView, domain: str) -> str:
    """Describe a board, or a domain of it, in one sentence."""
    count = len(view.competitors(domain))
    systems = _many(count, "system").capitalize()
    where = f"in {view.label(domain)}" if domain != OVERALL else ""
    if domain == OVERALL and len(view.grid.domains) > 1:
        where = f"in {_many(len(view.grid.domains), 'domain')}"
    if view.questions is None:
        return f"{systems} {where}".rstrip() + ", from published counts of verdicts."
    questions = view.questions if domain == OVERALL else view.grid.questions(domain)
    what = f"{systems} answered {counted(questions, 'question')} {where}".rstrip()
    reference = f"with {view.the_reference}" if view.line(view.reference) else ""
    met = count > 1 and ("pairs", "reference") not in view.facts
    how = ", and ".join(filter(None, ("in pairs" if met or not reference else "", reference)))
    return f"{what}; an automatic judge compared {'their' if count > 1 else 'its'} answers {how}."


def _many(count: int, noun: str) -> str:
    text = counted(count, noun)
    return text.replace(str(count), NUMBERS[count]) if count < len(NUMBERS) else text


def headline(view: BoardView, domain: str) -> str:
    """Return the text below the title: a note on a partial board, then the leader."""
    notes = (view.partial, leading(view, domain), COMMON_QUESTIONS_NOTE if view.skips else "")
    return " ".join(filter(None, (*notes, view.domain_notes.get(domain, ""))))


def grounds(view: BoardView, domain: str) -> tuple[Check, ...]:
    """Return the checks behind the headline: sampling, and overall the board's checks."""
    placed = [line for line in view.competitors(domain) if not line.unranked and not line.unjudged]
    if len(placed) < MIN_RIVALS:
        return view.checks if domain == OVERALL else ()
    close, _ = _rivals(placed[0], placed[1:])
    within = f"{counted(len(close), 'system')} {are(len(close))}" if close else "No other system is"
    sampling = Check(f"{within} statistically tied with {placed[0].system} (95 %)", "method", not close)
    return (sampling, *(view.checks if domain == OVERALL else ()))


def leading(view: BoardView, domain: str) -> str:
    """Describe the leader and whether every check agrees, in one or two sentences."""
    competitors = [line for line in view.lines.get(domain, ()) if not line.is_reference]
    lines = [line for line in competitors if not line.unranked]
    if all(line.unjudged for line in lines):
        any_judged = any(not line.unjudged for line in competitors)
        return f"No system has {'a rank' if any_judged else 'been judged'} here.{unranked(competitors)}"
    leader, *rest = lines
    if (leader.rating if domain == OVERALL else leader.win_tie) is None and leader.win_tie is None:
        return f"{leader.system} is first, without a rating."
    where = "" if domain == OVERALL else f" in {view.label(domain)}{_on_few(lines)}"
    mark = leader.facts.get("partial")
    name = f"{leader.system} [{mark}]" if mark else leader.system
    if mark and view.skips:
        return f"No system is first{where}: {name} is ahead only on the questions that it answered."
    close, unplaced = _rivals(leader, rest)
    ratings = {line.rating and points(line.rating.value) for line in lines}
    comparison = _against_reference(view, domain, leader, leader.system if close else "It")
    if close and len(ratings) == 1 and None not in ratings:
        sentence = f"No system is first{where}: all differences may be due to chance."
    elif close:
        many = listed(
            [name, *close], MAX_NAMED if len(" ".join(close[:MAX_NAMED])) <= MAX_NAMES_LENGTH else 1
        )
        sentence = f"{many} share first place{where}: the difference may be due to chance."
    elif all(line.unjudged for line in rest):
        sentence = _only_judged(view, leader, where, with_rate="won or tied" not in comparison)
    elif domain == OVERALL and any(check.holds is False for check in view.checks):
        sentence = f"{name} is first by this judge, but not by every check."
    else:
        sentence = f"{name} is first{where}."
    return f"{sentence}{_without(unplaced)}{comparison}{unranked(competitors)}"


def _only_judged(view: BoardView, line: Line, where: str, *, with_rate: bool) -> str:
    others = len(view.competitors()) > 1
    judged = f"{line.system} is the only system{' that was judged' if others else ''}{where}"
    if line.win_tie is None or not with_rate:
        return f"{judged}."
    opponent = f" against {view.the_reference}" if view.reference else ""
    return f"{judged}, and won or tied {percent(line.win_tie.value)} of its battles{opponent}."


def unranked(lines: Sequence[Line]) -> str:
    """Name the systems with too few answers for a rank; empty if there are none."""
    names = [line.system for line in lines if line.unranked]
    return f" {listed(names)} answered too few questions for a rank." if names else ""


def _on_few(lines: Sequence[Line]) -> str:
    """Mention the number of questions if it is too small for ratings."""
    questions = max(line.rates.questions for line in lines)
    return f" on {questions} questions" if 0 < questions < FEW_QUESTIONS else ""


def _rivals(line: Line, others: Sequence[Line]) -> tuple[list[str], list[str]]:
    """Return the systems statistically tied with `line`, and systems without a comparable rank."""
    judged = [other for other in others if not other.unjudged]
    unplaced = [other for other in judged if line.is_placed and not other.is_placed]
    close = [other for other in judged if other not in unplaced and not is_separated(line, other)]
    return [_marked(other) for other in close], [other.system for other in unplaced]


def _marked(line: Line) -> str:
    """Return a system's name, marked if its answers are partial."""
    mark = line.facts.get("partial")
    return f"{line.system} [{mark}]" if mark else line.system


def _without(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f" {listed(names)} {'has' if len(names) == 1 else 'have'} no rating here."


def _against_reference(view: BoardView, domain: str, leader: Line, subject: str) -> str:
    reference = view.line(view.reference, domain)
    if reference is None or reference.rating is None or leader.rating is None:
        return ""
    if not is_separated(leader, reference):
        whose = "Its" if subject == "It" else f"{subject}'s"
        return f" {whose} difference from {view.the_reference} may be due to chance."
    # Lines are best first, even across rating scales.
    order = [line.system for line in view.lines[domain]]
    above = order.index(leader.system) < order.index(reference.system)
    met = leader.win_tie
    side = f" {subject} is rated {'above' if above else 'below'} {view.the_reference}"
    if met is None:
        return f"{side}."
    return f"{side} (won or tied {percent(met.value, decimals=0)} of battles, 95 % interval {range_of(met)})."


MIN_RIVALS = 2
MAX_NAMED = 2
"""Maximum number of systems that a headline names."""
MAX_NAMES_LENGTH = 40
"""Maximum total letters of these names; beyond it, only the first system is named."""


def listed(names: Sequence[str], most: int = 3) -> str:
    """Join names in a sentence; summarise two or more beyond `most`."""
    if len(names) == 1:
        return names[0]
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def name_and_model(name: str, model: str) -> str:
    """Return a system's name, with its model in brackets if that differs."""
    return name if model in {"", name} else f"{name} ({model})"


def standing(view: BoardView, system: str) -> str:
    """Describe the place of one system, in a sentence or two."""
    line = view.line(system)
    if line is None or not line.is_placed:
        reason = "" if line is None else line.unranked
        return f"{system} has no rating on this board. {reason}".strip()
    comma = "," if line.system in {row.system for row in view.competitors()} else ":"
    rating = (
        "without a rating"
        if line.rating is None
        else f"rating {points(line.rating.value)} ({interval_of(line.rating)})"
    )
    return f"{place_of(view, system)}{comma} {rating}. {separation(view, line)}".rstrip()


def system_verdict(view: BoardView, system: str, field: Rate | None) -> str:
    """Describe a system's place, and its win + tie rates against the reference and the other systems."""
    line = view.line(system)
    if line is None or line.rating is None or line.own_rates.win_tie is None:
        return standing(view, system)
    against = "all systems" if line.is_reference or not view.reference else view.the_reference
    own = line.own_rates.win_tie
    parts = [f"{percent(own.value)} of its battles against {against} ({interval_of(own, share=True)})"]
    if field is not None and view.reference and not line.is_reference:
        reach = ends_of(field.win_tie_interval, share=True)
        parts.append(f"Against the other systems: {percent(field.win_tie_rate)} ({reach})")
    return f"{place_of(view, system)}: it wins or ties {'. '.join(parts)}. {separation(view, line)}".rstrip()


def place_of(view: BoardView, system: str) -> str:
    """Describe the possible places of a system, without a final full stop; the reference has none."""
    competitors = {row.system: row for row in view.competitors() if not row.unranked}
    if system not in competitors:
        return "The reference, which systems are compared with and which has no rank"
    line = competitors[system]
    return f"Rank {line.ranks} of {counted(len(competitors), 'system')}"


def separation(view: BoardView, line: Line) -> str:
    """Name the systems statistically tied with `line`, in a sentence; empty without other systems."""
    others = [other for other in view.lines[OVERALL] if other is not line]
    peers, _ = _rivals(line, others)
    if all(other.unjudged or other.is_reference for other in others) and not peers:
        return ""
    if peers:
        return f"Its difference from {listed(peers)} may be due to chance."
    return f"It differs from {'every' if len(others) > 1 else 'the'} other system by more than chance."


def record_of(view: BoardView, system: str) -> tuple[tuple[str, str], ...]:
    """Return a system's known figures by label."""
    line = view.line(system)
    if line is None:
        return ()
    rates, against = line.own_rates, ", against all systems" if line.is_reference else ""
    figures = (
        (f"Win rate{against}", rates.win and percent(rates.win.value)),
        (f"Win + tie rate{against}", rates.win_tie and percent(rates.win_tie.value)),
        *(
            (info.called, (mean := line.mean(info)) and info.text(mean.value))
            for info in usual_metrics(view.reference_by, view.scored)
        ),
        ("Declined", None if line.no_answer is None else percent(line.no_answer)),
        ("Median words", None if line.words is None else whole(line.words)),
        ("Battles behind the rating", whole(line.battles)),
        ("Battles behind the rates", whole(rates.battles)),
        ("Answers", whole(line.answers) if line.answers else None),
    )
    return tuple((label, value) for label, value in figures if value)


def gap_between(view: BoardView, first: str, second: str) -> str:
    """Describe the better of two and the certainty, in a sentence."""
    gap, apart = view.gap(first, second), view.separates(first, second)
    if gap is None and not apart:
        return f"The board has no difference between {first} and {second}."
    # Lines are best first, even across rating scales.
    behind = view.systems.index(first) > view.systems.index(second) if gap is None else gap.value < 0
    better, worse = (second, first) if behind else (first, second)
    gap = view.gap(better, worse)
    if gap is None:
        sure = "the lead is statistically significant; the board has no difference in points."
        return f"{better} is better than {worse}, and {sure}"
    size, ends = f"{points(gap.value)} points", ends_of(agreeing(gap, apart=apart), unknown="")
    if apart:
        interval = f" (95 % interval {ends})" if ends else ""
        return f"{better} is better than {worse} by {size}{interval}; the lead is statistically significant."
    interval = f"95 % interval {ends}" if ends else "tested together with all pairs of the board"
    return f"{better} is {size} above {worse}, but the difference may be due to chance ({interval})."


def agreeing(gap: Bounded | None, *, apart: bool) -> Bounded | None:
    """Return the difference of two systems; None if its interval contradicts the test of all pairs."""
    return gap if gap is not None and (gap.span[0] > 0 or gap.span[1] < 0) is apart else None


def deciding_sentence(deciding: Deciding) -> str:
    """Describe in a sentence how many questions decide the lead of one system over another."""
    leader, other = deciding.leader, deciding.other
    if deciding.needed is None:
        return f"{leader} and {other} take the same win share over {deciding.questions:,} questions."
    if deciding.needed == deciding.questions > 1:
        return f"{leader} is ahead of {other} on each of the {deciding.questions:,} questions."
    questions = "one question" if deciding.needed == 1 else f"{deciding.needed:,} questions"
    return (
        f"Without the {questions} of {deciding.questions:,} on which {leader} is furthest ahead, its lead "
        f"over {other} would be gone."
    )
