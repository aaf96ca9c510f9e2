"""Cells of the standings: ranks, values with intervals, badges, and the details of a row."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10

from markupsafe import Markup

from arena.formats import FLAGS, Bounded, interval_of, points, range_of, whole
from arena.html_pages import macro
from arena.models.boards import OVERALL, BoardView, Line
from arena.site.ui.html import Cell, Child, anchor, link
from data.store.question_stats import QuestionRecord
from data.text import percent, percent_figure
from leaderboard.standings.sections import NOT_REPORTED, Figure, SystemFacts

MIN_STEPS = 2.5
STEPS = (1.0, 2.0, 5.0)
MAX_LANES = 12
MAX_OPPONENTS, MAX_QUESTIONS, MAX_WEAKEST = 6, 3, 2
OWN_EVIDENCE = "Share of the rating from this domain's own battles; the rest comes from the overall rating"
NO_OWN_RATE = "Rates are against the reference, so it has no rate of its own"
WEIGHTS: Mapping[str, str] = {"yes": "open", "no": "closed"}
FIGURES: Mapping[Figure, tuple[str, str]] = {
    Figure.TOKENS: ("Tokens", ",.0f"),
    Figure.USD: ("USD", ".3g"),
    Figure.MILLISECONDS: ("ms", ",.0f"),
}
"""Columns of figures that teams report, with their number formats."""
REPORTED = {
    **{name: name for name in ("organisation", "licence", "released", "open_weights")},
    "parameter_count": "parameters",
}
drawn = partial(macro, of="standings.html")
"""Render a macro of `standings.html`."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale from values to positions on a bar, in per cent of its width."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[Bounded]) -> "Scale":
        """Return a scale that shows every value with its interval."""
        spans = [value.span for value in values] or [(0.0, 1.0)]
        low, high = min(low for low, _ in spans), max(high for _, high in spans)
        return cls(low, high)

    def place(self, value: float) -> float:
        """Return the position of a value; the middle if the scale has only one value."""
        if self.low == self.high:
            return 50.0
        return 100 * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Two to five round values for an axis."""
        if self.low == self.high:
            return (self.low,)
        rough = (self.high - self.low) / MIN_STEPS
        power = 10.0 ** floor(log10(rough))
        step = power * max(size for size in STEPS if size * power <= rough)
        first, last = ceil(self.low / step), floor(self.high / step)
        return tuple(number * step for number in range(first, last + 1))

    def axis(self, text: Callable[[float], str]) -> list[tuple[str, float]]:
        """Return the texts of the ticks with their positions; no text appears twice."""
        nearest_last = sorted(self.ticks, key=lambda tick: -abs(tick - round(tick)))
        distinct = {text(tick): tick for tick in nearest_last}
        marks = sorted(distinct.items(), key=lambda mark: mark[1])
        return [(words, self.place(tick)) for words, tick in marks]


@dataclass(frozen=True, slots=True)
class Joint:
    """A bracket in one row: its lane from the left, and its part: first, last or between."""

    lane: int
    part: str


def brackets(lines: Sequence[Line]) -> list[list[Joint]]:
    """Return the brackets through each row; a bracket joins the rows that share a letter."""
    names = sorted({name for line in lines if not line.is_reference for name in line.letter_set})
    joints: list[list[Joint]] = [[] for _ in lines]
    ends: list[int] = []
    spans = (
        [at for at, line in enumerate(lines) if name in line.letter_set and not line.is_reference]
        for name in names
    )
    farthest = -1
    longest_first = sorted(
        ((rows[0], rows[-1]) for rows in spans if len(rows) > 1), key=lambda span: (span[0], -span[1])
    )
    for first, last in longest_first:
        if last <= farthest:
            # Skip a bracket inside another: only the reference separates its systems.
            continue
        farthest = last
        lane = next((at for at, end in enumerate(ends) if end < first), len(ends))
        if lane >= MAX_LANES:
            continue
        ends[lane : lane + 1] = [last]
        for at in range(first, last + 1):
            part = "first" if at == first else "last" if at == last else "between"
            joints[at].append(Joint(lane, part))
    return joints


def system_cell(view: BoardView, line: Line, *, links: bool = True, overall: bool = False) -> Markup:
    """Return the system's name as a permalink, with its badges and, overall, its weakest domain."""
    href = link("system", board=view.name, id=line.system) if links else ""
    under = _weakest(view, line.system) if overall else ""
    return drawn("name", line.system, href, list(_badges(view, line)), under)


