"""HTML tables that a phone, a projector and a screen reader can all show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from arena.web.figures import percent, range_of_shares, whole
from arena.web.markup import element
from arena.web.views import OVERALL, BoardView, Bounded


def link(page: str, **query: str) -> str:
    """A permalink to a page, relative to the site's root."""
    return f"./{page}?{urlencode(query)}" if query else f"./{page}"


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, spare: int = 0) -> Element:
    """A table of figures as texts; its first column is the row's heading.

    Args:
        header: Names of the columns.
        rows: As many texts each.
        spare: How many of the last columns give way on a phone.
    """
    kept = len(header) - spare
    heads = [
        element("th", name, scope="col", class_=" ".join(_plain_classes(at, kept)))
        for at, name in enumerate(header)
    ]
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(
                element("td", text, class_=" ".join(_plain_classes(at, kept)))
                for at, text in enumerate(row)
                if at
            ),
        )
        for row in rows
    ]
    return _wrapped(element("tr", *heads), body)


def words_table(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Element:
    """A table of words and what they mean."""
    heads = [element("th", name, scope="col", class_="aa-left") for name in header]
    body = [
        element("tr", element("th", name, scope="row"), element("td", text, class_="aa-words"))
        for name, text in rows
    ]
    return _wrapped(element("tr", *heads), body)


def captioned_table(caption: str, header: Iterable[tuple[str, str]], rows: Iterable[Element]) -> Element:
    """A table below its caption, of rows that were made elsewhere.

    Args:
        caption: What the figures are.
        header: Each column's name and classes.
        rows: Its rows.
    """
    heads = [element("th", name, scope="col", class_=classes) for name, classes in header]
    return _wrapped(element("tr", *heads), rows, element("caption", caption))


def _wrapped(head: Element, body: Iterable[Element], *above: Element) -> Element:
    table = element("table", *above, element("thead", head), element("tbody", *body), class_="aa-board")
    return element("div", table, class_="aa-wrap")


def _plain_classes(at: int, kept: int) -> list[str]:
    return [name for name, given in (("aa-left", at == 0), ("aa-second", at >= kept)) if given]


def profile_table(view: BoardView, system: str) -> Element:
    """One system's record in every domain."""
    header = ("Domain", "Battles", "Win", "Win + tie", "95 % interval", "Comprehensive", "No answer")
    found = ((view.label(domain), view.line(system, domain)) for domain in (OVERALL, *view.domains))
    rows = [
        (
            label,
            whole(line.rate_battles),
            _percent_of(line.win),
            _percent_of(line.win_tie),
            "–" if line.win_tie is None else range_of_shares(line.win_tie),
            _percent_of(line.comprehensiveness),
            percent(line.no_answer),
        )
        for label, line in found
        if line is not None
    ]
    return plain_table(header, rows, spare=3)


def profile_rows(view: BoardView, system: str) -> list[Mapping[str, object]]:
    """One system's record in every domain as rows of a file, every metric with its bounds; shares are 0–1."""
    lines = [view.line(system, domain) for domain in (OVERALL, *view.domains)]
    metrics = sorted({name for line in lines if line is not None for name in line.scores})
    rows: list[Mapping[str, object]] = []
    for domain, line in zip((OVERALL, *view.domains), lines, strict=True):
        if line is None:
            continue
        values = {"win_rate": line.win, "win_tie_rate": line.win_tie}
        values |= {name: line.scores.get(name) for name in metrics}
        row: dict[str, object] = {"system": system, "domain": domain, "battles": line.rate_battles}
        for name, value in values.items():
            row |= {
                name: value and value.value,
                f"{name}_lower": value and value.lower,
                f"{name}_upper": value and value.upper,
            }
        rows.append({**row, "no_answer_share": line.no_answer, "answers": line.answers})
    return rows


def _percent_of(value: Bounded | None) -> str:
    return percent(None if value is None else value.value)
