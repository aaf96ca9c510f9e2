"""The list of a board's questions as a table: who won, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from arena.site.boards.view_model import BoardView
from arena.site.ui.formats import shown
from arena.site.ui.markup import Child, element, explained
from arena.site.ui.tables import anchor, rows_table
from data.percent import percent
from data.store.rounds.question_stats import QuestionStats

SECOND = "aa-second"
MEANINGS = {
    "Winner": "The system with the largest share of the win, over its battles on the question; the reference "
    "is left aside.",
    "Margin": "By how much the winner's share of the win is larger than the second: 0 % is a shared win.",
    "Spread": "How far the systems' shares of the win are apart: their standard deviation, 0 to 0.5.",
    "Disagreement": "Battles whose verdict changed with the order, or on which judges disagree, of those "
    "with a verdict.",
    "Flips": "Battles whose verdict changed with the order of the answers.",
}


def question_table(view: BoardView, questions: Sequence[QuestionStats]) -> Element:
    """Questions, each leading to its evidence."""
    heads = [
        element("th", explained(name, meaning), scope="col", class_=_class_of(name))
        for name, meaning in MEANINGS.items()
    ]
    header = [element("th", "Question", scope="col", class_="aa-left"), *heads]
    rows = (_row(view, question) for question in questions)
    return rows_table(header, rows, classes="aa-questions")


def _row(view: BoardView, question: QuestionStats) -> Element:
    named = anchor(question.question, "question", board=view.name, id=question.id)
    about = f"{question.id} · {view.label(question.domain)}"
    head = element("th", named, element("span", about, class_="aa-sub"), scope="row")
    undecided = f" · {question.undecided:,} without a verdict" if question.undecided else ""
    return element(
        "tr",
        head,
        element("td", *_winner(view, question), class_=_class_of("Winner")),
        element("td", percent(question.margin), class_=_class_of("Margin")),
        element("td", shown(question.spread, ".2f"), class_=_class_of("Spread")),
        element(
            "td",
            percent(question.disagreement),
            element("span", f"{question.battles:,} battles{undecided}", class_="aa-sub"),
            class_=_class_of("Disagreement"),
        ),
        element("td", f"{question.flips:,}", class_=_class_of("Flips")),
    )


def _class_of(name: str) -> str:
    if name == "Winner":
        return "aa-left aa-words aa-winner"
    return "" if name == "Margin" else SECOND


def _winner(view: BoardView, question: QuestionStats) -> Iterator[Child]:
    if question.winner is not None:
        yield anchor(question.winner, "system", board=view.name, id=question.winner)
    elif question.winners:
        yield element("span", f"{question.winners:,} systems share it", class_="aa-muted")
    else:
        yield element("span", "no verdict", class_="aa-muted")
