"""Trust page: a question about the board's judge per section, with folded details."""

from collections.abc import Iterator, Mapping

from arena.formats import FLAGS
from arena.html_pages import Parts
from arena.models.boards import BoardView
from arena.services.boards.certainty import LENGTH_PART
from arena.services.boards.judge_health import TrustFigure, as_sentences
from arena.services.boards.metric_columns import column_meanings
from arena.site.boards.downloads import how_made
from arena.site.boards.pickers import addressed_board, title_of_page
from arena.site.ui.html import figures_table, link, name_page, put_part, words_table

WITHOUT_REFERENCE = "Battles against the reference are excluded."
QUESTIONS: Mapping[str, str] = {
    TrustFigure.AGREEMENT: "Does it agree with people?",
    TrustFigure.VOTES: "Have people checked this board?",
    TrustFigure.FLIPS: "Does the order of the answers bias it?",
    TrustFigure.FAILURES: "How many battles have no verdict?",
}
LENGTH = "Does the length of an answer bias it?"
STYLE = (
    "Terms other than quality that may bias the judge, fitted together with the ratings. "
    "If an interval contains 0, the battles show no such effect."
)
TERMS = ("Term", "Points", "95 % interval", "Unit")
BETWEEN = ("System", "Rank", "Rating", "95 % interval")


def show() -> None:
    """Show the evidence on a board's judge."""
    view = addressed_board()
    name_page("Trust and method", view.full_title)
    put_part(as_parts(view), "page")


def as_parts(view: BoardView) -> Parts:
    """Build the page: each question with its answer and folded details, then the method."""
    return Parts(
        "pages/trust.html",
        {
            "view": view,
            "title": title_of_page("Trust and method", "trust"),
            "board_link": link("", board=view.name),
            "questions": list(_questions(view)),
            "made": how_made(view),
            "terms": (*column_meanings().items(), *FLAGS.values()),
            "between": figures_table(BETWEEN, view.between.rows) if view.between.rows else None,
            "between_note": f"{view.between.note} {WITHOUT_REFERENCE}",
        },
    )


def _questions(view: BoardView) -> Iterator[Mapping[str, str]]:
    for label, value, meaning in view.health:
        answer = as_sentences(label, value, meaning)
        part = next((figure.part for figure in TrustFigure if figure == label), "")
        yield {
            "asked": QUESTIONS.get(label, label),
            "answer": answer,
            "note": meaning,
            "table": "",
            "part": part,
        }
    answer = view.style.note or "Not measured on this board."
    table = words_table(TERMS, view.style.rows, spare=1) if view.style.rows else ""
    yield {"asked": LENGTH, "answer": answer, "note": STYLE, "table": table, "part": LENGTH_PART}
