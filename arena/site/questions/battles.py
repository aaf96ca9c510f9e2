"""Battles on a question page: who won, in both orders, and why."""

from __future__ import annotations

import secrets
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.evidence.judgment_flags import LONGEST_REASON, SHORTEST_REASON, Complaint
from arena.services.evidence.questions import QuestionView
from arena.site.boards.view_model import BoardView
from arena.site.questions.answers import Reasons, Side, read_reasons, show_facts
from arena.site.services import arena
from arena.site.ui.components import note
from arena.site.ui.errors import plain
from arena.site.ui.formats import percent
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor, rows_table
from arena.site.ui.url_state import choose_one
from data.errors import ArenaError
from data.records import BattleEvidence, BattleRecord, Judgment, Preference, Presentation

SESSION = "reporter"


def offer_report(round_name: str, battle: BattleRecord, judgment: Judgment, at: int) -> None:
    """Offer to report a judgment."""
    with (
        st.popover("Report this judgment", icon=":material/flag:", key=f"report-{at}"),
        st.form(f"report-form-{at}", border=False, clear_on_submit=True),
    ):
        note(
            "What is wrong with it? The organisers read every report; the board stays as it is until they "
            "act."
        )
        reason = st.text_area(
            "Reason", max_chars=LONGEST_REASON, help=f"At least {SHORTEST_REASON} characters."
        )
        if st.form_submit_button("Send"):
            _send(round_name, battle, judgment, reason)


def _send(round_name: str, battle: BattleRecord, judgment: Judgment, reason: str) -> None:
    session = st.session_state.setdefault(SESSION, secrets.token_hex(16))
    try:
        arena().judgment_reports.add(
            Complaint(
                round_name=round_name,
                question_id=battle.question_id,
                battle=battle.key,
                judge=judgment.judge,
                presentation=judgment.presentation,
                reason=reason,
                session=session,
            )
        )
    except ArenaError as error:
        st.warning(plain(error))
    else:
        st.success("Reported. Thank you.", icon=":material/check:")


def choose_battle(view: BoardView, question_view: QuestionView) -> BattleEvidence | None:
    """List the battles and return the one that the address names, or that the reader picks."""
    if not question_view.battles:
        note("This question has no battle in the round.")
        return None
    by_key = {evidence.battle.key: evidence for evidence in question_view.battles}
    put(_table(view, question_view))
    sentences = {key: _sentence(evidence.battle) for key, evidence in by_key.items()}
    with st.container(width=480):
        return by_key[choose_one("battle", "Explain a battle", sentences)]


def show_battle(view: BoardView, shown: BattleEvidence) -> None:
    """One battle: verdict, then each judgment with its reasons."""
    battle = shown.battle
    put(element("p", element("strong", _sentence(battle)), " ", _chip(battle), class_="aa-lead"))
    for text in _remarks(battle):
        st.text(text)
    before = ""
    for at, judgment in enumerate(shown.judgments):
        _show_judgment(battle, judgment, at, repeated=bool(before) and judgment.rationale == before)
        offer_report(str(view.round_name), battle, judgment, at)
        before = judgment.rationale


def _show_judgment(battle: BattleRecord, judgment: Judgment, at: int, *, repeated: bool) -> None:
    put(
        element(
            "p",
            element("strong", _order(battle, judgment)),
            f" · {_said(battle, judgment)}",
            class_="aa-note",
        )
    )
    reasons = read_reasons(judgment.rationale)
    if repeated:
        note("For the same reasons.")
    elif reasons is not None:
        _show_reasons(battle, reasons, at)
    elif judgment.rationale:
        with st.container(border=True, key=f"prose-rationale-{at}"):
            st.text(judgment.rationale)
    else:
        st.text(judgment.detail or "The judge left no rationale.")
    with st.expander("Who judged, and how", key=f"provenance-{at}", icon=":material/fingerprint:"):
        st.code(_provenance(judgment), language=None, wrap_lines=True)
        if judgment.reply is not None:
            note("The reply as it came:")
            st.code(judgment.reply.text, language=None, wrap_lines=True)


def _show_reasons(battle: BattleRecord, reasons: Reasons, at: int) -> None:
    note(f"The judge held both answers against the {reasons.yardstick}.")
    sides = ((battle.system_a, reasons.a), (battle.system_b, reasons.b))
    for column, (system, side) in zip(st.columns(2), sides, strict=True):
        with column, st.container(border=True, height="stretch"):
            _show_side(system, side, f"{system}-{at}")


