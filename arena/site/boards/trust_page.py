"""Page on trust in a board's judge: one question a section, details folded."""

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

LEFT_OUT = "They leave out what the judge makes of the reference."
QUESTIONS: Mapping[str, str] = {
    TrustFigure.AGREEMENT: "Does it decide as people do?",
    TrustFigure.VOTES: "Have people checked this board?",
    TrustFigure.FLIPS: "Does the order of the answers bias it?",
    TrustFigure.FAILURES: "How many battles have no verdict?",
}
LENGTH = "Does the length of an answer bias it?"
STYLE = (
    "Terms that may bias the judge beside how good answers are, fitted together with the ratings. "
    "An interval that holds 0 says that the battles show no such effect."
)
TERMS = ("Term", "Points", "95 % interval", "Points are")
BETWEEN = ("System", "Rank", "Rating", "95 % interval")


def show() -> None:
    """Show what is known of a board's judge."""
    view = addressed_board()
    name_page("Trust and method", view.full_title)
    put_part(as_parts(view), "page")


def as_parts(view: BoardView) -> Parts:
    """Each question with its answer and folded details; then how the numbers come about."""
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
            "between_note": f"{view.between.note} {LEFT_OUT}",
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
    answer = view.style.note or "This board does not tell."
    table = words_table(TERMS, view.style.rows, spare=1) if view.style.rows else ""
    yield {"asked": LENGTH, "answer": answer, "note": STYLE, "table": table, "part": LENGTH_PART}
