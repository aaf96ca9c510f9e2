"""Whole HTML documents: a board as a page that needs no script, and as a small table to embed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode
from xml.etree.ElementTree import Element

from arena.web.board_sentences import leading
from arena.web.markup import as_html, element
from arena.web.notices import notice_of
from arena.web.standings_table import standings_table
from arena.web.tables import words_table
from arena.web.texts import DEFINITIONS
from arena.web.views import OVERALL, BoardView

HERE = Path(__file__).parent
EMBEDDED = ("Rating", "Interval", "Win + tie")
MOST_EMBEDDED = 12


def as_document(root: Element) -> str:
    """The document as text; tables that may have to scroll can be reached by keyboard."""
    for part in root.iter("div"):
        if part.get("class") == "aa-wrap":
            part.set("tabindex", "0")
            part.set("role", "region")
            caption = part.find("table/caption")
            part.set("aria-label", "Table" if caption is None else str(caption.text))
    return f"<!DOCTYPE html>\n{as_html(root)}\n"


def static_page(view: BoardView, boards: Sequence[tuple[str, str]], base: str) -> Element:
    """A board as one page: who leads, every domain's table, what the columns mean, where the data is.

    Args:
        view: The board.
        boards: Names and titles of every board.
        base: The site's address, with a slash at the end.
    """
    address = f"{base}leaderboard.html?{urlencode({'board': view.name})}"
    said = leading(view, OVERALL)
    title = f"{view.title}: leaderboard – Answer Arena"
    head = element(
        "head",
        *_head(title),
        element("meta", name="description", content=said),
        element("link", rel="canonical", href=address),
        *_open_graph(
            {
                "og:title": title,
                "og:description": said,
                "og:type": "website",
                "og:url": address,
                "og:image": f"{base}og/{quote(view.name)}.png",
                "og:image:width": "1200",
                "og:image:height": "630",
                "og:image:alt": f"The first systems of {view.title} with their ratings",
            }
        ),
        element("meta", name="twitter:card", content="summary_large_image"),
    )
    others = [
        element("li", element("a", label, href=f"./leaderboard.html?{urlencode({'board': name})}"))
        for name, label in boards
    ]
    places = [
        element("li", element("a", view.label(domain), href=f"#{domain}"))
        for domain in (OVERALL, *view.domains)
    ]
    body = element(
        "body",
        element("a", "To the table", href=f"#{OVERALL}", class_="aa-skip"),
        element(
            "header",
            element("p", element("a", "Answer Arena", href="./"), class_="aa-eyebrow"),
            element("h1", view.title),
            element("p", said, class_="aa-lead"),
            *([notice_of(view.notice)] if view.notice else []),
            element("nav", element("ul", *places), aria_label="Domains"),
        ),
        element("main", *_sections(view), *_explained(view)),
        element("footer", element("nav", element("ul", *others), aria_label="Boards")),
        class_="stApp stHtml aa-page",
    )
    return element("html", head, body, lang="en")


def embedded_page(view: BoardView, domain: str) -> Element:
    """The first systems of a board as a table for a frame; links open in the whole window."""
    place = domain if domain in view.domains else OVERALL
    lines = view.lines[place][:MOST_EMBEDDED]
    rest = len(view.lines[place]) - len(lines)
    more = f"{rest} more systems, and" if rest else ""
    source = element("a", "Answer Arena", href=f"./?{urlencode({'board': view.name, 'domain': place})}")
    opening = f"{more} the evidence:".strip()
    footer = element("p", f"{opening[0].upper()}{opening[1:]} ", source, class_="aa-note")
    table = standings_table(view, place, lines, chosen=EMBEDDED)
    body = element("body", element("main", table, footer), class_="stApp stHtml aa-page aa-embedded")
    for anchor in body.iter("a"):
        anchor.set("href", anchor.get("href", "").replace("./", "../", 1))
        anchor.set("target", "_top")
    title = f"{view.title}, {view.label(place)} – Answer Arena"
    head = element("head", *_head(title), element("meta", name="robots", content="noindex"))
    return element("html", head, body, lang="en")


def _head(title: str) -> list[Element]:
    return [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", _style()),
    ]


@cache
def _style() -> str:
    return "".join((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "document.css"))


def _open_graph(properties: dict[str, str]) -> list[Element]:
    return [element("meta", property=name, content=content) for name, content in properties.items()]


def _sections(view: BoardView) -> list[Element]:
    return [
        element(
            "section",
            element("h2", view.label(domain), id=domain),
            element("p", leading(view, domain), class_="aa-note"),
            standings_table(view, domain, view.lines[domain]),
        )
        for domain in (OVERALL, *view.domains)
    ]


def _explained(view: BoardView) -> list[Element]:
    told = [view.note] if view.note else []
    place = urlencode({"board": view.name})
    links = (("Data, API and citation", "./data"), ("Head to head", "./matrix"), ("Questions", "./questions"))
    pages = [element("li", element("a", label, href=f"{page}?{place}")) for label, page in links]
    return [
        element(
            "section",
            element("h2", "How to read it"),
            *(element("p", text) for text in told),
            element("p", view.method, class_="aa-note"),
            element(
                "p", f"Published {view.published}. Content sha256 {view.content_hash}.", class_="aa-note"
            ),
            element("ul", *pages),
            words_table(("Column", "Meaning"), DEFINITIONS.items()),
        )
    ]
