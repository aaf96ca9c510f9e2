"""One answer with its marks, and its scores with what they depend on: statements, claims by posterior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from arena.services.boards.metric_columns import shown_metrics
from arena.services.evidence.highlights import (
    ClaimView,
    Standing,
    StatementView,
    Stretch,
    Witness,
    read_claims,
    read_statements,
    source_of,
)
from arena.services.evidence.questions import AnswerView, Fact, Facts
from arena.site.ui.markup import element, explain, explained
from data.store.scores import ScoredAnswer
from data.text import percent
from judges.metrics.relations.model import Verdict

MOST_SCORED_STATEMENTS = 12
MOST_CLAIMS = 20
SIGNS = {Verdict.SUPPORTED: "✓", Verdict.CONTRADICTED: "✗", Verdict.UNCONFIRMED: "?"}
CLASSES = {Verdict.SUPPORTED: "aa-for", Verdict.CONTRADICTED: "aa-against", Verdict.UNCONFIRMED: "aa-open"}
KINDS = (
    (Standing.CONTRADICTED, "Contradicts", "✗"),
    (Standing.BASIS, "Misses", "–"),
    (Standing.MISSING, "Misses too (follows from the above)", "–"),
    (Standing.PARTLY, "Covers in part", "◐"),
    (Standing.COVERED, "Covers", "✓"),
)
LEGEND = (
    "Underlined: covers a statement of the passages or a fact of the reference (the number says how many). "
    "Coloured: a claim that the passages support ✓ or contradict ✗, or that they do not confirm ?; darker = "
    "more certain, with its probability. Point at a part for more."
)


def answer_text(parts: Sequence[Stretch]) -> Element:
    """Return an answer as text with its marks; what has none is plain."""
    return element("div", *(_stretch(part) if part.marked else part.text for part in parts), class_="aa-text")


def _stretch(part: Stretch) -> Element:
    marks, title, kinds, strength = [], [], [], ""
    if part.verdict is not None and part.posterior is not None:
        marks.append(f"{SIGNS[part.verdict]} {part.posterior:.2f}")
        title.append(
            f"{part.verdict}: probability {part.posterior:.2f} that the claim is true, given the passages"
        )
        kinds.append(CLASSES[part.verdict])
        strength = _strength(part.posterior)
    if part.covers:
        marks.append(f"+{len(part.covers)}")
        title.append("covers: " + " | ".join(part.covers))
        kinds.append("aa-covers")
    if part.instead:
        marks.append("≠")
        title.append(f"the passages say instead: {part.instead}")
    node = element("mark", part.text, class_=" ".join(kinds) or "aa-plain", style=strength)
    node.append(element("sup", " ".join(marks)))
    return explain(node, "; ".join(title))


def _strength(posterior: float) -> str:
    return f"--strength: {100 * abs(2 * posterior - 1):.0f}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownScore:
    """A score with what it depends on: facts by kind, or claims; neither where nothing is known.

    `note` says who told.
    """

    title: str
    note: str = ""
    facts: tuple[Facts, ...] = ()
    claims: Element | None = None


def scores_of(shown: AnswerView) -> list[ShownScore]:
    """Every score of an answer in the order in which readers see metrics."""
    places = {name: place for place, name in enumerate(shown_metrics())}
    in_order = sorted(shown.scores, key=lambda one: (places.get(one.metric, 99), one.metric, one.judge))
    return list(map(_shown, in_order))


def _shown(score: ScoredAnswer) -> ShownScore:
    info = shown_metrics().get(score.metric)
    label = score.metric if info is None else info.called
    if score.judge:
        label = f"{label} ({score.judge})"
    if score.score is None:
        reason = str(score.details.get("reason", ""))
        return ShownScore(title=f"{label}: no score ({score.outcome}). {reason}".strip())
    statements, claims = read_statements(score.details), read_claims(score.details)
    contradicted = any(statement.standing is Standing.CONTRADICTED for statement in statements)
    return ShownScore(
        title=f"{label} {percent(score.score) if info is None else info.text(score.score)}",
        note=source_of(score).sentence if contradicted or claims else "",
        facts=tuple(statement_facts(statements)),
        claims=claim_list(claims) if claims else None,
    )


def statement_facts(statements: Sequence[StatementView]) -> Iterator[Facts]:
    """Yield the statements of a score by what the answer does with them."""
    for standing, title, sign in KINDS:
        selected = [statement for statement in statements if statement.standing is standing]
        facts = tuple(
            Fact(text=one.text, passages=tuple(filter(None, one.passages)), instead=one.instead)
            for one in selected[:MOST_SCORED_STATEMENTS]
        )
        if selected:
            yield Facts(title=title, sign=sign, facts=facts, count=len(selected))


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
    meaning = f"{claim.verdict}: probability that the claim is true, given the passages"
    value = explained(f"{SIGNS[claim.verdict]} {claim.posterior:.2f}", meaning, class_="aa-posterior")
    value.set("style", _strength(claim.posterior))
    lines = [
        element("p", value, " ", claim.text),
        element("p", claim.reason, class_="aa-sub"),
        *_words("for", claim.support),
        *_words("against", claim.against),
    ]
    return element("li", *lines, class_=CLASSES[claim.verdict])


def _words(side: str, witnesses: Sequence[Witness]) -> list[Element]:
    return [
        element("p", element("strong", f"{side}, {witness.passage}: "), f"“{witness.words}”", class_="aa-sub")
        for witness in witnesses
        if witness.words
    ]
