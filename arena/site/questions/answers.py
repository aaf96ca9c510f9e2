"""One answer: its highlighted text, and its scores with statements and claims as evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.services.boards.metric_columns import column_metrics
from arena.services.evidence import highlights
from arena.services.evidence.questions import AnswerView
from arena.services.evidence.reasons import Fact, Facts
from arena.site.ui.html import Cell
from data.store.scores import ScoredAnswer
from data.text import percent
from judges.metrics.relations.model import Verdict

MAX_STATEMENTS = 12
MAX_CLAIMS = 20
SIGNS = {Verdict.SUPPORTED: "✓", Verdict.CONTRADICTED: "✗", Verdict.UNCONFIRMED: "?"}
CLASSES = {Verdict.SUPPORTED: "aa-for", Verdict.CONTRADICTED: "aa-against", Verdict.UNCONFIRMED: "aa-open"}
KINDS = (
    (highlights.Standing.CONTRADICTED, "Contradicts", "✗"),
    (highlights.Standing.BASIS, "Misses", "–"),
    (highlights.Standing.MISSING, "Also misses (follows from the above)", "–"),
    (highlights.Standing.PARTLY, "Partly covers", "◐"),
    (highlights.Standing.COVERED, "Covers", "✓"),
)
LEGEND = (
    "Underlined: covers statements of the passages or facts of the reference (the number counts them). "
    "Coloured: a claim that the passages support ✓, contradict ✗ or do not confirm ?, with its probability; "
    "darker is more certain. Hover over or tap a part for details."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A highlighted part of a text: meaning, classes, certainty in per cent, and the sign above it."""

    text: str
    meaning: str
    class_: str
    strength: str = ""
    above: str = ""


def answer_text(parts: Sequence[highlights.Stretch]) -> list[Mark | str]:
    """Return the parts of an answer, as marks or plain text."""
    return [_mark(part) if part.marked else part.text for part in parts]


def _mark(part: highlights.Stretch) -> Mark:
    marks, title, kinds, strength = [], [], [], ""
    if part.verdict is not None and part.posterior is not None:
        marks.append(f"{SIGNS[part.verdict]} {part.posterior:.2f}")
        title.append(
            f"{part.verdict}: probability {part.posterior:.2f} that it is true according to the passages"
        )
        kinds.append(CLASSES[part.verdict])
        strength = _strength(part.posterior)
    if part.covers:
        marks.append(f"+{len(part.covers)}")
        title.append("covers: " + " | ".join(part.covers))
        kinds.append("aa-covers")
    if part.instead:
        marks.append("≠")
        title.append(f"the passages say: {part.instead}")
    return Mark(
        text=part.text,
        meaning="; ".join(title),
        class_=" ".join(kinds) or "aa-plain",
        strength=strength,
        above=" ".join(marks),
    )


def _strength(posterior: float) -> str:
    return f"{100 * abs(2 * posterior - 1):.0f}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim or fact in a list: sign with certainty, text, details and evidence."""

    class_: str
    sign: str
    text: str
    details: Sequence[tuple[str, str]]
    strength: str = ""
    meaning: str = ""
    domain: str = ""
    evidence: Cell | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreView:
    """A score with its evidence: facts by kind, or claims, or neither."""

    title: str
    note: str = ""
    facts: tuple[Facts, ...] = ()
    claims: Sequence[Claim] = ()
    more: str = ""


def scores_of(answer: AnswerView) -> list[ScoreView]:
    """Return the scores of an answer in the usual order of metrics."""
    places = {name: place for place, name in enumerate(column_metrics())}
    in_order = sorted(
        answer.scores, key=lambda score: (places.get(score.metric, 99), score.metric, score.judge)
    )
    return list(map(_score_view, in_order))


def _score_view(score: ScoredAnswer) -> ScoreView:
    info = column_metrics().get(score.metric)
    label = score.metric if info is None else info.called
    if score.judge:
        label = f"{label} ({score.judge})"
    if score.score is None:
        reason = str(score.details.get("reason", ""))
        return ScoreView(title=f"{label}: no score ({score.outcome}). {reason}".strip())
    statements, claims = highlights.read_statements(score.details), highlights.read_claims(score.details)
    contradicted = any(statement.standing is highlights.Standing.CONTRADICTED for statement in statements)
    return ScoreView(
        title=f"{label} {percent(score.score) if info is None else info.text(score.score)}",
        note=highlights.source_of(score).sentence if contradicted or claims else "",
        facts=tuple(statement_facts(statements)),
        claims=tuple(map(_claim, claims[:MAX_CLAIMS])),
        more=f"{more} more claims are not shown." if (more := len(claims) - MAX_CLAIMS) > 0 else "",
    )


def statement_facts(statements: Sequence[highlights.StatementView]) -> Iterator[Facts]:
    """Yield the statements of a score, grouped by how the answer treats them."""
    for standing, title, sign in KINDS:
        selected = [statement for statement in statements if statement.standing is standing]
        facts = tuple(
            Fact(text=item.text, passages=tuple(filter(None, item.passages)), instead=item.instead)
            for item in selected[:MAX_STATEMENTS]
        )
        if selected:
            yield Facts(title=title, sign=sign, facts=facts, count=len(selected))


def _claim(claim: highlights.ClaimView) -> Claim:
    quotes = [*(("for", quote) for quote in claim.support), *(("against", quote) for quote in claim.against)]
    return Claim(
        class_=CLASSES[claim.verdict],
        sign=f"{SIGNS[claim.verdict]} {claim.posterior:.2f}",
        text=claim.text,
        strength=_strength(claim.posterior),
        meaning=f"{claim.verdict}: probability that the claim is true according to the passages",
        details=[
            ("", claim.reason),
            *((f"{side}, {quote.passage}: ", f"“{quote.words}”") for side, quote in quotes if quote.words),
        ],
    )