def _weakest(view: BoardView, system: str) -> str:
    cells, everywhere = view.grid.weakest(system, "win_tie_rate")
    if not cells:
        return ""
    rate = percent(cells[0].figures["win_tie_rate"].value, decimals=0)
    if everywhere:
        return f"{rate} in every domain" if len(cells) > 1 else ""
    names = [view.grid.domains[cell.domain] for cell in cells]
    where = " and ".join(names) if len(names) <= MAX_WEAKEST else f"{len(names)} domains"
    return f"weakest: {rate} in {where}"


def _badges(view: BoardView, line: Line) -> Iterator[tuple[str, str]]:
    if line.is_reference:
        by = f", written by {view.reference_by}" if view.reference_by else ""
        yield "reference", "The human-written answers" if view.by_people else f"The reference answers{by}"
    if mark := view.marks.get(line.system, ""):
        yield mark.partition(": ")[0], mark
    if line.unjudged:
        yield "no judged battle", "None of its battles was judged"
    if line.unranked:
        yield "not ranked", line.unranked
    if "baseline" in line.badges:
        yield "baseline", "Entered by the organisers for comparison"
    if line.provisional:
        yield "provisional", line.provisional
    if line.own_evidence is not None and line.rating is not None:
        yield f"{percent(line.own_evidence, decimals=0)} own", OWN_EVIDENCE
    for flag in line.flags:
        yield FLAGS.get(flag, (flag.replace("_", " "), flag))


def rating_cell(line: Line, scale: Scale, even: float | None) -> Markup:
    """Return the rating with the bar of its interval."""
    if line.rating is None:
        return drawn("muted")
    low, high = map(scale.place, line.rating.span)
    within = even is not None and scale.low <= even <= scale.high
    places = (scale.place(line.rating.value), low, high, scale.place(even or 0.0) if within else None)
    return drawn("figure", points(line.rating.value)) + macro("track", *places)


def outcome_cell(line: Line) -> Markup:
    """Return battles won, tied and lost as one bar, and the share won or tied with its interval."""
    win, win_tie = line.win, line.win_tie
    if win is None or win_tie is None:
        return drawn("muted", NO_OWN_RATE if line.is_reference else "None of its battles has a verdict")
    shares = {"won": win.value, "tied": win_tie.value - win.value, "lost": 1 - win_tie.value}
    words = ", ".join(f"{percent(share)} {name}" for name, share in shares.items())
    return drawn(
        "outcome", list(shares.items()), words, percent_figure(win_tie.value, decimals=0), _ends(win_tie)
    )


def score_cell(value: Bounded | None, text: Callable[[float], str] | None = None) -> Markup:
    """Return a mean score with its interval: a share in whole per cent, another figure through `text`."""
    if value is None or text is not None:
        return estimate_cell(value, text or percent_figure)
    return drawn("figure", percent_figure(value.value, decimals=0), _ends(value), "aa-reach")


def _ends(share: Bounded) -> str:
    return range_of(share).removesuffix(" %")


def estimate_cell(value: Bounded | None, text: Callable[[float], str]) -> Markup:
    """Return a value with its interval below it."""
    if value is None:
        return drawn("muted")
    known = value.lower is not None and value.upper is not None
    return drawn("figure", text(value.value), f"{text(value.span[0])}–{text(value.span[1])}" if known else "")


def rate_cell(line: Line) -> Markup:
    """Return the win rate with its interval; a dash for the reference, the opponent of all rates."""
    if line.is_reference and line.win is None:
        return drawn("muted", NO_OWN_RATE)
    return estimate_cell(line.win, percent_figure)


