"""How much asking a round will take, before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from data.records import JudgeKind, OrderPolicy, Presentation
from judges.base import Contest
from judges.guard import gate, inspect
from judges.llm.requests import Request
from judges.orders import presentations, uniform
from judges.pairwise import declined
from judges.rendering import Renderer
from judges.spec import JudgeSpec, Protection, leaves

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a judge will ask for some battles.

    Attributes:
        battles: Battles that were looked at.
        requests: Requests that are certain.
        requests_most: Requests if every battle is re-asked and every adaptive swap is made.
        prompt_characters: Characters of the certain requests.
        prompt_tokens: Their tokens, by the counter given or at four characters a token.
        output_tokens: What the certain requests may return at most; 0 where a judge sets no limit.
    """

    battles: int = 0
    requests: int = 0
    requests_most: int = 0
    prompt_characters: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0

    def scaled(self, factor: float) -> Estimate:
        """The same for more battles, when this is of a sample of them."""
        return Estimate(**{name: round(getattr(self, name) * factor) for name in type(self).__slots__})


def estimate(
    spec: JudgeSpec, contests: Iterable[Contest], *, tokens: Callable[[Request], int] | None = None
) -> Estimate:
    """Count what a judge will ask for some battles, without asking.

    Args:
        spec: The judge; a panel's members are added up, embedded judges ask nothing.
        contests: The battles, or a sample of them (see `Estimate.scaled`).
        tokens: Counts a request's tokens; None: characters over four.
    """
    judges = [leaf for leaf in leaves(spec) if leaf.kind is JudgeKind.LLM]
    renderers = [Renderer(leaf, leaf.prompt) for leaf in judges if leaf.prompt is not None]
    battles = requests = most = characters = counted = returned = 0
    for contest in contests:
        battles += 1
        for renderer in renderers:
            certain = list(_certain(renderer, contest))
            length = [sum(len(message.content) for message in request.messages) for request in certain]
            requests += len(certain)
            most += _most(renderer, contest, len(certain))
            characters += sum(length)
            returned += sum(request.sampling.max_tokens or 0 for request in certain)
            counted += (
                sum(-(-size // CHARACTERS_PER_TOKEN) for size in length)
                if tokens is None
                else sum(tokens(request) for request in certain)
            )
    return Estimate(
        battles=battles,
        requests=requests,
        requests_most=most,
        prompt_characters=characters,
        prompt_tokens=counted,
        output_tokens=returned,
    )


def _certain(renderer: Renderer, contest: Contest) -> Iterator[Request]:
    spec = renderer.spec
    if declined(spec.yardstick, contest):
        return
    sides = renderer.sides(contest)
    texts = [sides]
    if spec.protection is Protection.FULL:
        if gate(sides) is not None:
            return
        found = inspect(sides)
        texts += [found.sides] if found.families else []
    for shown in texts:
        for presentation in _presentations(spec, contest):
            for vote in range(spec.votes):
                yield renderer.request(contest, shown, presentation, sample=vote)


def _presentations(spec: JudgeSpec, contest: Contest) -> tuple[Presentation, ...]:
    first = presentations(contest, spec.order)
    if spec.order is not OrderPolicy.BOTH and uniform(contest.battle_id, "audit") < spec.swap_audit:
        return (first[0], first[0].other)
    return first


def _most(renderer: Renderer, contest: Contest, certain: int) -> int:
    spec = renderer.spec
    orders = len(_presentations(spec, contest))
    swaps = 2 / orders if spec.swap_margin is not None else 1
    return round(certain * swaps) * (1 + spec.reasks)
