"""A question: the closest battle with its reasons, the best answer next to another, facts and sources."""

from collections.abc import Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from arena.html_pages import Parts, macro
from arena.models.boards import BoardView
from arena.services.boards.sentences import listed
from arena.services.evidence.covered_facts import FactTable, fact_tables, reasons_diff
from arena.services.evidence.highlights import mark_answer
from arena.services.evidence.questions import (
    QuestionView,
    best_of,
    closest_first,
    final_readings,
    lead_of,
    side_by_side,
)
from arena.services.evidence.reasons import Reasons, explained, read_reasons
from arena.site.boards.downloads import no_questions
from arena.site.boards.pickers import addressed_board
from arena.site.queries import evidence_of
from arena.site.questions.answers import LEGEND, answer_text, scores_of
from arena.site.ui.html import Cell, Child, Column, anchor, link, name_page, page_heading, put_part
from arena.site.ui.url_state import choose_one, chosen_words
from data.models import BattleEvidence, BattleRecord, Judgment, Preference, Presentation
from judges.metrics.registry import ReadFact


def standing(view: BoardView, question_view: QuestionView) -> str:
    """Describe the best answers to the question, in a sentence."""
    if not question_view.answers:
        return "The verdicts are below; the answers are hidden."
    best = best_of(question_view.battles)
    if not best:
        return "No answer to this question was judged in this round."
    names = listed([view.the_reference if system == view.reference else system for system in best])
    who = f"{names[0].upper()}{names[1:]}" if view.reference == next(iter(best)) else names
    records = list(best.values())
    first, several = records[0], len(records) > 1
    if len(set(records)) == 1:
        won = f"{'each' if several else 'it'} won {first.wins:,} of its {first.met:,} battles here"
    elif first.ahead:
        won = f"each won {first.ahead:,} more of its battles here than it lost"
    else:
        won = "each won as many of its battles here as it lost"
    return f"{who} gave the best answer{'s' if several else ''}: {won}."


def chosen_battle(battles: Sequence[BattleEvidence]) -> BattleEvidence | None:
    """Return the battle in the address; by default the first, which is the closest."""
    by_key = {evidence.battle.key: evidence for evidence in battles}
    return by_key.get(chosen_words("battle"), battles[0] if battles else None)


def choices(battles: Sequence[BattleEvidence]) -> dict[str, str]:
    """Return the labels of the battles, by their keys in the address."""
    leads = [(evidence.battle, lead_of(evidence)) for evidence in battles]
    return {
        battle.key: f"{sentence_of(battle)}{'' if lead is None else f', by {lead:.2f}'}"
        for battle, lead in leads
    }


def how_close(evidence: BattleEvidence) -> str:
    """Describe the winner's lead in a sentence; empty without a judgment."""
    lead = lead_of(evidence)
    if lead is None:
        return ""
    readings = len(final_readings(evidence))
    times = "one judgment" if readings == 1 else f"{readings:,} judgments"
    return f"Margin {lead:.2f} over {times} (0 is even, 1 the largest)."


def in_short(battle: BattleRecord, reasons: Reasons) -> str:
    """Describe a verdict's ground truth, its decisive term and each side's result."""
    explanation = explained(reasons, battle.system_a, battle.system_b, in_full=False)
    return f"The judge compared both answers with the {reasons.ground_truth}. {explanation}."


def battle_table(view: BoardView, question_view: QuestionView, battles: Sequence[BattleEvidence]) -> Markup:
    """Return a table of battles with their verdicts in each order, and links to their explanations."""
    second = "aa-left aa-second"
    columns = [
        ("Battle", "aa-left"),
        ("Verdict", "aa-left"),
        ("Verdict by order", second),
        ("Position flip", second),
    ]
    rows = [_row(view, question_view, evidence) for evidence in battles]
    return macro("table", columns, rows, classes="aa-battles")


def _row(view: BoardView, question_view: QuestionView, evidence: BattleEvidence) -> tuple[Child, ...]:
    battle = evidence.battle
    address = {"board": view.name, "id": question_view.question.id, "battle": battle.key}
    readings = [f"{order_of(battle, item)}: {result_of(battle, item)}" for item in evidence.judgments]
    return (
        anchor(f"{battle.system_a} – {battle.system_b}", "question", **address),
        verdict_chip(battle),
        Cell("", sub=readings),
        {True: "yes", False: "no", None: "–"}[battle.flipped],
    )


def verdict_chip(battle: BattleRecord) -> Cell:
    """Return the verdict of a battle as a mark."""
    if battle.preference is None:
        return Cell(battle.outcome or "pending", class_="aa-verdict aa-lost")
    if battle.preference is Preference.TIE:
        return Cell("tie", class_="aa-verdict aa-tied")
    return Cell(f"{_by_rank(battle)[0]} wins", class_="aa-verdict aa-won")


def _by_rank(battle: BattleRecord) -> tuple[str, str]:
    if battle.preference is Preference.B:
        return battle.system_b, battle.system_a
    return battle.system_a, battle.system_b


