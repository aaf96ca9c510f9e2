"""What metrics say of a question as a whole: facts, conflicts, aspects, sub-questions, contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from xml.etree.ElementTree import Element

from arena.services.evidence.claims import ConflictView, PassageStance, Resolution, conflicts_of, source_of
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
from arena.site.questions.answers import claim_list
from arena.site.ui.components import note
from arena.site.ui.markup import element, folded, put
from arena.site.ui.tables import rows_table
from data.percent import percent
from data.store.boards.scores import ScoredAnswer
from judges.metrics.context import ANSWER, CONTEXT
from judges.metrics.context.subsets import Use
from judges.metrics.coverage import ASPECT_COVERAGE
from judges.metrics.factuality import FACTUALITY
from judges.metrics.reference import REFERENCE_COVERAGE

NO_CONTEXTS = "No answers file gives the contexts of its system, so what was retrieved is not known."


def _scores(question_view: QuestionView, metric: str) -> list[ScoredAnswer]:
    """The scores of every answer by a metric, best answer first: the embedded ones where there are any."""
    scores = [score for answer in question_view.answers for score in answer.scores if score.metric == metric]
    judge = min((score.judge for score in scores), default="")
    return [score for score in scores if score.judge == judge]


def show_conflicts(question_view: QuestionView) -> None:
    """Where the passages disagree, and which side is upheld."""
    scores = _scores(question_view, FACTUALITY)
    conflicts = conflicts_of(scores)
    if not question_view.question.passages:
        note("This question comes without passages, so factuality is not computed.")
    elif not scores:
        note("Factuality was not scored in this round.")
    elif not conflicts:
        note("No two passages were found to contradict each other, by themselves or over a claim.")
    else:
        note(source_of(scores[0]).sentence)
    titles = {passage.id: passage.title for passage in question_view.question.passages}
    for at, conflict in enumerate(conflicts):
        title = f"{conflict.first} against {conflict.second}"
        put(folded(title, _conflict(conflict, titles), is_open=at == 0))


def _conflict(conflict: ConflictView, titles: dict[str, str]) -> Element:
    pair = (conflict.first, conflict.second)
    names = [f"{name}: {titles[name]}" if titles.get(name) else name for name in pair]
    head = element("p", element("strong", " against ".join(names)))
    words = [element("p", f"“{text}”", class_="aa-sub") for text in conflict.words]
    alike: dict[tuple[object, ...], list[Resolution]] = {}
    for resolution in conflict.resolutions:
        alike.setdefault((resolution.sentence, resolution.point, resolution.reasons), []).append(resolution)
    blocks = [_resolutions(group) for group in alike.values()]
    return element("div", head, *words, *blocks, class_="aa-conflict")


def _resolutions(alike: Sequence[Resolution]) -> Element:
    """One resolution of a conflict, with the answers that it was weighed with and their claims to unfold."""
    first = alike[0]
    sign = "✓ " if first.decided else "· "
    head = element("p", element("strong", f"{sign}{first.sentence}"))
    systems = ", ".join(resolution.system for resolution in alike)
    answers = "answers" if len(alike) > 1 else "answer"
    point = element("p", f"In dispute, weighed with the {answers} of {systems}: “{first.point}”")
    stances = [_stance(stance) for stance in first.reasons]
    return element(
        "div", head, point, *stances, *(_touched(resolution) for resolution in alike if resolution.claims)
    )


def _touched(resolution: Resolution) -> Element:
    claims = "1 claim" if len(resolution.claims) == 1 else f"{len(resolution.claims)} claims"
    title = f"{claims} of {resolution.system} that one of the two passages bears on"
    return element("details", element("summary", title), claim_list(resolution.claims))


def _stance(stance: PassageStance) -> Element:
    side, style = ("+ for it", "aa-good") if stance.supports else ("− against it", "aa-bad")
    source = f" {stance.passage} ({stance.probability:.2f}; source {stance.prior:.2f})"
    words = f": “{stance.words}”" if stance.words else ""
    return element("p", element("span", side, class_=style), f"{source}{words}", class_="aa-sub")


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
    evidence = element("div", *(_evidence(row) for row in rows), class_="aa-conflict")
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
