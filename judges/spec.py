"""Judge specs: what decides, as one frozen, checked value with a canonical form and a hash.

A spec is read from a TOML file by `judges.catalogue`; every key is explained in docs/judges.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from data.errors import RecordError, SpecError
from data.files.jsonl import wording
from data.records import JudgeKind, OrderPolicy, Yardstick, require_name
from judges.cascades import CASCADE_KEYS, CascadeConfidence, Guarantee, cascade_problems
from judges.llm.requests import Sampling
from judges.pairwise.literal import VerdictWords
from judges.pairwise.prompt import Prompt

TOP_LOGPROBS = 20


class ReplyFormat(StrEnum):
    """What a judge's reply must end with, and so which parser reads it."""

    RATING = "rating"
    GRADES = "grades"
    LOGPROBS = "logprobs"
    DIGIT_SCAN = "digit-scan"
    WORDS = "words"


class Cleaning(StrEnum):
    """Which cleaning answers get before they are judged."""

    STANDARD = "standard"
    COMPAT = "compat"
    NONE = "none"


class Protection(StrEnum):
    """How far answers are kept from steering their judge."""

    FULL = "full"
    NEUTRALISE = "neutralise"
    NONE = "none"


class PanelRule(StrEnum):
    """How a panel settles."""

    MAJORITY = "majority"
    WEIGHTED = "weighted"


Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Weight = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Scalar = bool | int | float | str


