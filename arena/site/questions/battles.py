"""Battles on a question page: who won, in both orders, and why."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from arena.services.evidence.highlights import Places
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.reading import best_of, final_readings, lead_of
from arena.services.evidence.reasons import Reasons, read_reasons
from arena.site.boards.sentences import listed
from arena.site.boards.view_model import BoardView
from arena.site.questions.answers import fact_places
from arena.site.ui.markup import element
from arena.site.ui.tables import anchor, rows_table
from arena.site.ui.url_state import chosen_words
from data.models import BattleEvidence, BattleRecord, Judgment, Preference, Presentation
from data.percent import percent


def standing(view: BoardView, question_view: QuestionView) -> str:
    """Who answered the question best, in a sentence."""
    if not question_view.answers:
        return "Its verdicts are below; the answers are not shown."
    best = best_of(question_view.battles)
    if not best:
        return "No answer to it was judged in this round."
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
    return f"{who} answered it {'equally well, and best' if several else 'best'}: {won}."


def chosen_battle(battles: Sequence[BattleEvidence]) -> BattleEvidence | None:
    """The battle that the address names; by default the closest, which is first."""
    by_key = {evidence.battle.key: evidence for evidence in battles}
    return by_key.get(chosen_words("battle"), battles[0] if battles else None)


def choices(battles: Sequence[BattleEvidence]) -> dict[str, str]:
    """What the address calls each battle, and what readers choose it by."""
    return {evidence.battle.key: _choice(evidence) for evidence in battles}


def _choice(evidence: BattleEvidence) -> str:
    lead = lead_of(evidence)
    margin = "" if lead is None else f", by {lead:.2f}"
    return f"{sentence_of(evidence.battle)}{margin}"


def places_of_battle(shown: BattleEvidence, places: Places) -> set[int]:
    """The sentences that the reasons of a battle quote."""
    reasons = [read_reasons(judgment.rationale) for judgment in shown.judgments]
    sides = [side for found in reasons if found is not None for side in (found.a, found.b)]
    return {
        place
        for side in sides
        for facts in side.facts
        for fact in facts.facts
        for place in fact_places(fact, places)
    }


def how_close(shown: BattleEvidence) -> str:
    """How far the winner was ahead, in a sentence; empty where nothing was judged."""
    lead = lead_of(shown)
    if lead is None:
        return ""
    readings = len(final_readings(shown))
    times = "one reading" if readings == 1 else f"{readings:,} readings"
    return f"Margin {lead:.2f} over {times}, where 0 is even and 1 the most."


def in_short(battle: BattleRecord, reasons: Reasons) -> str:
    """What a judge held the answers against, and how each side did, in sentences."""
    sides = " ".join(
        f"{system} gives {side.says}."
        if side.says
        else f"{system}: coverage {percent(side.coverage)}, padding {percent(side.padding)}."
        for system, side in ((battle.system_a, reasons.a), (battle.system_b, reasons.b))
    )
    return f"The judge held both answers against the {reasons.ground_truth}. {sides}"


def battle_table(view: BoardView, question_view: QuestionView, battles: Sequence[BattleEvidence]) -> Element:
    """Every battle with its verdict in each order, leading to its explanation."""
    header = (
        *(("Battle", "aa-left"), ("Verdict", "aa-left")),
        *(("Verdict by order", "aa-left aa-second"), ("Position flip", "aa-left aa-second")),
    )
    body = [_row(view, question_view, shown) for shown in battles]
    return rows_table(header, body, classes="aa-battles")


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
        element("span", f"{_first(battle, judgment)} first: {said_of(battle, judgment)}", class_="aa-sub")
        for judgment in shown.judgments
    ]
    flip = {True: "yes", False: "no", None: "–"}[battle.flipped]
    return element(
        "tr",
        element("th", name, scope="row"),
        element("td", verdict_chip(battle), class_="aa-left"),
        element("td", *readings, class_="aa-left aa-second"),
        element("td", flip, class_="aa-left aa-second"),
    )


def verdict_chip(battle: BattleRecord) -> Element:
    """What came of a battle, as a mark."""
    match battle.preference:
        case Preference.A:
            return element("span", f"{battle.system_a} wins", class_="aa-verdict aa-won")
        case Preference.B:
            return element("span", f"{battle.system_b} wins", class_="aa-verdict aa-won")
        case Preference.TIE:
            return element("span", "tie", class_="aa-verdict aa-tied")
        case None:
            return element("span", battle.outcome or "pending", class_="aa-verdict aa-lost")


def sentence_of(battle: BattleRecord) -> str:
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


def order_of(battle: BattleRecord, judgment: Judgment) -> str:
    """Which answer one judgment saw first."""
    return f"{_first(battle, judgment)} shown first"


def said_of(battle: BattleRecord, judgment: Judgment) -> str:
    """What one judgment came to, with its margin where the judge gives one."""
    if judgment.preference is None:
        return str(judgment.outcome)
    sides = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    margin = "" if judgment.margin is None else f" (margin {abs(judgment.margin):.2f})"
    return f"{sides[judgment.preference]}{margin}"


def remarks_of(battle: BattleRecord) -> list[str]:
    """What readers must know of a verdict."""
    flipped = "The judge changed its mind when the order was swapped, so the battle is a tie."
    return [text for text in (battle.detail, flipped if battle.flipped else "") if text]


def provenance_of(judgment: Judgment) -> str:
    """Everything that is stored of a judgment, a line each."""
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
        "cost": reply and (f"{reply.cost_usd:.6f} USD" if reply.cost_usd is not None else "price not known"),
        "latency": reply and f"{reply.latency:.2f} s{' (from the cache)' if reply.cached else ''}",
    }
    return "\n".join(f"{name}: {value}" for name, value in entries.items() if value)
