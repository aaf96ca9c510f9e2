"""Embedded judge: prefers the answer that covers more of the ground truth, and gives its reasons."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from heapq import nlargest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

from data.declines import declines
from data.errors import SpecError, WorkError
from data.models import (
    GroundTruth,
    Judgment,
    OrderPolicy,
    Outcome,
    Preference,
    Presentation,
    Question,
    Verdict,
)
from data.text import is_blank
from judges.base import HERE, JudgeInput, TextWork, failed_verdict
from judges.lexical.settings import LexicalSettings, read_settings
from judges.pairwise.cleaning import clean

if TYPE_CHECKING:
    # Only the process that settles battles imports these.
    from judges.lexical.ground_truth import LexicalGroundTruth, Texts
    from judges.lexical.scoring import AnswerAnalysis
    from judges.spec import JudgeSpec

MAX_FACTS = 6
MAX_FACT_LENGTH = 140
DIGITS = 4
TERMS = {"said of the passages": "facts covered", "length": "padding", "contradicted facts": "contradictions"}
"""Adjustments that count towards another term of the score."""
_Row: TypeAlias = tuple[float, float, str, int]
"""Contributions to both answers, with their kind and the index of the sentence."""


def compose(
    truth: LexicalGroundTruth, a: AnswerAnalysis, b: AnswerAnalysis, margin: float, settings: LexicalSettings
) -> str:
    """Return the reasons as JSON text.

    Lists have at most six entries, largest effect first; `counts` cover all. A part is its contribution to
    each answer in units of the margin, which is the sum of b − a over the parts, exact to four decimals.
    """
    record = {
        "yardstick": truth.kind.value,
        "decided_by": _decider(a, b, margin),
        "a": _side(truth, a, b, settings.covered_from),
        "b": _side(truth, b, a, settings.covered_from),
        "parts": _parts(truth, a, b, margin, settings),
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _decider(a: AnswerAnalysis, b: AnswerAnalysis, margin: float) -> str:
    leads: defaultdict[str, float] = defaultdict(float)
    leads["facts covered"] = math.fsum(b.credits) - math.fsum(a.credits)
    leads["padding"] = math.fsum(b.costs) - math.fsum(a.costs)
    for side, sign in ((a, -1), (b, 1)):
        for kind, amount in side.adjustments:
            leads[TERMS.get(kind.value, kind.value)] += sign * amount
    # Rounding makes the result independent of the order of the answers.
    ahead = {term: round(math.copysign(lead, lead * margin), DIGITS) for term, lead in leads.items()}
    return max(ahead, key=ahead.__getitem__) if margin else ""


def _parts(
    truth: LexicalGroundTruth, a: AnswerAnalysis, b: AnswerAnalysis, margin: float, settings: LexicalSettings
) -> list[dict[str, Any]]:
    """Return the largest differences between the two scores, and a remainder, which sum to the margin."""
    unit = margin / (b.score - a.score) if margin else 1 / settings.scale
    rows: list[_Row] = [
        (unit * ours, unit * theirs, "sentence", at)
        for at, (ours, theirs) in enumerate(zip(a.credits, b.credits, strict=True))
    ]
    rows += [(unit * cost, 0.0, "a", at) for at, cost in enumerate(a.costs)]
    rows += [(0.0, unit * cost, "b", at) for at, cost in enumerate(b.costs)]
    ours, theirs = dict(a.adjustments), dict(b.adjustments)
    rows += [
        (unit * ours.get(kind, 0.0), unit * theirs.get(kind, 0.0), kind.value, -1)
        for kind in dict.fromkeys((*ours, *theirs))
    ]
    largest = nlargest(2 * MAX_FACTS, rows, key=lambda row: abs(row[1] - row[0]))
    parts = [part for row in largest if (part := _part(row, truth, a, b))["b"] - part["a"]]
    rest = round(math.fsum(row[0] for row in rows) - math.fsum(part["a"] for part in parts), DIGITS)
    missing = round(margin - math.fsum(part["b"] - part["a"] for part in parts) + rest, DIGITS)
    return [*parts, {"kind": "rest", "a": rest, "b": missing}] if rest or missing else parts


def _part(row: _Row, truth: LexicalGroundTruth, a: AnswerAnalysis, b: AnswerAnalysis) -> dict[str, Any]:
    ours, theirs, kind, at = row
    values = {"a": round(ours, DIGITS), "b": round(theirs, DIGITS)}
    if kind == "sentence":
        return {"kind": kind, **_fact(truth, at), **values}
    if at >= 0:
        return {"kind": "beyond", "text": _cut((a if kind == "a" else b).answer.sentences[at].text), **values}
    return {"kind": kind, **values}


def _side(
    truth: LexicalGroundTruth, own: AnswerAnalysis, other: AnswerAnalysis, covered_from: float
) -> dict[str, object]:
    """Return the facts of one answer, largest difference between the answers first."""
    apart = [abs(ours - theirs) for ours, theirs in zip(own.credits, other.credits, strict=True)]
    order = sorted(range(len(apart)), key=lambda at: (-round(apart[at], 9), at))
    denied = {row.against.text for row in own.contradictions}
    undisputed = [at for at in order if truth.points[at].sentence.text not in denied]
    covered = [at for at in undisputed if own.shares[at] >= covered_from]
    missed = [at for at in undisputed if own.shares[at] < covered_from]
    beyond = sorted((at for at, cost in enumerate(own.costs) if cost < 0), key=own.costs.__getitem__)
    return {
        "score": round(own.score, DIGITS),
        "coverage": round(own.coverage, DIGITS),
        "padding": round(own.padding, DIGITS),
        "counts": {
            "covered": len(covered),
            "missed": len(missed),
            "beyond": len(beyond),
            "contradicted": len(own.contradictions),
            "sentences": len(order),
        },
        "covered": [_fact(truth, at) for at in covered[:MAX_FACTS]],
        "missed": [_fact(truth, at) for at in missed[:MAX_FACTS]],
        "beyond": [{"text": _cut(own.answer.sentences[at].text)} for at in beyond[:MAX_FACTS]],
        "contradicted": [
            {
                "text": _cut(row.against.text),
                "passage": row.against.source,
                "answer": _cut(row.statement.text),
                "kind": row.kind.value,
            }
            for row in own.contradictions[:MAX_FACTS]
        ],
    }


def _fact(truth: LexicalGroundTruth, at: int) -> dict[str, str]:
    point = truth.points[at]
    return {"text": _cut(point.sentence.text), "passage": point.source}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_FACT_LENGTH else f"{text[: MAX_FACT_LENGTH - 1].rstrip()}…"


VERSION = "lexical-7"
OTHER_SIDE: Mapping[str | None, str] = {"a": "b", "b": "a"}
UNSUPPORTED = "an answer that the passages do not support"
MIN_SUPPORT = 0.3
"""Minimum share of an answer in the passages: in QA-Feedback only answers to another question have less."""
NO_PASSAGES = "The reference is an opponent here and the question has no passages."
NO_GROUND_TRUTH = "The question has neither passages nor a reference with text to compare answers with."


class LexicalJudge:
    """Compares how much of a ground truth two answers cover, and what they add; needs no network.

    The ground truth is the question's reference, or its passages if it has none or the reference is one of
    the answers. A verdict depends only on the question and the two texts, not on their order or on earlier
    battles. If the spec sets both orders, each battle is settled again with swapped answers to show this.
    """

    def __init__(self, spec: JudgeSpec, work: TextWork = HERE) -> None:
        self.name = spec.name
        self._preferred = spec.ground_truth
        self._order = spec.order
        self._settings = read_settings(spec.name, spec.lexical)
        self._work = work
        self._analyse = lru_cache(self._settings.answers)(self._analyse_answer)

    def __reduce__(self) -> tuple[Callable[..., LexicalJudge], tuple[object, ...]]:
        """Unpickle to one shared judge per process."""
        return shared_judge, (self.name, self._preferred, self._order, self._settings)

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle."""
        try:
            return await self._work.do(self.settle, judge_input)
        except WorkError as error:
            return failed_verdict(error)

    def settle(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle, for callers without an event loop."""
        verdict = self._settle(judge_input)
        if self._order is not OrderPolicy.BOTH or verdict.outcome is not Outcome.JUDGED:
            return verdict
        exchanged = replace(
            judge_input,
            answer_a=judge_input.answer_b,
            answer_b=judge_input.answer_a,
            reference_side=OTHER_SIDE.get(judge_input.reference_side),
        )
        again = self._settle(exchanged)
        return in_both_orders(verdict, again) if again.outcome is Outcome.JUDGED else again

    def _settle(self, judge_input: JudgeInput) -> Verdict:
        texts = (clean(judge_input.answer_a), clean(judge_input.answer_b))
        question, against_reference = judge_input.question, judge_input.reference_side is not None
        if any(declines(text, question.question) for text in texts):
            return self._without_answer(texts, question)
        from judges.lexical.conflicts import weighed  # noqa: PLC0415 - only settling needs it
        from judges.lexical.ground_truth import texts_of  # noqa: PLC0415 - as above
        from judges.lexical.reading import begins_alike  # noqa: PLC0415 - as above
        from judges.text.languages import can_read, unreadable  # noqa: PLC0415 - as above

        if not can_read(question.language):
            return self._declined(unreadable(question.language))
        of_question = texts_of(question, against_reference=against_reference)
        truth = self._read(of_question)
        if truth is None:
            agree = [begins_alike(text, question.reference or "") for text in texts]
            if any(agree) and not against_reference:
                labels = ["the reference's words" if same else "other words" for same in agree]
                reasons = {"yardstick": "none", "a": labels[0], "b": labels[1]}
                return self._decided(float(agree[1] - agree[0]), json.dumps(reasons), GroundTruth.REFERENCE)
            return self._declined(
                NO_PASSAGES if against_reference and not of_question.passages else NO_GROUND_TRUTH
            )
        a, b = (self._analyse(text, of_question) for text in texts)
        a, b = weighed(a, b, truth, self._settings)
        difference = b.score - a.score
        near = abs(difference) < self._settings.tie_band
        margin = 0.0 if near else round(math.tanh(difference / self._settings.scale), DIGITS)
        return self._decided(margin, compose(truth, a, b, margin, self._settings), truth.kind)

    def _without_answer(self, texts: tuple[str, str], question: Question) -> Verdict:
        """Settle a battle with an answer that declines.

        Declining is right if the reference declines. If there are only passages and they do not support
        an answer, it does not beat one that declines.
        """
        reference = question.reference or ""
        agreed = not is_blank(reference) and declines(reference, question.question)
        ranks, labels = [], []
        for text in texts:
            answers = not declines(text, question.question)
            agrees = agreed and not answers and not is_blank(text)
            ranks.append(2 * agrees + answers)
            labels.append("an answer" if answers else f"no answer{', as the reference does' * agrees}")
        winner = ranks.index(max(ranks))
        margin = 0.0 if ranks[0] == ranks[1] else 2.0 * winner - 1
        passages_decide = margin and not is_blank(texts[1 - winner]) and is_blank(reference)
        if passages_decide and not self._is_supported(texts[winner], question):
            margin, labels[winner] = 0.0, UNSUPPORTED
        reasons = {"yardstick": "none", "a": labels[0], "b": labels[1]}
        return self._decided(margin, json.dumps(reasons), GroundTruth.NONE)

    def _is_supported(self, text: str, question: Question) -> bool:
        """Return whether the passages support an answer's new terms; true without passages."""
        from judges.lexical.ground_truth import texts_of  # noqa: PLC0415 - as above
        from judges.text.languages import can_read  # noqa: PLC0415 - as above

        texts = texts_of(question, against_reference=True)
        truth = self._read(texts) if can_read(question.language) else None
        if truth is None:
            return True
        analysis = self._analyse(text, texts)
        return not truth.topic.issuperset(analysis.answer.live_counts) and 1 - analysis.padding >= MIN_SUPPORT

    def load(self) -> None:
        """Settle a sample battle, because loading takes longer than most battles."""
        question = Question(id="q", domain="d", question="Which is it?", reference="It is the first one.")
        self.settle(
            JudgeInput(
                battle_id="", question=question, answer_a="It is the first.", answer_b="It is the second."
            )
        )

    @cached_property
    def _read(self) -> Callable[[Texts], LexicalGroundTruth | None]:
        from judges.lexical.ground_truth import read_ground_truth  # noqa: PLC0415 - as above

        def read(texts: Texts) -> LexicalGroundTruth | None:
            return read_ground_truth(texts, preferred=self._preferred, settings=self._settings)

        return lru_cache(self._settings.questions)(read)

    def _analyse_answer(self, text: str, texts: Texts) -> AnswerAnalysis:
        from judges.lexical.reading import read_text, without_leads  # noqa: PLC0415 - as above
        from judges.lexical.scoring import analyse  # noqa: PLC0415 - as above

        truth = self._read(texts)
        if truth is None:
            raise SpecError(NO_GROUND_TRUTH, advice="Use `settle`, which declines such battles.")
        answer = without_leads(read_text(text, truth.language), truth.terms)
        return analyse(answer, truth, self._settings)

    def _decided(self, margin: float, rationale: str, ground_truth: GroundTruth) -> Verdict:
        preference = Preference.TIE if not margin else Preference.B if margin > 0 else Preference.A
        judgment = self._judgment(
            Outcome.JUDGED, ground_truth, preference=preference, margin=margin, rationale=rationale
        )
        return Verdict(outcome=Outcome.JUDGED, preference=preference, judgments=(judgment,))

    def _declined(self, reason: str) -> Verdict:
        judgment = self._judgment(Outcome.UNREADABLE, GroundTruth.NONE, detail=reason)
        return Verdict(outcome=Outcome.UNREADABLE, detail=reason, judgments=(judgment,))

    def _judgment(self, outcome: Outcome, ground_truth: GroundTruth, **more: Any) -> Judgment:  # noqa: ANN401 - fields
        return Judgment(
            judge=self.name,
            model=VERSION,
            presentation=Presentation.A_FIRST,
            outcome=outcome,
            settings=self._constants[ground_truth],
            **more,
        )

    @cached_property
    def _constants(self) -> Mapping[GroundTruth, str]:
        values = self._settings.model_dump()
        return {kind: json.dumps({"yardstick": kind.value, **values}) for kind in GroundTruth}


def in_both_orders(first: Verdict, exchanged: Verdict) -> Verdict:
    """Combine the verdicts of both orders; disagreement is a tie and a position flip."""
    (judgment,), (other,) = first.judgments, exchanged.judgments
    preference = other.preference and other.preference.flipped
    agreed = preference is first.preference
    again = replace(
        other,
        presentation=Presentation.B_FIRST,
        preference=preference,
        margin=None if other.margin is None else 0.0 - other.margin,
        rationale=judgment.rationale if agreed else "",
        detail="" if agreed else "the verdict changed with the order of the answers",
    )
    return replace(
        first,
        preference=first.preference if agreed else Preference.TIE,
        flipped=not agreed,
        judgments=(judgment, again),
    )


@lru_cache(maxsize=4)
def shared_judge(
    name: str, ground_truth: GroundTruth, order: OrderPolicy, settings: LexicalSettings
) -> LexicalJudge:
    """Return this process's judge for these constants, with its caches."""
    spec: Any = SimpleNamespace(
        name=name, ground_truth=ground_truth, order=order, lexical=settings.model_dump()
    )
    judge = LexicalJudge(spec)
    judge.load()
    return judge
