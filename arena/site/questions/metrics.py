"""What metrics say of a question as a whole: facts, aspects, sub-questions, contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from xml.etree.ElementTree import Element

from arena.services.evidence.coverage import (
    AspectCell,
    AspectRow,
    ContextView,
    FactCell,
    FactRow,
    Standing,
    SubQuestionCell,
    SubQuestionRow,
    aspect_grid,
    fact_grid,
    read_context,
    sub_question_grid,
)
from arena.services.evidence.questions import QuestionView
from arena.site.ui.components import note
from arena.site.ui.markup import element, folded, put
from arena.site.ui.tables import rows_table
from data.percent import percent
from data.store.boards.scores import ScoredAnswer
from judges.metrics.context import ANSWER, CONTEXT
from judges.metrics.context.subsets import Use
from judges.metrics.coverage import ASPECT_COVERAGE
from judges.metrics.reference import REFERENCE_COVERAGE

NO_CONTEXTS = "No answers file gives the contexts of its system, so what was retrieved is not known."


def _scores(question_view: QuestionView, metric: str) -> list[ScoredAnswer]:
    """The scores of every answer by a metric, best answer first: the embedded ones where there are any."""
    scores = [score for answer in question_view.answers for score in answer.scores if score.metric == metric]
    judge = min((score.judge for score in scores), default="")
    return [score for score in scores if score.judge == judge]


FACT_SIGNS: Mapping[Standing, tuple[str, str, str]] = MappingProxyType(
    {
        Standing.COVERED: ("✓", "covered", "aa-good"),
        Standing.PARTLY: ("◐", "partly", "aa-muted"),
        Standing.BASIS: ("–", "missing", "aa-bad"),
    }
)


def show_facts(question_view: QuestionView) -> None:
    """What every answer does with every fact of the reference, side by side."""
    if not question_view.question.reference:
        note("This question is shown without a reference, so there are no facts to cover.")
        return
    scores = [score for score in _scores(question_view, REFERENCE_COVERAGE) if score.details.get("facts")]
    rows = fact_grid(scores)
    if not rows:
        note("No answer has been scored by the facts that it covers.")
        return
    who = f"by {scores[0].judge}" if scores[0].judge else "by shared words"
    note(f"Told {who}: ✓ covered, ◐ partly, – missing. Point at a mark for the answer's words.")
    put(_grid("Fact", [(row.text, [_fact_cell(cell) for cell in row.cells]) for row in rows], _names(rows)))


def _fact_cell(cell: FactCell) -> Element:
    sign, word, style = FACT_SIGNS[cell.standing]
    words = f": “{cell.evidence}”" if cell.evidence else ""
    mark = element("span", f"{sign} {word}", class_=style)
    return element("td", mark, title=f"{cell.system}: {word}{words}")


def show_aspects(question_view: QuestionView) -> None:
    """Which aspects each answer covers, and by what."""
    if not question_view.question.aspects:
        note("This question comes without aspects, so their coverage is not computed.")
        return
    rows = aspect_grid(_scores(question_view, ASPECT_COVERAGE))
    if not rows:
        note("No answer has a score for its aspects.")
        return
    note("✓ a claim of the answer that a passage supports addresses the aspect, – none does.")
    put(
        _grid(
            "Aspect", [(row.text, [_aspect_cell(cell) for cell in row.cells]) for row in rows], _names(rows)
        )
    )
    evidence = element("div", *(_evidence(row) for row in rows), class_="aa-evidence")
    put(folded("The evidence, aspect by aspect", evidence))


def _aspect_cell(cell: AspectCell) -> Element:
    if not cell.covered:
        return element("td", "–", title=f"{cell.system}: not covered")
    source = ", ".join(cell.passages)
    return element("td", element("span", "✓", class_="aa-good"), title=f"{cell.system}: covered, {source}")


def _evidence(row: AspectRow) -> Element:
    lines = [
        element(
            "p",
            element("strong", f"{cell.system}: "),
            f"{'; '.join(cell.claims)}  [{', '.join(cell.passages)}]",
            class_="aa-sub",
        )
        for cell in row.cells
        if cell.covered
    ]
    none = [] if lines else [element("p", "No answer covers it.", class_="aa-sub")]
    return element("div", element("p", element("strong", row.text)), *lines, *none)


def show_sub_questions(question_view: QuestionView) -> None:
    """Which sub-questions each answer answers."""
    if not question_view.question.sub_questions:
        note("This question comes without sub-questions, so their coverage is not computed.")
        return
    rows = sub_question_grid(_scores(question_view, ANSWER), _scores(question_view, CONTEXT))
    if not rows:
        note("No answer was scored by sub-questions in this round.")
        return
    contexts = any(cell.context is not None for row in rows for cell in row.cells)
    below = " Below it whether its context does." if contexts else f" {NO_CONTEXTS}"
    note(f"✓ the answer answers the sub-question, – it does not.{below}")
    put(
        _grid(
            "Sub-question",
            [(_sub_question(row), [_sub_question_cell(cell) for cell in row.cells]) for row in rows],
            _names(rows),
        )
    )


def _sub_question(row: SubQuestionRow) -> str:
    return row.text if row.answerable else f"{row.text} (the passages do not answer it: it counts nowhere)"


def _sub_question_cell(cell: SubQuestionCell) -> Element:
    mark = element("td", _sign(cell.answer))
    if cell.context is not None:
        mark.append(element("span", f"context {'✓' if cell.context else '–'}", class_="aa-sub"))
    return mark


def _sign(value: bool | None) -> Element:
    if value is None:
        return element("span", "·", class_="aa-muted", title="not scored")
    return element("span", "✓" if value else "–", class_="aa-good" if value else "aa-muted")


def show_contexts(question_view: QuestionView) -> None:
    """What the passages that each system was given cover."""
    scores = _scores(question_view, CONTEXT)
    with_contexts = {answer.system for answer in question_view.answers if answer.answer.contexts}
    without = [
        answer.system
        for answer in question_view.answers
        if not answer.is_reference and answer.system not in with_contexts
    ]
    if not with_contexts:
        note(NO_CONTEXTS)
        return
    if without:
        note(f"Not known for {', '.join(without)}: the answers file gives no contexts.")
    if not question_view.question.sub_questions:
        note("This question comes without sub-questions, so what its contexts cover is not computed.")
    elif not scores:
        note("The contexts were not scored in this round.")
    for score in scores:
        if score.system in with_contexts:
            put(_context(read_context(score)))


def _context(view: ContextView) -> Element:
    name = element("strong", view.system)
    if view.why_not:
        return element("p", name, f"  not computed: {view.why_not}", class_="aa-note")
    parts = [f"{use}: {', '.join(view.uses[use])}" for use in Use if view.uses.get(use)]
    missing = f"missing, though it would help: {', '.join(view.missing)}" if view.missing else ""
    uses = "; ".join([*parts, missing] if missing else parts)
    covers = f"  answers {percent(view.coverage)} of the sub-questions. "
    return element("p", name, covers, element("span", uses, class_="aa-sub"))


def _names(rows: Sequence[AspectRow] | Sequence[FactRow] | Sequence[SubQuestionRow]) -> tuple[str, ...]:
    return tuple(cell.system for cell in rows[0].cells)


def _grid(heading: str, rows: Sequence[tuple[str, Sequence[Element]]], names: Sequence[str]) -> Element:
    """A table of marks: things by systems."""
    heads = [element("th", element("span", name), scope="col") for name in names]
    body = [element("tr", element("th", text, scope="row"), *cells) for text, cells in rows]
    return rows_table(
        [(heading, "aa-left"), *heads], body, classes="aa-grid", class_="aa-wrap aa-scroll", tabindex="0"
    )
