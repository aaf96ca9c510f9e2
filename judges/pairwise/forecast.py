"""Before a round: what its judge cannot decide whatever the answers say, and what asking it will take."""

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

REFERENCE_PLAYS = "the reference would be opponent and ground truth at once"
NO_REFERENCE = "the question has no reference to be the ground truth"
NO_PASSAGES = "the question has no passages to be the ground truth"
NOTHING_GIVEN = "the question has neither passages nor a reference"


def cannot_decide(
    spec: JudgeSpec, question: Question, *, against_reference: bool, silent: bool = False
) -> str:
    """Return the reason why a judge cannot decide battles on a question; empty where it can.

    Args:
        spec: The judge; a panel cannot decide what too many of its members cannot.
        question: The question of the battle.
        against_reference: Whether one of the two answers is the reference.
        silent: Whether an answer says nothing: it loses with the embedded judge, which needs no
            ground truth for that.
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
    if spec.kind is JudgeKind.LEXICAL and (unread := _unreadable_language(question.language)):
        return unread
    needed = _embedded if spec.kind is JudgeKind.LEXICAL else _missing_ground_truth
    return needed(spec.ground_truth, question, against_reference=against_reference)


def _unreadable_language(code: str) -> str:
    """Return the reason why the embedded judge cannot read a language; empty where it can."""
    if code == ENGLISH:
        return ""
    from judges.text.languages import can_read, unreadable  # noqa: PLC0415 - takes a second to load

    return "" if can_read(code) else unreadable(code)


def _embedded(ground_truth: GroundTruth, question: Question, *, against_reference: bool) -> str:
    if has_passages(question) and ground_truth is not GroundTruth.REFERENCE:
        return ""
    if not has_reference(question):
        return NOTHING_GIVEN
    return REFERENCE_PLAYS if against_reference else ""


def _missing_ground_truth(ground_truth: GroundTruth, question: Question, *, against_reference: bool) -> str:
    if ground_truth is GroundTruth.PASSAGES:
        return "" if has_passages(question) else NO_PASSAGES
    if ground_truth is GroundTruth.REFERENCE:
        return REFERENCE_PLAYS if against_reference else "" if has_reference(question) else NO_REFERENCE
    return ""


CHARACTERS_PER_TOKEN = 4
Ask = Callable[..., Request]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated requests of a judge for some battles.

    Attributes:
        requests: Requests that are certain.
        requests_most: Requests if every battle is re-asked and every adaptive swap is made.
        prompt_tokens: Tokens of the certain requests, by the counter given or at four characters a token.
        output_tokens: What the certain requests may return at most; 0 where a judge sets no limit.
        cached: Of the certain requests, those whose replies are there already.
        cached_most: Of `requests_most`, those of battles whose certain requests are all there: what follows
            from the same replies was asked with them.
    """

    battles: int = 0
    requests: int = 0
    requests_most: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    cached: int = 0
    cached_most: int = 0

    def scaled(self, factor: float) -> "Estimate":
        """Return the same for more battles, when this is of a sample of them."""
        return Estimate(**{name: round(getattr(self, name) * factor) for name in type(self).__slots__})


def _roughly(request: Request) -> int:
    return -(-sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN)


def estimate(
    spec: JudgeSpec,
    inputs: Iterable[JudgeInput],
    *,
    tokens: Callable[[Request], int] = _roughly,
    known: Callable[[Sequence[str]], Mapping[str, Reply]] = lambda _: {},
) -> Estimate:
    """Count what a judge will ask for some battles, without asking.

    Args:
        spec: The judge; members are added up, embedded judges ask nothing.
        inputs: The battles, or a sample of them (see `Estimate.scaled`).
        tokens: Counts a request's tokens; by default characters over four.
        known: Replies that are there already, by the keys of requests; one that gives no verdict is none.
    """
    judges = [leaf for leaf in leaves(spec) if leaf.kind is JudgeKind.LLM]
    renderers = [Renderer(leaf, leaf.prompt) for leaf in judges if leaf.prompt is not None]
    battles = requests = most = counted = returned = cached = cached_most = 0
    for judge_input in inputs:
        battles += 1
        for renderer in renderers:
            votes = list(_certain(renderer, judge_input))
            certain = [asked(sample=vote) for asked, vote in votes]
            replies = known([request.key for request in certain]) if certain else {}
            there = sum(
                request.key in replies and _settled(renderer.spec, known, *vote)
                for request, vote in zip(certain, votes, strict=True)
            )
            at_most = _most(renderer, judge_input, len(certain))
            requests += len(certain)
            most += at_most
            cached += there
            cached_most += at_most if there == len(certain) else there
            returned += sum(request.sampling.max_tokens or 0 for request in certain)
            counted += sum(map(tokens, certain))
    return Estimate(
        battles=battles,
        requests=requests,
        requests_most=most,
        prompt_tokens=counted,
        output_tokens=returned,
        cached=cached,
        cached_most=cached_most,
    )


def _settled(
    spec: JudgeSpec, known: Callable[[Sequence[str]], Mapping[str, Reply]], asked: Ask, vote: int
) -> bool:
    for sample in (vote, *samples_after(vote)):
        for attempt in range(1 + spec.reasks):
            reply = next(iter(known([asked(sample=sample, again=attempt > 0).key]).values()), None)
            if reply is None:
                return False
            if read(reply, spec.reply, spec.verdict_words).outcome is Outcome.JUDGED:
                return True
    return False


def _certain(renderer: Renderer, judge_input: JudgeInput) -> Iterator[tuple[Ask, int]]:
    """Yield each certain vote: how its request is made, and its number."""
    spec = renderer.spec
    if declined(spec.ground_truth, judge_input):
        return
    sides = renderer.sides(judge_input)
    texts = [sides]
    if spec.protection is Protection.FULL:
        if gate(sides) is not None:
            return
        finding = inspect(sides)
        texts += [finding.sides] if finding.families else []
    for shown_sides in texts:
        for presentation in _presentations(spec, judge_input):
            for vote in range(spec.votes):
                yield partial(renderer.request, judge_input, shown_sides, presentation), vote


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
