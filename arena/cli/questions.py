"""`arena questions`: find and sort the questions of a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, show_json, show_line, show_table
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from arena.services.evidence.question_lists import Order, QuestionFilter

if TYPE_CHECKING:
    from arena.models.results import RoundQuestion

commands = Commands("Questions of a round: find and sort them.")
LONGEST_CELL = 70
"""Characters of a question in the table."""
HEADERS = ("question", "domain", "winner", "margin", "spread", "disagreement", "flips", "text")


@commands.command()
def search(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    words: Annotated[
        str,
        typer.Argument(
            metavar="WORDS",
            help="Words that the question or its id must all have; case makes no difference. Without them: "
            "every question.",
            show_default=False,
        ),
    ] = "",
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="ID", help="Of this domain alone.")
    ] = None,
    winner: Annotated[
        str | None, typer.Option("--winner", metavar="SYSTEM", help="That this system alone won.")
    ] = None,
    sort: Annotated[
        Order,
        typer.Option(
            "--sort",
            help="What comes first: most `disagreement` (battles that flipped with the order, or whose "
            "judges disagree), the `closest` or `clearest` win, the widest `spread` of the systems, most "
            "`flips`.",
        ),
    ] = Order.SET,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many to show.")] = 20,
    after: Annotated[int, typer.Option("--after", min=0, help="Leave out so many of the first.")] = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Find and sort the questions of a round.

    $ arena questions search demo "interest rate" --sort disagreement
    """
    wanted = QuestionFilter(domain=domain, words=words, winner=winner)
    page = open_arena().question_lists.page(name, wanted, sort, after=after, limit=limit, caller=OPERATOR)
    if as_json:
        show_json(page.model_dump(include={"total", "questions"}))
        return
    if page.questions:
        show_table(HEADERS, [_row(question) for question in page.questions])
    if page.total:
        show_line(f"{len(page.questions):,} of {page.total:,} questions.")
    else:
        note("No question matches. Use other or fewer words.")


def _row(question: RoundQuestion) -> tuple[str, ...]:
    shares = (question.margin, question.spread, question.disagreement)
    text = " ".join(question.question.split())
    return (
        question.id,
        question.domain,
        question.winner or (f"{question.winners} share it" if question.winners else "–"),
        *("–" if share is None else f"{share:.2f}" for share in shares),
        str(question.flips),
        text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…",
    )
