"""Judgments and verdicts: who was asked what, what came back, and what it settled."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

from data.errors import RecordError
from data.records.vocabulary import Outcome, Preference, Presentation


def battle_id(set_hash: str, question_id: str, system_a: str, system_b: str) -> str:
    """Name a battle by what is compared, so that every machine gives it the same id."""
    material = f"{set_hash}\x1f{question_id}\x1f{system_a}\x1f{system_b}"
    return hashlib.sha256(material.encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What an LLM returned, with what it took to get it.

    `key` is the sha256 of the canonical request; `latency` is in seconds. Tokens and cost are what it
    took to get it, calls that were charged and brought nothing included; `cost_usd` is None where no
    price is known. `cached` replies cost nothing now: their tokens and cost are those first paid.
    """

    key: str
    endpoint: str
    model: str
    text: str
    finish_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    latency: float = 0.0
    cached: bool = False
    logprobs: str | None = None

    def from_cache(self) -> Reply:
        """The same reply as one that costs nothing now."""
        # Several times as quick as `dataclasses.replace`, and made for every verdict of a second round.
        return Reply(
            key=self.key,
            endpoint=self.endpoint,
            model=self.model,
            text=self.text,
            finish_reason=self.finish_reason,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
            latency=self.latency,
            cached=True,
            logprobs=self.logprobs,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One judge, one presentation order, one reply.

    `preference` and `margin` are in terms of the battle's `a` and `b`, whatever was shown first.

    Attributes:
        judge: Name of the judge spec that decided.
        model: The LLM, or the embedded judge's version.
        presentation: Which answer was shown first.
        outcome: `judged` where a complete, final verdict was read.
        preference: Set exactly when `outcome` is `judged`.
        margin: −1…1, positive where b is better; None where the judge gives no degree.
        rationale: The judge's reasons, as text or as the JSON text of the embedded judge.
        detail: For anything but `judged`, what happened; else a note on the reading, where there is one.
        grade: The reply's own label before merging (five-grade judges), else empty.
        settings: Canonical JSON of the sampling settings.
        prompt_hash: sha256 of the prompt's text; empty for the embedded judge.
        parser: Version of the parser that read the reply.
        calls: Requests sent for this judgment, re-asks included.
        reply: The last reply, where there was one.
        input_tokens: Paid for this judgment: re-asks and calls without a reply included, replies from the
            cache not.
        output_tokens: Likewise.
        cost_usd: Likewise; None where no price is known.
    """

    judge: str
    model: str
    presentation: Presentation
    outcome: Outcome
    preference: Preference | None = None
    margin: float | None = None
    rationale: str = ""
    detail: str = ""
    grade: str = ""
    settings: str = ""
    prompt_hash: str = ""
    parser: str = ""
    calls: int = 0
    reply: Reply | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.JUDGED) != (self.preference is not None):
            message = f"A judgment that is {self.outcome} has the preference {self.preference}."
            raise RecordError(message, advice="Only a judged one has a preference.")
        if self.margin is not None and not (math.isfinite(self.margin) and -1 <= self.margin <= 1):
            message = f"The margin {self.margin} is not between -1 and 1."
            raise RecordError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The settled preference of a battle and the judgments that settled it.

    `score` is the share of the win that `a` gets, 0–1, where a soft judge gives one. `flipped` is
    None unless both orders were read.
    """

    outcome: Outcome
    preference: Preference | None = None
    score: float | None = None
    flipped: bool | None = None
    detail: str = ""
    judgments: tuple[Judgment, ...] = ()

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.JUDGED) != (self.preference is not None):
            message = f"A verdict that is {self.outcome} has the preference {self.preference}."
            raise RecordError(message, advice="Only a judged one has a preference.")
        if self.score is not None and not (math.isfinite(self.score) and 0 <= self.score <= 1):
            message = f"The score {self.score} is not between 0 and 1."
            raise RecordError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """One annotator's view of a pair: −2…2, positive where b is better.

    `system_a` and `system_b` are empty where the file does not say whose answers they are.
    """

    id: str
    domain: str
    question: str
    answer_a: str
    answer_b: str
    label: float
    reference: str | None = None
    passages: tuple[str, ...] = ()
    system_a: str = ""
    system_b: str = ""
