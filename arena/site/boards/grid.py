"""Grid of systems and domains on the page of a board, and a scatter plot of its cells."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from markupsafe import Markup

from arena.formats import points, range_of
from arena.models.boards import BoardView
from arena.services.boards.metric_columns import score_titles
from arena.site.boards.cache import made_once
from arena.site.boards.standings_cells import Scale, drawn
from arena.site.ui.html import link
from arena.site.ui.url_state import chosen_words
from data.text import counted, percent
from leaderboard.standings.grid import STEPS, GridCell, GridCorrelation

WIN_TITLES = {"win_tie_rate": "Win + tie", "win_rate": "Win", "rating": "Rating"}
MIN_DOMAINS = 2
MAX_SYSTEMS = 12
"""Systems in the grid until a reader expands it."""


def grid_titles(view: BoardView) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the measures that a board has: those of battles and those of answers, the usual ones first."""
    wins = {name: WIN_TITLES[name] for name in view.grid.wins}
    return wins, score_titles(view.grid.scores, view.reference_by)


def grid_part(view: BoardView, with_: Callable[..., str]) -> Mapping[str, object]:
    """Build the grid of the measures in the URL; `with_` builds the links to other measures."""
    titles = dict(zip(("win", "over"), grid_titles(view), strict=True))
    if len(view.grid.domains) < MIN_DOMAINS or not titles["win"]:
        return {"grid": None, "goes": ""}
    chosen = {
        key: word if (word := chosen_words(key)) in names else next(iter(names), "")
        for key, names in titles.items()
    }
    many = len(view.grid.systems)
    most = many if chosen_words("systems") == "all" else MAX_SYSTEMS
    correlated = view.grid.correlation(*chosen.values())
    return {
        "goes": _goes(correlated, {chosen[key]: names.get(chosen[key], "") for key, names in titles.items()})
        if correlated
        else "",
        "grid": made_once(
            view, f"grid {chosen} {most}", lambda: grid_table(view, *chosen.values(), systems=most)
        ),
        "pair": [
            (
                word,
                names[chosen[key]],
                [(text, with_(**{key: name}), name == chosen[key]) for name, text in names.items()],
            )
            for word, (key, names) in zip(("Show", "over"), titles.items(), strict=True)
            if names
        ],
        "more": (f"Show all {many} systems", with_(systems="all")) if many > most else (),
    }


def grid_table(view: BoardView, win: str, score: str, *, systems: int, in_file: bool = False) -> Markup:
    """Return the grid of the best systems: `win` above `score`; in a file without links."""
    grid, (wins, scores) = view.grid, grid_titles(view)
    names = {win: wins[win], **({score: scores[score]} if score else {})}
    linked = view.round_name is not None and not in_file
    best = grid.systems[:systems]

    def cell(system: str, domain: str) -> Mapping[str, object] | None:
        entry = grid.cell(system, domain)
        if entry is None or win not in entry.figures:
            return None
        small = entry.figures.get(score)
        href = link("questions", board=view.name, domain=domain, system=system) if linked else ""
        return {
            "href": href,
            "few": entry.few,
            "step": grid.step(win, entry),
            "large": _text(win, entry.figures[win].value),
            "small": _text(score, small.value) if small else "–" if score else "",
            "words": _words(view, entry, names),
        }

    return drawn(
        "grid",
        {
            "caption": f"{' over '.join(names.values())}, by system and domain",
            "steps": STEPS,
            "shares": win != "rating",
            "few": any(found.few for found in grid.cells),
            "domains": [(label, grid.questions(domain)) for domain, label in grid.domains.items()],
            "rows": [
                (
                    system,
                    "" if in_file else link("system", board=view.name, id=system),
                    [cell(system, domain) for domain in grid.domains],
                )
                for system in best
            ],
            "cloud": _cloud(view, names, best) if score else None,
        },
    )


def _cloud(view: BoardView, names: Mapping[str, str], systems: Sequence[str]) -> Mapping[str, object] | None:
    """Return the scatter plot of the cells, scores by battles; None if too few cells have both."""
    grid, (win, score) = view.grid, names
    correlated = grid.correlation(win, score)
    cells = [cell for cell in grid.cells if cell.system in systems and names.keys() <= cell.figures.keys()]
    if correlated is None or not cells:
        return None
    columns = ([cell.figures[name].value for cell in cells] for name in names)
    upward, across = (Scale(min(values), max(values)) for values in columns)
    return {
        "words": f"Vertical axis: {names[win]}; horizontal axis: {names[score].lower()}. Each dot is a cell "
        "of the table.",
        "upward": upward.axis(partial(_text, win)),
        "across": across.axis(partial(_text, score)),
        "dots": [
            (
                systems.index(cell.system),
                across.place(cell.figures[score].value),
                upward.place(cell.figures[win].value),
            )
            for cell in cells
        ],
        "goes": _goes(correlated, names),
    }


def _words(view: BoardView, cell: GridCell, names: Mapping[str, str]) -> str:
    figures = (
        f"{title} {_text(name, figure.value)} ({range_of(figure, share=name != 'rating') or 'no interval'})"
        for name, title in names.items()
        if (figure := cell.figures.get(name)) is not None
    )
    few = ": too few to be sure" if cell.few else ""
    place = f"{cell.system}, {view.grid.domains[cell.domain]}"
    return "\n".join([place, *figures, f"{counted(cell.questions, 'question')}{few}"])


def _text(name: str, value: float) -> str:
    return points(value) if name == "rating" else percent(value, decimals=0)


def _goes(correlation: GridCorrelation, names: Mapping[str, str]) -> str:
    sign = (correlation.lower > 0) - (correlation.upper < 0)
    goes = {1: "rise together", -1: "move in opposite directions", 0: "are not clearly correlated"}[sign]
    value, lower, upper = (
        f"{end:.2f}".replace("-", "−") for end in (correlation.value, correlation.lower, correlation.upper)
    )
    words = f"{names[correlation.score]} and {names[correlation.win].lower()} {goes}"
    interval = f"95 % interval {lower} to {upper}"
    return f"{words}: r = {value} over {correlation.cells:,} pairs of system and domain ({interval})."
