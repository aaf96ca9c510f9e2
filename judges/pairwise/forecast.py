"""Forecasts before a round: undecidable questions and estimated requests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from data.models import ENGLISH, GroundTruth, JudgeKind, OrderPolicy, Outcome, Presentation, Question, Reply
from judges.base import JudgeInput
from judges.llm.requests import Request
from judges.pairwise.llm_judge import declined, has_passages, has_reference
from judges.pairwise.parsing import read
from judges.pairwise.rendering import Renderer, presentations, samples_after, uniform
from judges.pairwise.screening import gate, inspect
from judges.spec import JudgeSpec, Protection, leaves

REFERENCE_PLAYS = "the reference would be both opponent and ground truth"
NO_REFERENCE = "the question has no reference as ground truth"
NO_PASSAGES = "the question has no passages as ground truth"
NO_GROUND_TRUTH = "the question has neither passages nor a reference"


def cannot_decide(
    spec: JudgeSpec, question: Question, *, against_reference: bool, silent: bool = False
) -> str:
    """Return the reason why a judge cannot decide battles on a question, or an empty string.

    Args:
        spec: The judge; a panel cannot decide if too many members cannot.
        question: The question of the battle.
        against_reference: Whether one of the two answers is the reference.
        silent: Whether an answer is empty; the embedded judge decides these without a ground truth.
    """
    if spec.members:
        decides = partial(
            cannot_decide, question=question, against_reference=against_reference, silent=silent
        )
        reasons = list(filter(None, map(decides, spec.members)))
        enough = len(spec.members) - len(reasons) >= (spec.quorum or len(spec.members))
        return "" if enough else reasons[0]
    if spec.kind is JudgeKind.LEXICAL and silent:
        return ""
    if spec.kind is JudgeKind.LEXICAL and (problem := _unreadable_language(question.language)):
        return problem
    reason = _missing_for_embedded if spec.kind is JudgeKind.LEXICAL else _missing_ground_truth
    return reason(spec.ground_truth, question, against_reference=against_reference)


def _unreadable_language(code: str) -> str:
    if code == ENGLISH:
        return ""
    from judges.text.languages import can_read, unreadable  # noqa: PLC0415 - takes a second to load

    return "" if can_read(code) else unreadable(code)


def _missing_for_embedded(ground_truth: GroundTruth, question: Question, *, against_reference: bool) -> str:
    if has_passages(question) and ground_truth is not GroundTruth.REFERENCE:
        return ""
    if not has_reference(question):
        return NO_GROUND_TRUTH
    return REFERENCE_PLAYS if against_reference else ""


def _missing_ground_truth(ground_truth: GroundTruth, question: Question, *, against_reference: bool) -> str:
    if ground_truth is GroundTruth.PASSAGES:
        return "" if has_passages(question) else NO_PASSAGES
    if ground_truth is GroundTruth.REFERENCE:
        return REFERENCE_PLAYS if against_reference else "" if has_reference(question) else NO_REFERENCE
    return ""


CHARACTERS_PER_TOKEN = 4
BuildRequest = Callable[..., Request]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated requests of a judge.

    Attributes:
        requests: Requests that are certain.
        requests_most: Requests if every battle is re-asked and every adaptive swap is made.
        prompt_tokens: Tokens of the certain requests, from the counter or at four characters per token.
        output_tokens: Maximum output of the certain requests; 0 if a judge sets no limit.
        cached: Certain requests with cached replies.
        cached_most: Requests of `requests_most` in battles whose certain requests are all cached, because
            the same replies lead to the same further requests.
    """

    battles: int = 0
    requests: int = 0
    requests_most: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0
    cached_most: int = 0

    def scaled(self, factor: float) -> "Estimate":
        """Extrapolate the estimate of a sample."""
        return Estimate(**{name: round(getattr(self, name) * factor) for name in type(self).__slots__})


def _approximate_tokens(request: Request) -> int:
    return -(-sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN)


def estimate(
    spec: JudgeSpec,
    inputs: Iterable[JudgeInput],
    *,
    tokens: Callable[[Request], int] = _approximate_tokens,
    known: Callable[[Sequence[str]], Mapping[str, Reply]] = lambda _: {},
) -> Estimate:
    """Estimate a judge's requests without sending any.

    Args:
        spec: The judge; a panel sums its members, embedded judges send nothing.
        inputs: The battles, or a sample of them (see `Estimate.scaled`).
        tokens: Counts a request's tokens; by default a quarter of its characters.
        known: Returns cached replies by request key; replies without a verdict do not count.
    """
    judges = [leaf for leaf in leaves(spec) if leaf.kind is JudgeKind.LLM]
    renderers = [Renderer(leaf, leaf.prompt) for leaf in judges if leaf.prompt is not None]
    battles = requests = most = prompt_tokens = output_tokens = cached = cached_most = 0
    for judge_input in inputs:
        battles += 1
        for renderer in renderers:
            votes = list(_certain(renderer, judge_input))
            certain = [build(sample=vote) for build, vote in votes]
            replies = known([request.key for request in certain]) if certain else {}
            hits = sum(
                request.key in replies and _settled(renderer.spec, known, *vote)
                for request, vote in zip(certain, votes, strict=True)
            )
            maximum = _most(renderer, judge_input, len(certain))
            requests += len(certain)
            most += maximum
            cached += hits
            cached_most += maximum if hits == len(certain) else hits
            output_tokens += sum(request.sampling.max_tokens or 0 for request in certain)
            prompt_tokens += sum(map(tokens, certain))
    return Estimate(
        battles=battles,
        requests=requests,
        requests_most=most,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        cached=cached,
        cached_most=cached_most,
    )


def _settled(
    spec: JudgeSpec, known: Callable[[Sequence[str]], Mapping[str, Reply]], build: BuildRequest, vote: int
) -> bool:
    for sample in (vote, *samples_after(vote)):
        for attempt in range(1 + spec.reasks):
            reply = next(iter(known([build(sample=sample, again=attempt > 0).key]).values()), None)
            if reply is None:
                return False
            if read(reply, spec.reply, spec.verdict_words).outcome is Outcome.JUDGED:
                return True
    return False


def _certain(renderer: Renderer, judge_input: JudgeInput) -> Iterator[tuple[BuildRequest, int]]:
    spec = renderer.spec
    if declined(spec.ground_truth, judge_input):
        return
    sides = renderer.sides(judge_input)
    versions = [sides]
    if spec.protection is Protection.FULL:
        if gate(sides) is not None:
            return
        finding = inspect(sides)
        versions += [finding.sides] if finding.families else []
    for version in versions:
        for presentation in _presentations(spec, judge_input):
            for vote in range(spec.votes):
                yield partial(renderer.request, judge_input, version, presentation), vote


def _presentations(spec: JudgeSpec, judge_input: JudgeInput) -> tuple[Presentation, ...]:
    first = presentations(judge_input, spec.order)
    if spec.order is not OrderPolicy.BOTH and uniform(judge_input.battle_id, "audit") < spec.swap_audit:
        return (first[0], first[0].other)
    return first


def _most(renderer: Renderer, judge_input: JudgeInput, certain: int) -> int:
    spec = renderer.spec
    orders = len(_presentations(spec, judge_input))
    swaps = 2 / orders if spec.swap_margin is not None else 1
    return round(certain * swaps) * (1 + spec.reasks)
