"""One answer with its marks, and its scores with what they depend on: statements, claims by posterior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from arena.services.boards.metric_columns import shown_metrics
from arena.services.evidence.claims import ClaimView, Witness, read_claims, source_of
from arena.services.evidence.coverage import Standing, StatementView, has_statements, read_statements
from arena.services.evidence.highlights import Places, Stretch
from arena.services.evidence.questions import AnswerView
from arena.services.evidence.reasons import Fact, Facts
from arena.site.questions.sources import linked
from arena.site.ui.markup import element, explain, explained
from data.percent import percent
from data.store.boards.scores import ScoredAnswer
from judges.metrics.relations.verdicts import Verdict

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
    "more certain, with its probability. Point at a part, or choose it, to light up the sentences that it "
    "depends on."
)


def answer_text(parts: Sequence[Stretch]) -> Element:
    """An answer as text with its marks; what has none is plain."""
    return element("div", *(_stretch(part) if part.marked else part.text for part in parts), class_="aa-text")


def _stretch(part: Stretch) -> Element:
    marks, title = [], []
    if part.verdict is not None and part.posterior is not None:
        marks.append(f"{SIGNS[part.verdict]} {part.posterior:.2f}")
        title.append(
            f"{part.verdict}: probability {part.posterior:.2f} that the claim is true, given the passages"
        )
    if part.covers:
        marks.append(f"+{len(part.covers)}")
        title.append("covers: " + " | ".join(part.covers))
    if part.instead:
        marks.append("≠")
        title.append(f"the passages say instead: {part.instead}")
    kinds = [CLASSES[part.verdict] if part.verdict else "", "aa-covers" if part.covers else ""]
    strength = "" if part.posterior is None else f"--strength: {100 * abs(2 * part.posterior - 1):.0f}%"
    node = element(
        "mark",
        part.text,
        class_=" ".join(kind for kind in kinds if kind) or "aa-plain",
        style=strength,
    )
    if marks:
        node.append(element("sup", " ".join(marks)))
    return linked(explain(node, "; ".join(title)) if title else node, part.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownScore:
    """A score with what it depends on: facts by kind, or claims; neither where nothing is known.

    `note` says who told.
    """

    title: str
    note: str = ""
    facts: tuple[Facts, ...] = ()
    claims: Element | None = None


def scores_of(shown: AnswerView, places: Places | None = None) -> list[ShownScore]:
    """Every score of an answer in the order in which readers see metrics; claims are linked to `places`."""
    return [_shown(score, places) for score in sorted(shown.scores, key=_order)]


def _shown(score: ScoredAnswer, places: Places | None) -> ShownScore:
    if score.score is None:
        reason = str(score.details.get("reason", ""))
        return ShownScore(title=f"{label_of(score)}: no score ({score.outcome}). {reason}".strip())
    title = f"{label_of(score)} {_value(score)}"
    statements = read_statements(score.details) if has_statements(score.details) else ()
    if statements:
        contradicted = any(statement.standing is Standing.CONTRADICTED for statement in statements)
        note = source_of(score).sentence if contradicted else ""
        return ShownScore(title=title, note=note, facts=tuple(statement_facts(statements)))
    claims = read_claims(score.details)
    if not claims:
        return ShownScore(title=title)
    return ShownScore(title=title, note=source_of(score).sentence, claims=claim_list(claims, places))


def label_of(score: ScoredAnswer) -> str:
    """What readers see for a score: the metric, and who scored where that is not the embedded version."""
    info = shown_metrics().get(score.metric)
    label = score.metric if info is None else info.called
    return f"{label} ({score.judge})" if score.judge else label


def _value(score: ScoredAnswer) -> str:
    info = shown_metrics().get(score.metric)
    return percent(score.score) if info is None or score.score is None else info.text(score.score)


def _order(score: ScoredAnswer) -> tuple[int, str, str]:
    names = list(shown_metrics())
    return names.index(score.metric) if score.metric in names else len(names), score.metric, score.judge


def statement_facts(statements: Sequence[StatementView]) -> Iterator[Facts]:
    """The statements of a score by what the answer does with them."""
    for standing, title, sign in KINDS:
        selected = [statement for statement in statements if statement.standing is standing]
        facts = tuple(
            Fact(
                text=statement.text,
                passages=tuple(filter(None, statement.passages)),
                instead=statement.instead,
            )
            for statement in selected[:MOST_SCORED_STATEMENTS]
        )
        if selected:
            yield Facts(title=title, sign=sign, facts=facts, count=len(selected))


def fact_places(fact: Fact, places: Places | None) -> tuple[int, ...]:
    """The sentence that a fact is from, where it is known."""
    if places is None or not fact.passages:
        return ()
    place = places.of(fact.text, fact.passages)
    return () if place is None else (place,)


def claim_list(claims: Sequence[ClaimView], places: Places | None = None) -> Element:
    """Claims coloured by posterior, each with the reason and the passages' words for and against it."""
    items = [
        linked(claim_item(claim), () if places is None else dict.fromkeys(places.of_claim(claim)))
        for claim in claims[:MOST_CLAIMS]
    ]
    if len(claims) > MOST_CLAIMS:
        items.append(
            element("li", f"{len(claims) - MOST_CLAIMS} more claims are not shown.", class_="aa-sub")
        )
    return element("ul", *items, class_="aa-claims")


def claim_item(claim: ClaimView) -> Element:
    """One claim: sign and posterior, its text, the reason, the passages' words."""
    strength = f"--strength: {100 * abs(2 * claim.posterior - 1):.0f}%"
    meaning = f"{claim.verdict}: probability that the claim is true, given the passages"
    value = explained(f"{SIGNS[claim.verdict]} {claim.posterior:.2f}", meaning, class_="aa-posterior")
    value.set("style", strength)
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