class JudgeSpec(BaseModel):
    """A judge: kind, model, prompt and settings.

    Attributes:
        name: Name of the judge; the file's name where the file gives none.
        kind: `llm`, `panel`, `cascade` or `lexical`.
        description: One line for `arena judges list`.
        model: The LLM's name at the endpoint.
        endpoint: Base URL of an OpenAI-compatible endpoint; empty: the one of the settings.
        prompt: The prompt, read and checked.
        yardstick: What answers are held against beside each other.
        order: Which answer is shown first, or both orders.
        reply: The reply format.
        temperature: Sampling temperature; None leaves the endpoint's default, as in the next three.
        top_p: Nucleus share.
        max_tokens: Most tokens of a reply.
        seed: Sampling seed.
        votes: Replies in each order; the majority counts.
        swap_margin: Adaptive second order: a reply this near to a tie is asked swapped too; None: never.
        swap_audit: Adaptive second order: this random share is asked swapped whatever came first.
        reasks: How often an unreadable reply is asked again.
        failures_tie: A failed, refused or unreadable reply is a tie (`compat` alone).
        cleaning: How answers are cleaned.
        protection: How answers are kept from steering the judge.
        members: A panel's judges; of a cascade the cheap one, then the expensive one.
        weights: A weighted panel's weights, one a member.
        rule: How a panel settles.
        quorum: How many members must have judged; None: all.
        lexical: Settings of the lexical judge, checked by it.
        confidence: What says how sure a cascade's cheap member is.
        threshold: The least confidence with which it decides.
        guarantee: What the threshold was set on; None where somebody chose it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str
    kind: JudgeKind
    description: str = ""
    model: str = ""
    endpoint: str = ""
    prompt: Prompt | None = None
    yardstick: Yardstick = Yardstick.NONE
    order: OrderPolicy = OrderPolicy.PAPER
    reply: ReplyFormat = ReplyFormat.RATING
    temperature: Annotated[float, Field(ge=0, le=2, strict=True)] | None = 0.0
    top_p: Annotated[float, Field(gt=0, le=1, strict=True)] | None = 1.0
    max_tokens: Annotated[int, Field(ge=1, strict=True)] | None = 256
    seed: Annotated[int, Field(strict=True)] | None = None
    votes: Annotated[int, Field(ge=1, le=99, strict=True)] = 1
    swap_margin: Share | None = None
    swap_audit: Share = 0.0
    reasks: Annotated[int, Field(ge=0, le=1, strict=True)] = 1
    failures_tie: Annotated[bool, Field(strict=True)] = False
    cleaning: Cleaning = Cleaning.STANDARD
    protection: Protection = Protection.FULL
    members: tuple[JudgeSpec, ...] = ()
    weights: tuple[Weight, ...] = ()
    rule: PanelRule = PanelRule.MAJORITY
    quorum: Annotated[int, Field(ge=1, strict=True)] | None = None
    lexical: Mapping[str, Scalar] = Field(default_factory=dict)
    confidence: CascadeConfidence | None = None
    threshold: Share | None = None
    guarantee: Guarantee | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        problems = [*_common_problems(self), *_PROBLEMS[self.kind](self)]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def sampling(self) -> Sampling:
        """The settings that shape a reply."""
        soft = self.reply is ReplyFormat.LOGPROBS
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            logprobs=soft,
            top_logprobs=TOP_LOGPROBS if soft else None,
        )

    @property
    def verdict_words(self) -> VerdictWords:
        """By which words a reply gives its verdict, where `reply` is `words`."""
        exact = None if self.prompt is None else self.prompt.literal
        return (exact and exact.verdict) or VerdictWords()

    @property
    def adaptive(self) -> bool:
        """Whether the second order is asked for some battles only."""
        return self.order is not OrderPolicy.BOTH and (self.swap_margin is not None or self.swap_audit > 0)

    @property
    def canonical(self) -> dict[str, Any]:
        """Everything that can change a verdict, as plain values; the prompt stands as its hash."""
        plain = self.model_dump(mode="json", exclude={"prompt", "members", "name", "description"})
        if self.kind is JudgeKind.CASCADE:
            plain["member_names"] = [member.name for member in self.members]
        else:
            plain = {key: value for key, value in plain.items() if key not in CASCADE_KEYS}
        plain["prompt"] = "" if self.prompt is None else self.prompt.hash
        plain["members"] = [member.canonical for member in self.members]
        return plain

    @cached_property
    def hash(self) -> str:
        """The sha256 of the canonical form: what names the judge in its judgments' provenance."""
        text = json.dumps(self.canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def models(self) -> tuple[str, ...]:
        """Every LLM that this judge asks."""
        return tuple(dict.fromkeys(spec.model for spec in leaves(self) if spec.kind is JudgeKind.LLM))

    @property
    def asks_llm(self) -> bool:
        """Whether it asks an LLM, and so may say something else when it is asked again."""
        return bool(self.models)

    def at(self, endpoint: str) -> JudgeSpec:
        """The same judge with `endpoint` wherever the spec names none."""
        members = tuple(member.at(endpoint) for member in self.members)
        return self.model_copy(update={"endpoint": self.endpoint or endpoint, "members": members})

    def reworded(self, prompt: Prompt) -> JudgeSpec:
        """The same judge with another prompt, which every LLM of a panel or cascade gets.

        Raises:
            SpecError: The prompt does not go with the yardstick; every problem is named.
        """
        if self.members:
            return self.using(members=tuple(member.reworded(prompt) for member in self.members))
        return self.using(prompt=prompt) if self.kind is JudgeKind.LLM else self

    def using(self, **changes: object) -> JudgeSpec:
        """The same judge with other settings, checked again.

        Raises:
            SpecError: The settings do not go together.
        """
        return make_spec({**{name: getattr(self, name) for name in type(self).model_fields}, **changes})


def make_spec(values: Mapping[str, Any]) -> JudgeSpec:
    """Make a spec from plain values.

    Raises:
        SpecError: Something is wrong with it; every problem is named.
    """
    try:
        return JudgeSpec(**values)
    except ValidationError as error:
        name = values.get("name", "?")
        problems = "; ".join(_wording(error))
        message = f"Judge spec {name} cannot be used: {problems}."
        raise SpecError(message, advice="docs/judges.md explains every key.") from error


def leaves(spec: JudgeSpec) -> Iterator[JudgeSpec]:
    """The judges that decide: the spec itself, or the members of a panel or cascade, however deep."""
    for leaf, _ in asked_shares(spec):
        yield leaf


def asked_shares(spec: JudgeSpec, share: float = 1.0) -> Iterator[tuple[JudgeSpec, float]]:
    """The judges that decide, each with the part of the battles that it is expected to be asked about."""
    if not spec.members:
        yield spec, share
    for place, member in enumerate(spec.members):
        expected = 1.0 if spec.guarantee is None or not place else spec.guarantee.escalated
        yield from asked_shares(member, share * expected)


def _wording(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "value_error":
            yield from str(problem["ctx"]["error"]).splitlines()
        elif problem["type"] == "extra_forbidden":
            yield f"unknown key {place!r}"
        else:
            yield f"{place!r} {wording(problem)}"


def _common_problems(spec: JudgeSpec) -> Iterator[str]:
    try:
        require_name(spec.name, "Judge name")
    except RecordError as error:
        yield str(error).rstrip(".")
    if spec.kind is not JudgeKind.PANEL and (spec.weights or spec.quorum is not None):
        yield "'weights' and 'quorum' are for panels"
    if spec.kind not in {JudgeKind.PANEL, JudgeKind.CASCADE} and spec.members:
        yield "'members' are for panels and cascades"
    if spec.kind is not JudgeKind.CASCADE and any(getattr(spec, key) is not None for key in CASCADE_KEYS):
        yield f"{', '.join(map(repr, CASCADE_KEYS))} are for cascades"
    if spec.kind is not JudgeKind.LEXICAL and spec.lexical:
        yield "'lexical' is for the lexical judge"


def _llm_problems(spec: JudgeSpec) -> Iterator[str]:
    if not spec.model.strip():
        yield "'model' is missing: name the LLM as the endpoint names it"
    if spec.endpoint and not spec.endpoint.startswith(("http://", "https://")):
        yield f"'endpoint' is no http(s) address ({spec.endpoint!r})"
    if spec.prompt is None:
        yield (
            f"'prompt' is missing: no bundled one has the yardstick {spec.yardstick} and the reply "
            f"{spec.reply}, so name a Markdown file beside the spec"
        )
    else:
        yield from _prompt_problems(spec.prompt, spec.yardstick)
        own_words = spec.prompt.literal is not None and spec.prompt.literal.verdict is not None
        if own_words != (spec.reply is ReplyFormat.WORDS):
            yield "'reply' is words exactly where the prompt has a [verdict] table"
    if spec.votes > 1 and spec.temperature == 0:
        yield "'votes' above 1 with 'temperature' 0 asks the same thing again: raise the temperature"
    if spec.order is OrderPolicy.BOTH and (spec.swap_margin is not None or spec.swap_audit):
        yield "'order' both already asks every battle twice: leave 'swap_margin' and 'swap_audit' out"


def _prompt_problems(prompt: Prompt, yardstick: Yardstick) -> Iterator[str]:
    if not prompt.section("pair"):
        yield f"prompt {prompt.name} has no `## pair` section, so it judges nothing"
        return
    placeholders = prompt.placeholders("pair")
    required = {
        Yardstick.NONE: set[str](),
        Yardstick.REFERENCE: {"reference"},
        Yardstick.PASSAGES: {"passages"},
    }[yardstick]
    for name in sorted(required - placeholders):
        yield f"prompt {prompt.name} does not show {{{name}}}, which the yardstick {yardstick} needs"
    for name in sorted(({"reference", "passages"} & placeholders) - required):
        yield f"prompt {prompt.name} shows {{{name}}}, so 'yardstick' must not be {yardstick}"


def _panel_problems(spec: JudgeSpec) -> Iterator[str]:
    if not spec.members:
        yield "'members' is missing: a panel needs judges"
    names = [member.name for member in spec.members]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two members are named {name!r}"
    if spec.rule is PanelRule.WEIGHTED and len(spec.weights) != len(spec.members):
        yield f"a weighted panel needs one weight a member ({len(spec.weights)} for {len(spec.members)})"
    if spec.rule is PanelRule.MAJORITY and spec.weights:
        yield "'weights' count only with rule = \"weighted\""
    if spec.quorum is not None and spec.quorum > len(spec.members):
        yield f"'quorum' {spec.quorum} is more than there are members"


def _lexical_problems(spec: JudgeSpec) -> Iterator[str]:
    if spec.prompt is not None or spec.model:
        yield "the lexical judge has no 'model' and no 'prompt'"


_PROBLEMS = {
    JudgeKind.LLM: _llm_problems,
    JudgeKind.PANEL: _panel_problems,
    JudgeKind.CASCADE: lambda spec: cascade_problems(spec.members, spec.confidence, spec.threshold),
    JudgeKind.LEXICAL: _lexical_problems,
}
