"""The scores of one answer with what they rest on: statements covered and missed, claims by posterior."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.boards.metric_columns import BOARD_METRICS
from arena.services.evidence.claims import ClaimView, Witness, read_claims
from arena.services.evidence.coverage import Standing, StatementView, read_statements
from arena.site.ui.formats import percent
from arena.site.ui.markup import element, explained, put
from data.store.boards.scores import ScoredAnswer
from judges.metrics.factuality.measures import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of one kind: those stored, how many there were, and what to call them."""

    title: str
    sign: str
    lines: tuple[str, ...]
    count: int

    @property
    def tone(self) -> str:
        """The class that colours the title."""
        return {"✓": "aa-good", "✗": "aa-bad"}.get(self.sign, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One answer's part of a rationale; `says` is all of it where the answer says nothing."""

    says: str = ""
    coverage: float | None = None
    padding: float | None = None
    facts: tuple[Facts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """The embedded judge's reasons: what it held the answers against, and how each did."""

    yardstick: str
    a: Side
    b: Side


def read_reasons(rationale: str) -> Reasons | None:
    """The reasons in a rationale; None where it is prose or of another shape."""
    try:
        reasons = json.loads(rationale)
        return Reasons(yardstick=str(reasons["yardstick"]), a=_side(reasons["a"]), b=_side(reasons["b"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _side(side: Mapping[str, Any] | str) -> Side:
    if isinstance(side, str):
        return Side(says=side)
    counts = side["counts"]
    return Side(
        coverage=float(side["coverage"]),
        padding=float(side["padding"]),
        facts=(
            _facts("Covers", "✓", side["covered"], counts["covered"]),
            _facts("Misses", "–", side["missed"], counts["missed"]),
            _facts("Says beyond it", "+", side.get("beyond", []), counts.get("beyond", 0)),
            Facts(
                title="Contradicts",
                sign="✗",
                lines=tuple(
                    f"{_line(fact)}\nThe answer says: {fact['answer']}" for fact in side["contradicted"]
                ),
                count=int(counts["contradicted"]),
            ),
        ),
    )


def _facts(title: str, sign: str, facts: list[Mapping[str, str]], count: int) -> Facts:
    return Facts(title=title, sign=sign, lines=tuple(_line(fact) for fact in facts), count=int(count))


def _line(fact: Mapping[str, str]) -> str:
    source = fact.get("passage", "")
    return f"{fact['text']}  [{source}]" if source else str(fact["text"])


LABELS = {metric.name: metric.label for metric in BOARD_METRICS}
MOST_SCORED_STATEMENTS = 12
MOST_CLAIMS = 20
SIGNS = {Label.SUPPORTED: "✓", Label.CONTRADICTED: "✗", Label.UNDECIDED: "?"}
CLASSES = {Label.SUPPORTED: "aa-for", Label.CONTRADICTED: "aa-against", Label.UNDECIDED: "aa-open"}
KINDS = (
    (Standing.CONTRADICTED, "Contradicts", "✗"),
    (Standing.BASIS, "Misses", "–"),
    (Standing.MISSING, "Misses too (follows from the above)", "–"),
    (Standing.COVERED, "Covers", "✓"),
)


def show_scores(scores: Sequence[ScoredAnswer]) -> None:
    """Every score of an answer, those with details as an expander."""
    for score in sorted(scores, key=_order):
        claims = read_claims(score.details)
        statements = read_statements(score.details) if "covered" in score.details else ()
        title = f"{label_of(score)} {percent(score.score)}"
        if score.score is None:
            reason = str(score.details.get("reason", ""))
            put(element("p", f"{label_of(score)}: no score ({score.outcome}). {reason}", class_="aa-note"))
        elif statements:
            with st.expander(title):
                _show_statements(statements, key=f"{score.submission}-{score.metric}-{score.judge}")
        elif claims:
            with st.expander(title):
                put(claim_list(claims))
        else:
            put(element("p", title, class_="aa-note"))


def label_of(score: ScoredAnswer) -> str:
    """What readers see for a score: the metric, and who scored where that is not the embedded version."""
    label = LABELS.get(score.metric, score.metric)
    return f"{label} ({score.judge})" if score.judge else label


def _order(score: ScoredAnswer) -> tuple[int, str, str]:
    names = list(LABELS)
    return names.index(score.metric) if score.metric in LABELS else len(names), score.metric, score.judge


def _show_statements(statements: Sequence[StatementView], *, key: str) -> None:
    for standing, title, sign in KINDS:
        selected = [statement for statement in statements if statement.standing is standing]
        lines = tuple(_statement_line(statement) for statement in selected[:MOST_SCORED_STATEMENTS])
        show_facts(Facts(title=title, sign=sign, lines=lines, count=len(selected)), key=key)


def _statement_line(statement: StatementView) -> str:
    source = f"  [{', '.join(statement.passages)}]" if any(statement.passages) else ""
    instead = f"\nThe answer says: {statement.instead}" if statement.instead else ""
    return f"{statement.text}{source}{instead}"


def show_facts(facts: Facts, *, key: str) -> None:
    """Facts of one kind as a list, with their number; nothing where there are none."""
    if not facts.count:
        return
    more = f", {len(facts.lines)} shown" if facts.count > len(facts.lines) else ""
    put(
        element("p", element("strong", facts.title), f" {facts.count}{more}", class_=f"aa-facts {facts.tone}")
    )
    with st.container(key=f"fact-{facts.title}-{key}"):
        for line in facts.lines:
            st.text(f"{facts.sign} {line}")


def claim_list(claims: Sequence[ClaimView]) -> Element:
    """Claims coloured by posterior, each with the reason and the passages' words for and against it."""
    items = [claim_item(claim) for claim in claims[:MOST_CLAIMS]]
    if len(claims) > MOST_CLAIMS:
        items.append(
            element("li", f"{len(claims) - MOST_CLAIMS} more claims are not shown.", class_="aa-sub")
        )
    return element("ul", *items, class_="aa-claims")


def claim_item(claim: ClaimView) -> Element:
    """One claim: sign and posterior, its text, the reason, the passages' words."""
    strength = f"--strength: {100 * abs(2 * claim.posterior - 1):.0f}%"
    meaning = f"{claim.label}: probability that the claim is true, given the passages"
    value = explained(f"{SIGNS[claim.label]} {claim.posterior:.2f}", meaning, class_="aa-posterior")
    value.set("style", strength)
    lines = [
        element("p", value, " ", claim.text),
        element("p", claim.reason, class_="aa-sub"),
        *_words("for", claim.support),
        *_words("against", claim.against),
    ]
    return element("li", *lines, class_=CLASSES[claim.label])


def _words(side: str, witnesses: Sequence[Witness]) -> list[Element]:
    return [
        element("p", element("strong", f"{side}, {witness.passage}: "), f"“{witness.words}”", class_="aa-sub")
        for witness in witnesses
        if witness.words
    ]
