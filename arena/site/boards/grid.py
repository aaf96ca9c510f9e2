"""Grid of systems and domains on the page of a board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from arena.formats import points, range_of
from arena.models.boards import BoardView
from arena.services.boards.metric_columns import score_titles
from arena.site.boards.standings_cells import drawn
from arena.site.ui.html import link
from data.text import percent
from leaderboard.standings.grid import STEPS, GridCell, GridFigure

WIN_TITLES = {"win_tie_rate": "Win + tie", "win_rate": "Win", "rating": "Rating"}
MAX_SYSTEMS = 12
"""Systems in the grid until a reader wants all."""


def grid_titles(view: BoardView) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the measures that a board has: those of battles and those of answers, the usual ones first."""
    wins = {name: WIN_TITLES[name] for name in view.grid.wins}
    return wins, score_titles(view.grid.scores, view.reference_by)


def grid_table(view: BoardView, win: str, score: str, *, systems: int, in_file: bool = False) -> Markup:
    """Return the grid of the best systems: `win` above `score`; in a file without links."""
    grid, (wins, scores) = view.grid, grid_titles(view)
    names = {win: wins[win], **({score: scores[score]} if score else {})}
    linked = view.round_name is not None and not in_file

    def cell(system: str, domain: str) -> Mapping[str, object] | None:
        found = grid.cell(system, domain)
        if found is None or win not in found.figures:
            return None
        href = link("questions", board=view.name, domain=domain, system=system) if linked else ""
        return {
            "href": href,
            "few": found.few,
            "step": grid.step(win, found),
            "large": figure_text(win, found.figures[win]),
            "small": figure_text(score, found.figures.get(score)) if score else "",
            "words": "\n".join([f"{system}, {grid.domains[domain]}", *_words(found, names)]),
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
                for system in grid.systems[:systems]
            ],
        },
    )


def _words(cell: GridCell, names: Mapping[str, str]) -> Iterator[str]:
    for name, title in names.items():
        if (figure := cell.figures.get(name)) is not None:
            yield f"{title} {figure_words(name, figure)}"
    few = ": too few to be sure" if cell.few else ""
    yield f"{cell.questions} question{'' if cell.questions == 1 else 's'}{few}"


def figure_text(name: str, figure: GridFigure | None) -> str:
    """Return a figure of the grid as text."""
    if figure is None:
        return "–"
    return points(figure.value) if name == "rating" else percent(figure.value, decimals=0)


def figure_words(name: str, figure: GridFigure) -> str:
    """Return a figure of the grid with its interval."""
    return f"{figure_text(name, figure)} ({range_of(figure, share=name != 'rating') or 'no interval'})"


def correlation_sentence(view: BoardView, win: str, score: str) -> str:
    """Say whether the two figures go together; empty where too few cells have both."""
    found = view.grid.correlation(win, score)
    if found is None:
        return ""
    wins, scores = grid_titles(view)
    sign = (found.lower > 0) - (found.upper < 0)
    goes = {1: "go together", -1: "go in opposite directions", 0: "may or may not go together"}[sign]
    value, lower, upper = (f"{end:.2f}".replace("-", "−") for end in (found.value, found.lower, found.upper))
    words = f"{scores[score]} and {wins[win].lower()} {goes}"
    return f"{words}: r = {value} ({lower} to {upper}) over {found.cells} cells of a system and a domain."
