"""Judgments, verdicts, scores and human labels."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from data.errors import RecordError
from data.models.questions import Nugget, Passage
from data.models.words import Outcome, Preference, Presentation


def battle_id(set_hash: str, question_id: str, system_a: str, system_b: str) -> str:
    """Return an id of a battle that is the same on every machine."""
    material = f"{set_hash}\x1f{question_id}\x1f{system_a}\x1f{system_b}"
    return hashlib.sha256(material.encode()).hexdigest()[:20]


class TokenUsage(NamedTuple):
    """Tokens of one call, as its provider reports them.

    `input` includes `cached` and `cache_written`, `output` includes all thinking: `thinking` is the part
    counted outside the completion, `reasoning` the provider's total. `stated_usd` is the cost that a gateway
    states.
    """

    input: int = 0
    output: int = 0
    thinking: int = 0
    cached: int = 0
    cache_written: int = 0
    stated_usd: float = 0.0
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An LLM's reply with its tokens, cost and latency.

    `key` is the sha256 of the canonical request; `latency` is in seconds. Tokens and cost include failed
    calls that were charged; `cost_usd` is None if the price is unknown. `cached` replies cost nothing now:
    their tokens and cost are those first paid. `thinking` is the reasoning that an endpoint returned
    separately, if the request asked to keep it. `response_id`, `response_model` and `fingerprint` are
    reported by the endpoint. `left_out` names settings, separated by commas, that were not sent because the
    endpoint refuses them. `metered` is false if the endpoint reported no plausible tokens; `usage` is its
    report of the last call. Neither is stored.
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
    thinking: str | None = None
    response_id: str = ""
    response_model: str = ""
    fingerprint: str = ""
    left_out: str = ""
    metered: bool = True
    usage: TokenUsage | None = None

    def from_cache(self) -> "Reply":
        """Return the reply as a cached one."""
        # Several times as fast as `dataclasses.replace`; called for every verdict of a second round.
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
            thinking=self.thinking,
            response_id=self.response_id,
            response_model=self.response_model,
            fingerprint=self.fingerprint,
            left_out=self.left_out,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One judge, one presentation order, one reply.

    `preference` and `margin` refer to the battle's `a` and `b`, independent of the presentation.

    Attributes:
        model: The LLM, or the embedded judge's version.
        presentation: Order of the two answers.
        outcome: `judged` if a complete, final verdict was read.
        preference: Set if and only if `outcome` is `judged`.
        margin: −1…1, positive if b is better; None if the judge gives no degree.
        rationale: The judge's reasons, as text or as the JSON text of the embedded judge.
        detail: Reason for an outcome other than `judged`, else a note on the reading or empty.
        grade: The label before merging (five-grade judges), else empty.
        settings: Canonical JSON of the sampling settings.
        prompt_hash: sha256 of the prompt's text; empty for the embedded judge.
        parser: Version of the parser that read the reply.
        calls: Requests sent for this judgment, including retries.
        reply: The last reply, if any.
        earlier: Earlier replies that were retried.
        input_tokens: Tokens paid for this judgment, including retries and failed calls but not the cache.
        output_tokens: Likewise.
        cost_usd: Likewise; None if the price is unknown.
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
    earlier: tuple[Reply, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.JUDGED) != (self.preference is not None):
            message = f"A judgment with the outcome {self.outcome} has the preference {self.preference}."
            raise RecordError(message, advice="Set a preference if and only if the outcome is judged.")
        if self.margin is not None and not (math.isfinite(self.margin) and -1 <= self.margin <= 1):
            raise RecordError(f"The margin {self.margin} is not between -1 and 1.")


CORRECTION = "corrected by the organisers: "
"""Prefix of the detail of a verdict that organisers corrected; the reason follows."""


NOT_HANDED_IN = "no answer was handed in"
"""Detail of a verdict without a judge: one of the two answers is empty or missing, and loses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The settled preference of a battle and the judgments that settled it.

    `score` is `a`'s win share, 0–1, from a soft judge. `flipped` is None unless both orders were read.
    """

    outcome: Outcome
    preference: Preference | None = None
    score: float | None = None
    flipped: bool | None = None
    detail: str = ""
    judgments: tuple[Judgment, ...] = ()

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.JUDGED) != (self.preference is not None):
            message = f"A verdict with the outcome {self.outcome} has the preference {self.preference}."
            raise RecordError(message, advice="Set a preference if and only if the outcome is judged.")
        if self.score is not None and not (math.isfinite(self.score) and 0 <= self.score <= 1):
            raise RecordError(f"The score {self.score} is not between 0 and 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """A person's label of a pair: −2…2, positive if b is better.

    Attributes:
        system_a: System of answer a; empty if unknown.
        system_b: System of answer b; empty if unknown.
        annotator: Name of the person; empty if unknown.
        shown_first: Side shown first, `a` or `b`; empty if unknown.
        labelled_at: Time of the label; empty if unknown.
        both_bad: Whether a tie means that both answers are bad.
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
    question_id: str = ""
    annotator: str = ""
    shown_first: str = ""
    labelled_at: str = ""
    both_bad: bool = False


LARGEST_GRADE = 2
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricItem:
    """One answer with all texts that metrics compare it with.

    Attributes:
        answer: The answer as submitted.
        passages: Passages of the question: the ground truth of comprehensiveness and factuality.
        contexts: Passages that the system retrieved, best first.
        aspects: Facets that a good answer addresses.
        sub_questions: Sub-questions that coverage counts.
        short_answers: Brief forms of the right answer.
        nuggets: Facts that a good answer states.
    """

    id: str
    question: str
    answer: str
    passages: tuple[Passage, ...] = ()
    reference: str | None = None
    contexts: tuple[Passage, ...] = ()
    aspects: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()
    short_answers: tuple[str, ...] = ()
    nuggets: tuple[Nugget, ...] = ()
    domain: str = ""


ENGINE = "engine"
"""Key of a score's details: the LLM or the version of the embedded metrics."""
EMBEDDED_ENGINE = "lexical-8"
"""Version of the embedded metrics; stored scores of other versions are recomputed. A comma and a local model
that relates texts may follow.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One metric's score of one answer.

    Attributes:
        outcome: `judged` if there is a score; `unreadable` if the metric is undefined for the item or its
            LLM's replies are unreadable; `refused`, `failed` and `skipped` (budget) as in judging.
        score: The value within the metric's bounds, or None.
        details: Parts of the score as JSON values; `reason` if there is no score.
    """

    id: str
    metric: str
    outcome: Outcome
    score: float | None = None
    details: Mapping[str, Json] = field(default_factory=lambda: NOTHING)

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.JUDGED) != (self.score is not None):
            message = f"A score of {self.metric} with the outcome {self.outcome} has the value {self.score}."
            raise RecordError(message, advice="Set a value if and only if the outcome is judged.")
        if self.score is not None and not math.isfinite(self.score):
            message = f"A score of {self.metric} is {self.score}."
            raise RecordError(message, advice="Return an undefined score as unreadable, with a reason.")
        if self.outcome is not Outcome.JUDGED and not self.details.get("reason"):
            message = f"A score of {self.metric} is {self.outcome} without a reason."
            raise RecordError(message, advice="Put the reason into the details.")

    @property
    def reason(self) -> str:
        """Reason for a missing score, else empty."""
        return str(self.details.get("reason", ""))


def unscored(item: MetricItem, metric: str, outcome: Outcome, reason: str) -> Score:
    """Return a score without a value, with its reason."""
    return Score(id=item.id, metric=metric, outcome=outcome, details={"reason": reason})
