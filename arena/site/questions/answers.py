"""The scores of one answer with what they rest on: statements covered and missed, claims by posterior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

import streamlit as st

from arena.services.boards.metric_columns import BOARD_METRICS
from arena.services.evidence.claims import ClaimView, Witness, read_claims, told_by
from arena.services.evidence.coverage import Standing, StatementView, read_statements
from arena.services.evidence.highlights import Places, Stretch
from arena.services.evidence.questions import AnswerView
from arena.services.evidence.reasons import CONTRADICTS, COVERS, Fact, Facts
from arena.site.boards.view_model import BoardView
from arena.site.questions.sources import linked
from arena.site.ui.components import note
from arena.site.ui.formats import percent
from arena.site.ui.markup import element, explain, explained, put
from arena.site.ui.tables import anchor
from data.store.boards.scores import ScoredAnswer
from judges.metrics.relations.figures import Verdict

LABELS = {metric.name: metric.label for metric in BOARD_METRICS}
MOST_SCORED_STATEMENTS = 12
TONES = {COVERS: "aa-good", CONTRADICTS: "aa-bad"}
MOST_CLAIMS = 20
SIGNS = {Verdict.SUPPORTED: "✓", Verdict.CONTRADICTED: "✗", Verdict.UNCONFIRMED: "?"}
CLASSES = {Verdict.SUPPORTED: "aa-for", Verdict.CONTRADICTED: "aa-against", Verdict.UNCONFIRMED: "aa-open"}
KINDS = (
    (Standing.CONTRADICTED, "Contradicts", "✗"),
    (Standing.BASIS, "Misses", "–"),
    (Standing.MISSING, "Misses too (follows from the above)", "–"),
    (Standing.COVERED, "Covers", "✓"),
)


LEGEND = (
    "Underlined: covers a statement of the passages (the number says how many). Coloured: a claim that the "
    "passages support ✓ or contradict ✗, or that they do not confirm ?; darker = more certain, with its "
    "probability. Point at a part, or choose it, to light up the sentences that it rests on."
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


def show_answer(
    view: BoardView, shown: AnswerView, parts: Sequence[Stretch], places: Places | None, *, flag: str = ""
) -> None:
    """One answer: whose it is, how it fared, its text with marks, its scores."""
    name = anchor(shown.system, "system", board=view.name, id=shown.system)
    word = "human-written reference" if view.by_people else "reference"
    words = [word] if shown.is_reference else []
    flags = [element("span", text, class_="aa-flag") for text in (*words, flag) if text]
    record = f"{shown.wins} won · {shown.ties} tied · {shown.losses} lost"
    put(element("p", name, *flags, element("span", record, class_="aa-sub"), class_="aa-name"))
    if shown.answer.answer:
        put(answer_text(parts))
    else:
        note("(The answer is empty.)")
    if shown.answer.thinking:
        with st.expander("Thinking before the answer, which nobody judges", icon=":material/psychology:"):
            st.text(shown.answer.thinking)
    show_scores(shown.scores, places)


def show_scores(scores: Sequence[ScoredAnswer], places: Places | None = None) -> None:
    """Every score of an answer, those with details as an expander; facts are linked to their `places`."""
    for score in in_order(scores):
        claims = read_claims(score.details)
        statements = read_statements(score.details) if "covered" in score.details else ()
        title = f"{label_of(score)} {percent(score.score)}"
        if score.score is None:
            reason = str(score.details.get("reason", ""))
            put(element("p", f"{label_of(score)}: no score ({score.outcome}). {reason}", class_="aa-note"))
        elif statements:
            with st.expander(title):
                if any(statement.standing is Standing.CONTRADICTED for statement in statements):
                    put(element("p", told_by(score).contradictions, class_="aa-note"))
                for facts in statement_facts(statements):
                    show_facts(facts, places)
        elif claims:
            with st.expander(title):
                put(
                    element(
                        "div",
                        element("p", told_by(score).right, class_="aa-note"),
                        claim_list(claims, places),
                    )
                )
        else:
            put(element("p", title, class_="aa-note"))


def label_of(score: ScoredAnswer) -> str:
    """What readers see for a score: the metric, and who scored where that is not the embedded version."""
    label = LABELS.get(score.metric, score.metric)
    return f"{label} ({score.judge})" if score.judge else label


def _order(score: ScoredAnswer) -> tuple[int, str, str]:
    names = list(LABELS)
    return names.index(score.metric) if score.metric in LABELS else len(names), score.metric, score.judge


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


def in_order(scores: Sequence[ScoredAnswer]) -> list[ScoredAnswer]:
    """Scores in the order in which readers see metrics."""
    return sorted(scores, key=_order)


def show_facts(facts: Facts, places: Places | None = None) -> None:
    """Facts of one kind as a list, with their number; nothing where there are none."""
    if not facts.count:
        return
    more = f", {len(facts.facts)} shown" if facts.count > len(facts.facts) else ""
    title = element("strong", facts.title)
    lines = [linked(_fact_line(facts, fact), fact_places(fact, places)) for fact in facts.facts]
    put(
        element(
            "div",
            element("p", title, f" {facts.count}{more}", class_=f"aa-facts {TONES.get(facts.sign, '')}"),
            element("ul", *lines, class_="aa-factlist"),
        )
    )


def fact_places(fact: Fact, places: Places | None) -> tuple[int, ...]:
    """The sentence that a fact is from, where it is known."""
    if places is None or not fact.passages:
        return ()
    place = places.of(fact.text, fact.passages)
    return () if place is None else (place,)


def _fact_line(facts: Facts, fact: Fact) -> Element:
    line = element("li", f"{facts.sign} {fact.text} ")
    if fact.passages:
        line.append(element("span", f"[{', '.join(fact.passages)}]", class_="aa-muted"))
    if fact.instead:
        line.append(element("span", f"The answer says: {fact.instead}", class_="aa-sub"))
    return line


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
