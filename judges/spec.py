"""Judge specs: validated settings with a canonical form and a hash; docs/judges.md explains the keys."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from data.errors import RecordError, SpecError
from data.files.strict_json import wording
from data.models import GroundTruth, JudgeKind, OrderPolicy, require_name
from judges.llm.requests import Sampling
from judges.pairwise.literal import VerdictWords
from judges.pairwise.prompt import Prompt

TOP_LOGPROBS = 20


class ReplyFormat(StrEnum):
    """Required ending of a judge's reply, which selects its parser."""

    RATING = "rating"
    GRADES = "grades"
    LOGPROBS = "logprobs"
    DIGIT_SCAN = "digit-scan"
    WORDS = "words"


class Cleaning(StrEnum):
    """Cleaning of answers before they are judged."""

    STANDARD = "standard"
    COMPAT = "compat"
    NONE = "none"


class Protection(StrEnum):
    """Protection of a judge from steering by answers."""

    FULL = "full"
    NEUTRALISE = "neutralise"
    NONE = "none"


class PanelRule(StrEnum):
    """Decision rule of a panel."""

    MAJORITY = "majority"
    WEIGHTED = "weighted"


UNSENT = "default"
"""Value that leaves a setting to the endpoint, because TOML has no null."""
OrDefault = BeforeValidator(lambda value: None if value == UNSENT else value)
Sent = Literal["sent", "default"]
SENT = MappingProxyType(
    {"response_format": "response_format", "logprobs": "logprobs", "system_role": "system role"}
)
"""Parameters that a judge may leave out of every request, with their names in `chat_format.Quirk`."""
Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Weight = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
Scalar = bool | int | float | str


STORED_KEY = "yardstick"
"""Key of `ground_truth` in stored specs and hashes; files may use it too."""


class JudgeSpec(BaseModel):
    """A judge: kind, model, prompt and settings.

    Attributes:
        kind: `llm`, `panel`, `lexical` or `function`.
        description: One line for `arena judges list`.
        model: The LLM's name at the endpoint.
        endpoint: Base URL of an OpenAI-compatible endpoint; empty for the endpoint in the settings.
        ground_truth: Texts that answers are compared with.
        order: Order of the answers in prompts, or both orders.
        temperature: Sampling temperature; None (in a file `"default"`) leaves it to the endpoint, as in the
            next three.
        response_format: `"default"` never sends a metric's schema.
        logprobs: `"default"` never requests log probabilities.
        system_role: `"default"` puts the rubric at the start of the user message, not in a system message.
        votes: Replies in each order; the majority counts.
        swap_margin: Adaptive second order: also ask swapped if a reply is this close to a tie; None: never.
        swap_audit: Adaptive second order: random share of battles that are always asked swapped.
        reasks: Retries after an unreadable reply.
        failures_tie: A failed, refused or unreadable reply is a tie (only for `compat`).
        weights: Weights of the members of a weighted panel.
        quorum: Minimum number of members that have judged; None: all.
        lexical: Settings of the lexical judge, which validates them.
        function: Python function that decides, `FILE.py:NAME` or `MODULE:NAME`; `code` is its source hash.
        price: 0 for a free model; None: from the price list. It changes no verdict.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str
    kind: JudgeKind
    description: str = ""
    model: str = ""
    endpoint: str = ""
    prompt: Prompt | None = None
    ground_truth: Annotated[GroundTruth, Field(validation_alias=AliasChoices("ground_truth", STORED_KEY))] = (
        GroundTruth.NONE
    )
    order: OrderPolicy = OrderPolicy.PAPER
    reply: ReplyFormat = ReplyFormat.RATING
    temperature: Annotated[Annotated[float, Field(ge=0, le=2, strict=True)] | None, OrDefault] = 0.0
    top_p: Annotated[Annotated[float, Field(gt=0, le=1, strict=True)] | None, OrDefault] = 1.0
    max_tokens: Annotated[Annotated[int, Field(ge=1, strict=True)] | None, OrDefault] = 256
    seed: Annotated[Annotated[int, Field(strict=True)] | None, OrDefault] = None
    response_format: Sent = "sent"
    logprobs: Sent = "sent"
    system_role: Sent = "sent"
    votes: Annotated[int, Field(ge=1, le=99, strict=True)] = 1
    swap_margin: Share | None = None
    swap_audit: Share = 0.0
    reasks: Annotated[int, Field(ge=0, le=1, strict=True)] = 1
    failures_tie: Annotated[bool, Field(strict=True)] = False
    cleaning: Cleaning = Cleaning.STANDARD
    protection: Protection = Protection.FULL
    members: "tuple[JudgeSpec, ...]" = ()
    weights: tuple[Weight, ...] = ()
    rule: PanelRule = PanelRule.MAJORITY
    quorum: Annotated[int, Field(ge=1, strict=True)] | None = None
    lexical: Mapping[str, Scalar] = Field(default_factory=dict)
    function: str = ""
    code: str = ""
    price: Annotated[float, Field(ge=0, le=0, strict=True)] | None = None

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

    @cached_property
    def without(self) -> tuple[str, ...]:
        """Parts left out of every request, whatever the endpoint accepts."""
        return tuple(name for key, name in SENT.items() if getattr(self, key) == UNSENT)

    @property
    def verdict_words(self) -> VerdictWords:
        """Verdict words of a reply where `reply` is `words`."""
        exact = None if self.prompt is None else self.prompt.literal
        return (exact and exact.verdict) or VerdictWords()

    @property
    def adaptive(self) -> bool:
        """True if only some battles are asked in the second order."""
        return self.order is not OrderPolicy.BOTH and (self.swap_margin is not None or self.swap_audit > 0)

    @property
    def canonical(self) -> dict[str, Any]:
        """Everything that can change a verdict, as plain values; the prompt is represented by its hash."""
        # Defaults of later keys stay out, so that older judges keep their hashes.
        defaults = {key for key in SENT if getattr(self, key) != UNSENT}
        excluded = {"prompt", "members", "name", "description", "price", "function", "code", *defaults}
        dumped = self.model_dump(mode="json", exclude=excluded)
        plain = {STORED_KEY if key == "ground_truth" else key: value for key, value in dumped.items()}
        plain["prompt"] = "" if self.prompt is None else self.prompt.hash
        plain["members"] = [member.canonical for member in self.members]
        if self.function:
            plain["function"] = {"name": self.function.rpartition(":")[2], "code": self.code}
        return plain

    @cached_property
    def hash(self) -> str:
        """The sha256 of the canonical form, which identifies the judge in stored results."""
        text = json.dumps(self.canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the LLMs that this judge uses."""
        return tuple(dict.fromkeys(spec.model for spec in leaves(self) if spec.kind is JudgeKind.LLM))

    def at(self, endpoint: str) -> "JudgeSpec":
        """Return a copy with a default endpoint for itself and its members."""
        members = tuple(member.at(endpoint) for member in self.members)
        return self.model_copy(update={"endpoint": self.endpoint or endpoint, "members": members})

    def using(self, **changes: object) -> "JudgeSpec":
        """Return a validated copy with other settings."""
        return make_spec({**{name: getattr(self, name) for name in type(self).model_fields}, **changes})