def declines_cells() -> Mapping[str, Callable[[Line], Child]]:
    """Return the cells of declines on marked questions: `6 of 6`, with the interval below."""

    def cell(line: Line, part: str) -> Child:
        figure = (line.facts.get("declined") or {}).get(part)
        if not figure or figure["share"] is None:
            return drawn("muted")
        text, ends = (
            f"{figure['count']} of {figure['of']}",
            map(percent_figure, (figure["lower"], figure["upper"])),
        )
        return drawn("figure", text, "–".join(ends))

    parts = {"declined_where_should": "where_should", "answered_where_should": "answered_where_should"}
    return {name: partial(cell, part=part) for name, part in parts.items()}


def battles_cell(line: Line) -> Child:
    """Return the battles behind the rates and, if different, behind the rating."""
    text = "–" if line.is_reference else whole(line.rates.battles)
    differs = line.is_reference or line.rates.battles != line.battles
    return Cell(text, sub=f"rating: {whole(line.battles)}" if differs else "")


def reported_cells(view: BoardView) -> Mapping[str, Callable[[Line], Child]]:
    """Return the cells of self-reported facts, by column name."""

    def facts_of(line: Line) -> SystemFacts:
        return view.self_reported.get(line.system, NOT_REPORTED)

    def text_of(line: Line, name: str) -> Child:
        text = facts_of(line).text(name)
        return (WEIGHTS.get(text) if name == "open_weights" else text) or _not_reported()

    def figure_of(line: Line, figure: Figure) -> Child:
        facts = facts_of(line)
        mean = facts.figures.get(figure)
        if mean is None:
            return _not_reported()
        part = f"{mean.answers:,} of {facts.answers:,}" if mean.answers < facts.answers else ""
        return drawn("figure", format(mean.mean, FIGURES[figure][1]), part, title="Answers that report it")

    texts = {column: partial(text_of, name=name) for column, name in REPORTED.items()}
    return {**texts, **{figure.value: partial(figure_of, figure=figure) for figure in FIGURES}}


def _not_reported() -> Markup:
    return drawn("muted", title="Not reported by the team")


def row_detail(view: BoardView, domain: str, line: Line, lost: Sequence[QuestionRecord]) -> Markup:
    """Return the details of a row: places, battles with neighbours, lost questions, links."""
    parts: Mapping[str, Sequence[object]] = {
        "places": list(_places(view, domain, line)),
        "opponents": list(_opponents(view, line)),
        "questions": [
            (
                anchor(question.question, "question", board=view.name, id=question.id),
                f"{question.wins} won, {question.ties} tied, {question.losses} lost",
            )
            for question in lost
        ],
        "links": (
            anchor("All its results", "system", board=view.name, id=line.system),
            anchor("Compare with others", "compare", board=view.name, a=line.system),
        ),
    }
    return drawn("detail", parts)


def _places(view: BoardView, domain: str, line: Line) -> Iterator[str]:
    if line.rank_lower is not None:
        yield f"Place {line.ranks.replace('–', ' to ')} of {len(view.competitors(domain))}."
    if line.unranked:
        yield line.unranked
    if line.letters:
        yield f"Letters {line.letters}: differences between systems that share a letter may be due to chance."
    if line.win_tie is not None:
        yield f"Won or tied {percent(line.win_tie.value)} ({interval_of(line.win_tie, share=True)})."
    if line.rating is not None:
        yield f"Rating {points(line.rating.value)} ({interval_of(line.rating)})."


def _opponents(view: BoardView, line: Line) -> Iterator[tuple[Child, str]]:
    places = {other.system: at for at, other in enumerate(view.lines[OVERALL])}
    here = places.pop(line.system, None)
    if here is None:
        return
    nearest = sorted(places, key=lambda name: abs(places[name] - here))
    met = [(name, met) for name in nearest if (met := view.meetings.of(line.system, name)) is not None]
    for name, meeting in met[:MAX_OPPONENTS]:
        counts = f"{whole(meeting.wins)} won, {whole(meeting.ties)} tied, {whole(meeting.losses)} lost"
        yield anchor(name, "system", board=view.name, id=name), counts
