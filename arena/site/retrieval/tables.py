"""Tables of a retrieval board: systems by a measure, all means, and the paired differences of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

from arena.services.retrieval_boards.service import RetrievalBoard
from arena.site.boards.standings_cells import Scale, bar_cell, estimate_cell
from arena.site.ui.formats import Bounded, whole
from arena.site.ui.markup import element, explained
from arena.site.ui.tables import anchor, rows_table
from data.percent import percent
from leaderboard.retrieval.board import PairedDifference, RetrievalLine
from leaderboard.vocabulary import OVERALL

EVEN = 50.0
SMALL = 0.001


def number(value: float) -> str:
    """A measure as the field writes it."""
    return f"{value:.3f}".replace("-", "−")


def signed(value: float | None) -> str:
    """A difference with its sign."""
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def p_value(value: float | None) -> str:
    """A p value, never 0."""
    if value is None:
        return "–"
    return "< 0.001" if value < SMALL else f"{value:.3f}"


def domain_labels(board: RetrievalBoard) -> dict[str, str]:
    """What readers call the domains, all of them first."""
    own = board.questions.domains
    return {domain: "All domains" if domain == OVERALL else own[domain] for domain in board.table.places}


def systems_table(board: RetrievalBoard, lines: Sequence[RetrievalLine], caption: str) -> Element:
    """The systems by one measure, best first."""
    values = {line.system: _bounded(line) for line in lines}
    scale = Scale.around([value for value in values.values() if value is not None])
    header = (
        ("Rank", "aa-left"),
        ("System", "aa-left"),
        ("Mean", ""),
        ("Interval", "aa-left"),
        ("Questions", "aa-second"),
        ("Missing", "aa-second"),
        ("Judged@10", "aa-second"),
    )
    rows = []
    for line in lines:
        value, entrant = values[line.system], board.entrants[line.system]
        rows.append(
            element(
                "tr",
                _rank_cell(line),
                element("th", line.system, _by(entrant.submission.team), scope="row"),
                estimate_cell(value, number),
                bar_cell(value, scale),
                element("td", whole(line.questions), class_="aa-second"),
                element("td", whole(line.missing), class_="aa-second"),
                element("td", percent(entrant.judged), class_="aa-second"),
            )
        )
    return rows_table(header, rows, caption=caption, classes="aa-standings")


def means_table(board: RetrievalBoard, domain: str, order: Sequence[str]) -> Element:
    """The means of every measure, a row each, so that a phone can show it; the best of a row is bold."""
    rows = []
    for measure in board.table.measures:
        means = {line.system: line.mean for line in board.table.lines(measure.name, domain)}
        best = max((mean for mean in means.values() if mean is not None), default=None)
        cells = [
            element(
                "td",
                "–" if (mean := means[system]) is None else number(mean),
                class_="aa-main" if mean is not None and mean == best else "",
            )
            for system in order
        ]
        named = element("th", explained(measure.label, measure.about), scope="row")
        rows.append(element("tr", named, *cells))
    return rows_table([("Measure", "aa-left"), *((system, "") for system in order)], rows)


def paired_table(
    labels: Mapping[str, str], first: str, second: str, paired: Sequence[PairedDifference]
) -> Element:
    """The paired differences by domain, with their intervals."""
    ends = [abs(end) for one in paired if one.interval for end in (one.interval.lower, one.interval.upper)]
    reach = max([*ends, *(abs(one.difference or 0.0) for one in paired)], default=0.0) or 1.0
    header = (
        ("Domain", "aa-left"),
        ("Difference", ""),
        ("", ""),
        ("p", "aa-second"),
        (f"{first} ahead", "aa-second"),
        (f"{second} ahead", "aa-second"),
        ("Questions", ""),
    )
    rows = [_paired_row(labels[one.domain], one, reach) for one in paired if one.questions]
    return rows_table(header, rows, caption=f"{first} minus {second}")


def contested_table(
    board: RetrievalBoard, measure: str, pair: tuple[str, str], most: int, query: Mapping[str, str]
) -> Element:
    """The questions on which two systems differ most, each leading to what they retrieved."""
    gaps = board.table.differences(measure, *pair)
    order = sorted(
        (at for at in range(len(gaps)) if gaps[at] == gaps[at] and gaps[at]), key=lambda at: -abs(gaps[at])
    )
    rows = []
    for at in order[:most]:
        question = board.questions.by_id[board.table.questions[at]]
        named = anchor(question.question, "retrieval", **{**query, "id": question.id})
        below = element("span", question.id, class_="aa-sub")
        values = [board.table.value(measure, system, question.id) for system in pair]
        cells = [element("td", "–" if value is None else number(value)) for value in values]
        rows.append(
            element("tr", element("th", named, below, scope="row"), *cells, element("td", signed(gaps[at])))
        )
    header = [("Question", "aa-left"), *((system, "") for system in pair), ("Difference", "")]
    return rows_table(header, rows, classes="aa-questions")


def _rank_cell(line: RetrievalLine) -> Element:
    best, worst = line.rank_lower, line.rank_upper
    cell = element("td", class_="aa-left")
    cell.append(element("span", f"{best}" if best == worst else f"{best}–{worst}", class_="aa-rank"))
    if line.letters:
        meaning = "Systems that share a letter are not separated by the questions"
        cell.append(explained(line.letters, meaning, class_="aa-tie"))
    return cell


def _by(team: str) -> Element:
    return element("span", team, class_="aa-sub")


def _bounded(line: RetrievalLine) -> Bounded | None:
    if line.mean is None:
        return None
    if line.interval is None:
        return Bounded(value=line.mean)
    return Bounded(value=line.mean, lower=line.interval.lower, upper=line.interval.upper)


def _paired_row(label: str, one: PairedDifference, reach: float) -> Element:
    value = element("td", element("span", signed(one.difference), class_="aa-main"))
    track = element(
        "span", element("span", class_="aa-even", style="left:50%"), class_="aa-track", aria_hidden="true"
    )
    if one.interval is not None:
        low, high = (EVEN + EVEN * end / reach for end in (one.interval.lower, one.interval.upper))
        span = f"{signed(one.interval.lower)} to {signed(one.interval.upper)}"
        value.append(element("span", span, class_="aa-sub"))
        track.append(element("span", class_="aa-span", style=f"left:{low:.1f}%;width:{high - low:.1f}%"))
    track.append(
        element("span", class_="aa-dot", style=f"left:{EVEN + EVEN * (one.difference or 0.0) / reach:.1f}%")
    )
    separation = element("span", "separated" if one.significant else "not separated", class_="aa-sub")
    return element(
        "tr",
        element("th", label, separation, scope="row"),
        value,
        element("td", track, class_="aa-bar"),
        element("td", p_value(one.p_value), class_="aa-second"),
        element("td", whole(one.ahead), class_="aa-second"),
        element("td", whole(one.behind), class_="aa-second"),
        element("td", whole(one.questions)),
    )