def make_spec(values: Mapping[str, Any]) -> JudgeSpec:
    """Create a spec from plain values."""
    try:
        return JudgeSpec(**values)
    except ValidationError as error:
        name = values.get("name", "?")
        problems = "; ".join(_wording(error))
        message = f"Judge spec {name} is invalid: {problems}."
        raise SpecError(message, advice="docs/judges.md explains every key.") from error


def leaves(spec: JudgeSpec) -> Iterator[JudgeSpec]:
    """Yield the spec itself, or the members of a panel, recursively."""
    if not spec.members:
        yield spec
    for member in spec.members:
        yield from leaves(member)


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
    if spec.kind is not JudgeKind.PANEL and spec.members:
        yield "'members' are for panels"
    if spec.kind is not JudgeKind.LEXICAL and spec.lexical:
        yield "'lexical' is for the lexical judge"
    if spec.kind is not JudgeKind.FUNCTION and spec.function:
        yield "'function' is for judges of the kind function"


def _llm_problems(spec: JudgeSpec) -> Iterator[str]:
    if not spec.model.strip():
        yield "'model' is missing: use the endpoint's name of the LLM"
    if spec.endpoint and not spec.endpoint.startswith(("http://", "https://")):
        yield f"'endpoint' is not an http(s) address ({spec.endpoint!r})"
    if spec.prompt is None:
        yield (
            f"'prompt' is missing: no bundled prompt has the ground truth {spec.ground_truth} and the reply "
            f"{spec.reply}; use a Markdown file next to the spec"
        )
    else:
        yield from _prompt_problems(spec.prompt, spec.ground_truth)
        own_words = spec.prompt.literal is not None and spec.prompt.literal.verdict is not None
        if own_words != (spec.reply is ReplyFormat.WORDS):
            yield "'reply' must be words if the prompt has a [verdict] table, and only then"
    if spec.votes > 1 and spec.temperature == 0:
        yield "'votes' above 1 with 'temperature' 0 repeats the same request: raise the temperature"
    if spec.order is OrderPolicy.BOTH and (spec.swap_margin is not None or spec.swap_audit):
        yield "'order' both already judges every battle twice: leave out 'swap_margin' and 'swap_audit'"


def _prompt_problems(prompt: Prompt, ground_truth: GroundTruth) -> Iterator[str]:
    placeholders = prompt.placeholders("pair")
    required = {
        GroundTruth.NONE: set[str](),
        GroundTruth.REFERENCE: {"reference"},
        GroundTruth.PASSAGES: {"passages"},
    }[ground_truth]
    for name in sorted(required - placeholders):
        yield f"prompt {prompt.name} lacks {{{name}}}, which the ground truth {ground_truth} needs"
    for name in sorted(({"reference", "passages"} & placeholders) - required):
        yield f"prompt {prompt.name} contains {{{name}}}, so 'ground_truth' must not be {ground_truth}"


def _panel_problems(spec: JudgeSpec) -> Iterator[str]:
    if not spec.members:
        yield "'members' is missing: a panel needs judges"
    names = [member.name for member in spec.members]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two members are named {name!r}"
    if spec.rule is PanelRule.WEIGHTED and len(spec.weights) != len(spec.members):
        yield f"a weighted panel needs one weight per member ({len(spec.weights)} for {len(spec.members)})"
    if spec.rule is PanelRule.MAJORITY and spec.weights:
        yield "'weights' count only with rule = \"weighted\""
    if spec.quorum is not None and spec.quorum > len(spec.members):
        yield f"'quorum' {spec.quorum} exceeds the number of members"


def _lexical_problems(spec: JudgeSpec) -> Iterator[str]:
    if spec.prompt is not None or spec.model:
        yield "the lexical judge has no 'model' and no 'prompt'"


def _function_problems(spec: JudgeSpec) -> Iterator[str]:
    if not spec.function:
        yield "'function' is missing: name FILE.py:FUNCTION"
    if spec.prompt is not None or spec.model:
        yield "a function has no 'model' and no 'prompt'"


_PROBLEMS = {
    JudgeKind.LLM: _llm_problems,
    JudgeKind.PANEL: _panel_problems,
    JudgeKind.LEXICAL: _lexical_problems,
    JudgeKind.FUNCTION: _function_problems,
}