def sentence_of(battle: BattleRecord) -> str:
    """Describe the outcome of a battle, with the winner first."""
    first, second = _by_rank(battle)
    if battle.preference is None:
        return f"{first} and {second}: {battle.outcome or 'not judged yet'}"
    return f"{first} and {second} tie" if battle.preference is Preference.TIE else f"{first} beats {second}"


def order_of(battle: BattleRecord, judgment: Judgment) -> str:
    """Describe the order of the answers in one judgment."""
    is_first = judgment.presentation is Presentation.A_FIRST
    return f"{battle.system_a if is_first else battle.system_b} shown first"


def result_of(battle: BattleRecord, judgment: Judgment) -> str:
    """Describe the result of one judgment, with its margin if there is one."""
    if judgment.preference is None:
        return str(judgment.outcome)
    sides = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    margin = "" if judgment.margin is None else f" (margin {abs(judgment.margin):.2f})"
    return f"{sides[judgment.preference]}{margin}"


def remarks_of(battle: BattleRecord) -> list[str]:
    """Return the notes on a verdict."""
    flipped = "The judge preferred the other answer when the order was swapped, so the battle is a tie."
    return [text for text in (battle.detail, flipped if battle.flipped else "") if text]


def provenance_of(judgment: Judgment) -> str:
    """Return the stored fields of a judgment, one per line."""
    reply = judgment.reply
    entries = {
        "judge": judgment.judge,
        "model": judgment.model,
        "settings": judgment.settings,
        "prompt sha256": judgment.prompt_hash,
        "parser": judgment.parser,
        "grade": judgment.grade,
        "requests": judgment.calls or None,
        "request sha256": reply and reply.key,
        "tokens in / out": reply and f"{reply.input_tokens} / {reply.output_tokens}",
        "cost": reply and (f"{reply.cost_usd:.6f} USD" if reply.cost_usd is not None else "price unknown"),
        "latency": reply and f"{reply.latency:.2f} s{' (from the cache)' if reply.cached else ''}",
    }
    return "\n".join(f"{name}: {value}" for name, value in entries.items() if value)


KEY = "parts"
PART = "part"
TAB_LABELS: Mapping[str, str] = {"battles": "Battles", "answers": "All answers", "facts": "Facts"}


def show() -> None:
    """Show the question in the address."""
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
    question = evidence_of(view, question_id)
    name_page(f"{question_id}: {question.question.question}", view.full_title)
    battles = closest_first(question.battles)
    parts = as_parts(view, question, battles)
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
    opened = TAB_LABELS.get(part, TAB_LABELS["battles"])
    tabs = st.tabs(list(TAB_LABELS.values()), default=opened, key=KEY, on_change=_into_address)
    for tab, name in zip(tabs, TAB_LABELS, strict=True):
        if tab.open:
            with tab:
                put_part(parts, name)


def _into_address() -> None:
    chosen = st.session_state[KEY]
    st.query_params[PART] = next((name for name, label in TAB_LABELS.items() if label == chosen), "battles")


def as_parts(view: BoardView, question: QuestionView, battles: Sequence[BattleEvidence]) -> Parts:
    """Fill the page's template; Streamlit's controls are separate."""
    chosen = chosen_battle(battles)
    pair = side_by_side(question, None if chosen is None else chosen.battle, chosen_words("answer"))
    best = best_of(question.battles)
    decided = sum(evidence.battle.preference is not None for evidence in question.battles)
    return Parts(
        "pages/question.html",
        {
            "view": view,
            "question": question,
            "facts_of_question": (
                ("domain", question.domain_label),
                ("question", question.question.id),
                ("answers", f"{len(question.answers)}"),
                ("battles decided", f"{decided} of {len(question.battles)}"),
            ),
            "system_link": lambda system: link("system", board=view.name, id=system),
            "reference_word": "human-written reference" if view.by_people else "reference",
            "legend": LEGEND,
            "answer_text": lambda answer: answer_text(mark_answer(answer.answer.answer, answer.scores)),
            "scores_of": scores_of,
            "sentence_of": sentence_of,
            "remarks_of": remarks_of,
            "order_of": order_of,
            "result_of": result_of,
            "how_close": how_close,
            "in_short": in_short,
            "reasons_of": read_reasons,
            "reasons_diff": reasons_diff,
            "provenance_of": provenance_of,
            "board_link": link("", board=view.name),
            "lead": standing(view, question),
            "chosen": chosen,
            "is_closest": len(battles) > 1 and chosen is battles[0],
            "choices": choices(battles),
            "choice_label": f"Battle ({len(battles):,}, closest first)",
            "pair": pair,
            "others": {answer.system: answer.system for answer in (*pair[1:], *question.answers[1:])},
            "beside_label": f"Compare the answer of {pair[0].system} with" if pair else "",
            "best": best,
            "best_word": "best here" if len(best) == 1 else "among the best here",
            "reference_title": "Human-written reference" if view.by_people else "Reference",
            "reference": question.question.reference,
            "battles": battle_table(view, question, battles),
            "fact_tables": [
                (_grid(table), (table.kind.capitalize(), table.source)) for table in fact_tables(question)
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
    details = "; ".join(filter(None, (word, fact.note, ", ".join(filter(None, fact.passages)))))
    return Cell(sign, class_=style, title=f"{system}: {details}")
