"""Battles on a question page: who won, in both orders, and why."""

from collections.abc import Sequence

from markupsafe import Markup

from arena.html_pages import macro
from arena.models.boards import BoardView
from arena.services.boards.sentences import listed
from arena.services.evidence.questions import QuestionView, best_of, final_readings, lead_of
from arena.services.evidence.reasons import Reasons, explained
from arena.site.ui.html import Cell, Child, anchor
from arena.site.ui.url_state import chosen_words
from data.models import BattleEvidence, BattleRecord, Judgment, Preference, Presentation


def standing(view: BoardView, question_view: QuestionView) -> str:
    """Describe the best answers to the question, in a sentence."""
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
    """Return the battle that the address names; by default the closest, which is first."""
    by_key = {evidence.battle.key: evidence for evidence in battles}
    return by_key.get(chosen_words("battle"), battles[0] if battles else None)


def choices(battles: Sequence[BattleEvidence]) -> dict[str, str]:
    """Return the battles' keys in the address, with their labels."""
    leads = [(evidence.battle, lead_of(evidence)) for evidence in battles]
    return {
        battle.key: f"{sentence_of(battle)}{'' if lead is None else f', by {lead:.2f}'}"
        for battle, lead in leads
    }


def how_close(shown: BattleEvidence) -> str:
    """Describe the winner's lead, in a sentence; empty where nothing was judged."""
    lead = lead_of(shown)
    if lead is None:
        return ""
    readings = len(final_readings(shown))
    times = "one reading" if readings == 1 else f"{readings:,} readings"
    return f"Margin {lead:.2f} over {times}, where 0 is even and 1 the most."


def in_short(battle: BattleRecord, reasons: Reasons) -> str:
    """Describe the ground truth of a verdict, the term that decided and each side's result."""
    told = explained(reasons, battle.system_a, battle.system_b, in_full=False)
    return f"The judge held both answers against the {reasons.ground_truth}. {told}."


def battle_table(view: BoardView, question_view: QuestionView, battles: Sequence[BattleEvidence]) -> Markup:
    """Return every battle with its verdict in each order, leading to its explanation."""
    second = "aa-left aa-second"
    columns = [
        ("Battle", "aa-left"),
        ("Verdict", "aa-left"),
        ("Verdict by order", second),
        ("Position flip", second),
    ]
    rows = [_row(view, question_view, shown) for shown in battles]
    return macro("table", columns, rows, classes="aa-battles")


def _row(view: BoardView, question_view: QuestionView, shown: BattleEvidence) -> tuple[Child, ...]:
    battle = shown.battle
    address = {"board": view.name, "id": question_view.question.id, "battle": battle.key}
    readings = [f"{order_of(battle, judgment)}: {said_of(battle, judgment)}" for judgment in shown.judgments]
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


def said_of(battle: BattleRecord, judgment: Judgment) -> str:
    """Describe the result of one judgment, with its margin where the judge gives one."""
    if judgment.preference is None:
        return str(judgment.outcome)
    sides = {Preference.A: battle.system_a, Preference.B: battle.system_b, Preference.TIE: "tie"}
    margin = "" if judgment.margin is None else f" (margin {abs(judgment.margin):.2f})"
    return f"{sides[judgment.preference]}{margin}"


def remarks_of(battle: BattleRecord) -> list[str]:
    """Return the notes that readers of a verdict need."""
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