def _show_side(system: str, side: Side, key: str) -> None:
    put(element("p", element("strong", system), class_="aa-name"))
    if side.says:
        note(f"It gives {side.says}.")
        return
    note(f"Coverage {percent(side.coverage)}, padding {percent(side.padding)}.")
    for facts in side.facts:
        show_facts(facts, key=key)


def _table(view: BoardView, question_view: QuestionView) -> Element:
    header = ("Battle", "Verdict", "Verdict by order", "Position flip")
    body = [_row(view, question_view, shown) for shown in question_view.battles]
    return rows_table([(name, "aa-left") for name in header], body, classes="aa-battles")


def _row(view: BoardView, question_view: QuestionView, shown: BattleEvidence) -> Element:
    battle = shown.battle
    name = anchor(
        f"{battle.system_a} – {battle.system_b}",
        "question",
        board=view.name,
        id=question_view.question.id,
        battle=battle.key,
    )
    readings = [
        element("span", f"{_first(battle, judgment)} first: {_said(battle, judgment)}", class_="aa-sub")
        for judgment in shown.judgments
    ]
    flip = {True: "yes", False: "no", None: "–"}[battle.flipped]
    return element(
        "tr",
        element("th", name, scope="row"),
        element("td", _chip(battle), class_="aa-left"),
        element("td", *readings, class_="aa-left aa-second"),
        element("td", flip, class_="aa-left aa-second"),
    )


def _chip(battle: BattleRecord) -> Element:
    match battle.preference:
        case Preference.A:
            return element("span", f"{battle.system_a} wins", class_="aa-verdict aa-won")
        case Preference.B:
            return element("span", f"{battle.system_b} wins", class_="aa-verdict aa-won")
        case Preference.TIE:
            return element("span", "tie", class_="aa-verdict aa-tied")
        case None:
            return element("span", battle.outcome or "pending", class_="aa-verdict aa-lost")


def _sentence(battle: BattleRecord) -> str:
    """What came of a battle, with the winner first."""
    match battle.preference:
        case Preference.A:
            return f"{battle.system_a} beats {battle.system_b}"
        case Preference.B:
            return f"{battle.system_b} beats {battle.system_a}"
        case Preference.TIE:
            return f"{battle.system_a} and {battle.system_b} tie"
        case None:
            return f"{battle.system_a} and {battle.system_b}: {battle.outcome or 'not judged yet'}"


def _first(battle: BattleRecord, judgment: Judgment) -> str:
    return battle.system_a if judgment.presentation is Presentation.A_FIRST else battle.system_b


def _order(battle: BattleRecord, judgment: Judgment) -> str:
    return f"{_first(battle, judgment)} shown first"


def _said(battle: BattleRecord, judgment: Judgment) -> str:
    """What one judgment came to, with its margin where the judge gives one."""
    if judgment.preference is None:
        return str(judgment.outcome)
    sides = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    margin = "" if judgment.margin is None else f" (margin {abs(judgment.margin):.2f})"
    return f"{sides[judgment.preference]}{margin}"


def _remarks(battle: BattleRecord) -> list[str]:
    flipped = "The judge changed its mind when the order was swapped, so the battle is a tie."
    return [text for text in (battle.detail, flipped if battle.flipped else "") if text]


def _provenance(judgment: Judgment) -> str:
    """Everything that is stored of a judgment, a line each."""
    reply = judgment.reply
    entries = {
        "judge": judgment.judge,
        "model": judgment.model,
        "endpoint": reply and reply.endpoint,
        "settings": judgment.settings,
        "prompt sha256": judgment.prompt_hash,
        "parser": judgment.parser,
        "grade": judgment.grade,
        "requests": judgment.calls or None,
        "request sha256": reply and reply.key,
        "tokens in / out": reply and f"{reply.input_tokens} / {reply.output_tokens}",
        "cost": reply and (f"{reply.cost_usd:.6f} USD" if reply.cost_usd is not None else "price not known"),
        "latency": reply and f"{reply.latency:.2f} s{' (from the cache)' if reply.cached else ''}",
    }
    return "\n".join(f"{name}: {value}" for name, value in entries.items() if value)
