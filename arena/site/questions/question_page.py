"""A question: the closest battle and its reasons, the best answer beside another, facts and sources."""

from collections.abc import Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from arena.html_pages import Parts, macro
from arena.models.boards import BoardView
from arena.services.evidence.covered_facts import FactTable, fact_tables, reasons_diff
from arena.services.evidence.highlights import mark_answer
from arena.services.evidence.questions import QuestionView, beside, best_of, closest_first
from arena.services.evidence.reasons import read_reasons
from arena.site.boards.downloads import no_questions
from arena.site.boards.pickers import addressed_board
from arena.site.queries import evidence_of
from arena.site.questions.answers import LEGEND, answer_text, scores_of
from arena.site.questions.battles import (
    battle_table,
    choices,
    chosen_battle,
    how_close,
    in_short,
    order_of,
    provenance_of,
    remarks_of,
    said_of,
    sentence_of,
    standing,
)
from arena.site.ui.html import Cell, Column, link, name_page, page_heading, put_part
from arena.site.ui.url_state import choose_one, chosen_words
from data.models import BattleEvidence
from judges.metrics.registry import ReadFact

KEY = "parts"
PART = "part"
LABELS: Mapping[str, str] = {"battles": "Battles", "answers": "All answers", "facts": "Facts"}
"""The tabs by their names in the address."""


def show() -> None:
    """Show the question that the address names."""
    view = addressed_board()
    if view.round_name is None:
        page_heading("Question")
        no_questions(view)
        return
    question_id = chosen_words("id")
    if not question_id:
        page_heading("Question")
        st.info("Choose a question on the questions page.", icon=":material/list:")
        return
    shown = evidence_of(view, question_id)
    name_page(f"{question_id}: {shown.question.question}", view.full_title)
    battles = closest_first(shown.battles)
    parts = as_parts(view, shown, battles)
    put_part(parts, "head")
    main, side = st.columns([13, 7], gap="large")
    with main:
        put_part(parts, "battle_heading")
        if battles:
            choose_one("battle", parts.values["choice_label"], parts.values["choices"], width=480)
            put_part(parts, "battle")
        put_part(parts, "answers_heading")
        if others := parts.values["others"]:
            choose_one("answer", parts.values["beside_label"], others, width=320)
        put_part(parts, "pair")
    with side, st.container(key="sources"):
        put_part(parts, "sources")
    put_part(parts, "more")
    _show_tabs(parts)


def _show_tabs(parts: Parts) -> None:
    part = chosen_words(PART)
    opened = LABELS.get(part, LABELS["battles"])
    tabs = st.tabs(list(LABELS.values()), default=opened, key=KEY, on_change=_into_address)
    for tab, name in zip(tabs, LABELS, strict=True):
        if tab.open:
            with tab:
                put_part(parts, name)


def _into_address() -> None:
    chosen = st.session_state[KEY]
    st.query_params[PART] = next((name for name, label in LABELS.items() if label == chosen), "battles")


def as_parts(view: BoardView, shown: QuestionView, battles: Sequence[BattleEvidence]) -> Parts:
    """Fill the template of the page: all but the controls of Streamlit."""
    chosen = chosen_battle(battles)
    pair = beside(shown, None if chosen is None else chosen.battle, chosen_words("answer"))
    best = best_of(shown.battles)
    decided = sum(evidence.battle.preference is not None for evidence in shown.battles)
    return Parts(
        "pages/question.html",
        {
            "view": view,
            "question": shown,
            "facts_of_question": (
                ("domain", shown.domain_label),
                ("question", shown.question.id),
                ("answers", f"{len(shown.answers)}"),
                ("battles decided", f"{decided} of {len(shown.battles)}"),
            ),
            "system_link": lambda system: link("system", board=view.name, id=system),
            "reference_word": "human-written reference" if view.by_people else "reference",
            "legend": LEGEND,
            "answer_text": lambda answer: answer_text(mark_answer(answer.answer.answer, answer.scores)),
            "scores_of": scores_of,
            "sentence_of": sentence_of,
            "remarks_of": remarks_of,
            "order_of": order_of,
            "said_of": said_of,
            "how_close": how_close,
            "in_short": in_short,
            "reasons_of": read_reasons,
            "reasons_diff": reasons_diff,
            "provenance_of": provenance_of,
            "board_link": link("", board=view.name),
            "lead": standing(view, shown),
            "chosen": chosen,
            "is_closest": len(battles) > 1 and chosen is battles[0],
            "choices": choices(battles),
            "choice_label": f"Battle, the closest of {len(battles):,} first",
            "pair": pair,
            "others": {answer.system: answer.system for answer in (*pair[1:], *shown.answers[1:])},
            "beside_label": f"Beside the answer of {pair[0].system}" if pair else "",
            "best": best,
            "best_word": "best here" if len(best) == 1 else "among the best here",
            "reference_title": "Human-written reference" if view.by_people else "Reference",
            "reference": shown.question.reference,
            "battles": battle_table(view, shown, battles),
            "fact_tables": [
                (_grid(table), (table.kind.capitalize(), table.source)) for table in fact_tables(shown)
            ],
        },
    )


def _grid(table: FactTable) -> Markup:
    columns: list[Column] = [("Fact", "aa-left")]
    columns += [(Cell(name, class_="aa-turned"), "") for name in table.systems]
    rows = [(text, *map(_fact, table.systems, facts)) for text, facts in table.rows]
    return macro("table", columns, rows, classes="aa-grid", scrolls=True)


def _fact(system: str, fact: ReadFact | None) -> Cell:
    if fact is None:
        return Cell("·", class_="aa-muted", title=f"{system}: not recorded")
    sign, word, style = ("✓", "covered", "aa-good") if fact.covered else ("–", "not covered", "aa-muted")
    told = "; ".join(filter(None, (word, fact.note, ", ".join(filter(None, fact.passages)))))
    return Cell(sign, class_=style, title=f"{system}: {told}")
