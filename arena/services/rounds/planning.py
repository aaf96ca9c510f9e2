"""Planning of rounds: battles, omissions, cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from arena.services.accounts.auth import Caller, CallerKind, require
from arena.services.rounds.models import (
    LoadSpec,
    PlannedRound,
    RoundEstimate,
    RoundRequest,
    judge_inputs,
    questions_in,
)
from arena.services.rounds.pairing import Pairs, Sample, Scope, make_plan
from arena.services.rounds.readiness import SPENDING, Readiness
from data.errors import InputError, NotFoundError
from data.models import JudgeKind, Reply, Submission, SubmissionKind, TokenScope, TokenUsage
from data.models.questions import base_id
from data.progress import working
from data.store import Store
from data.store.replies import ReplyStore
from judges.llm.prices import Prices
from judges.llm.settings import CacheMode
from judges.llm.token_counting import TokenCounter
from judges.pairwise.cleaning import clean
from judges.pairwise.forecast import Estimate, cannot_decide, estimate
from judges.pairwise.screening import has_content
from judges.spec import JudgeSpec, leaves

LoadPrices = Callable[[], Prices]
TOKENS = 1_000_000


class RoundPlanner:
    """Planner of rounds, without storing them.

    In the replay `cache_mode` nothing costs; `has_key` is True with a key for LLM endpoints; `replies` is a
    cache other than the store's.
    """

    def __init__(
        self,
        store: Store,
        *,
        load_spec: LoadSpec,
        load_prices: LoadPrices,
        cache_mode: CacheMode = CacheMode.LIVE,
        has_key: bool = True,
        replies: ReplyStore | None = None,
    ) -> None:
        self._store = store
        self._cache_mode = cache_mode
        self._replies = replies or store.replies
        self._load_spec = load_spec
        self._load_prices = load_prices
        self._readiness = Readiness(store=store, load_spec=load_spec, has_key=has_key)

    def plan(self, request: RoundRequest) -> PlannedRound:
        """Plan a round."""
        with working("planning the battles"):
            return self._planned(request)

    def _planned(self, request: RoundRequest) -> PlannedRound:
        summary = self._store.sets.summary(request.set_name)
        if not request.pairs:
            request = replace(request, pairs=self._default_pairs(request.set_name))
        pairs, sample = Pairs.parse(request.pairs), Sample.parse(request.sample)
        spec = self._load_spec(request.judge)
        if request.order is not None:
            spec = spec.using(order=request.order)
        entrants = self._entrants(request)
        reference = self._store.submissions.reference(request.set_name)
        answered, silent = self._answered((*entrants, reference))
        questions = questions_in(request.domains, summary, self._store.sets.numbered(summary.id))
        numbers = {question.id: number for number, question in questions}
        scope = Scope(
            set_hash=summary.content_hash,
            questions=questions,
            first={
                number: numbers[first]
                for number, question in questions
                if (first := base_id(question.id)) != question.id and first in numbers
            },
            entrants=entrants,
            reference=reference,
            answered=answered,
            silent=silent,
            missing=request.missing,
        )
        plan = make_plan(
            scope, pairs=pairs, sample=sample, seed=request.seed, cannot=partial(cannot_decide, spec)
        )
        return PlannedRound(request=request, summary=summary, spec=spec, entrants=entrants, plan=plan)

    def _answered(
        self, sides: Sequence[Submission]
    ) -> tuple[Mapping[int, frozenset[int]], Mapping[int, frozenset[int]]]:
        """Return the numbers of the questions that each side answers with text, and of those it declines."""
        answered, silent = {}, {}
        for side in sides:
            texts = self._store.submissions.silent(side.id)
            empty = {question for question, (text, _) in texts.items() if not has_content(clean(text))}
            answered[side.id] = self._store.submissions.answered(side.id) - empty
            silent[side.id] = frozenset(question for question, (_, declines) in texts.items() if declines)
        return answered, silent

    def _default_pairs(self, set_name: str) -> str:
        reference = self._store.submissions.reference(set_name)
        return "reference" if self._store.submissions.answered(reference.id) else "all"

    def require_ready(self, planned: PlannedRound, *, uncapped: bool = False) -> None:
        """Check that a round lacks no prerequisite that `estimate` would report."""
        uncapped = uncapped and planned.request.budget_usd is None
        lacking = [
            row
            for row in self._readiness.missing(planned, self._expected(planned))
            if row.blocks and not (uncapped and row.what in SPENDING)
        ]
        if lacking:
            raise InputError(" ".join(row.text for row in lacking), advice=" ".join(map(str, lacking)))

    def estimate(self, round_: RoundRequest | PlannedRound, *, caller: Caller) -> dict[str, Any]:
        """Return the content of `arena rounds plan`: battles, requests, tokens, cost, missing inputs."""
        require(caller, TokenScope.ORGANISE)
        check_judge(round_ if isinstance(round_, RoundRequest) else round_.request, caller)
        planned = self.plan(round_) if isinstance(round_, RoundRequest) else round_
        expected = self._expected(planned)
        return {
            "set": planned.request.set_name,
            "judge": planned.spec.name,
            "pairs": planned.request.pairs,
            "systems": [entrant.system for entrant in planned.entrants],
            "planned": len(planned.plan.battles),
            "without_judge": planned.plan.without_judge,
            "missing": planned.plan.missing,
            "missing_rule": planned.request.missing.value,
            "left_out": dict(planned.plan.left_out),
            "undecidable": dict(planned.plan.undecidable),
            **asdict(expected),
            "to_do": [row.as_json() for row in self._readiness.missing(planned, expected)],
        }

    def _expected(self, planned: PlannedRound) -> RoundEstimate:
        with working("estimating the cost"):
            prices = self._load_prices()
            return estimate_round(self._store, planned, prices, self._replies, cache_mode=self._cache_mode)

    def entrants(self, set_name: str) -> tuple[Submission, ...]:
        """Return the default submissions of a round on a set."""
        return tuple(self._store.submissions.find(set_name=set_name, newest=True))

    def _entrants(self, request: RoundRequest) -> tuple[Submission, ...]:
        live = self.entrants(request.set_name)
        if not request.systems:
            return live
        by_name = {submission.system: submission for submission in live}
        unknown = [system for system in request.systems if system not in by_name]
        contexts = self._store.submissions.find(set_name=request.set_name, kind=SubmissionKind.CONTEXTS)
        if without := sorted({entrant.system for entrant in contexts} & set(unknown)):
            raise InputError(
                f"{', '.join(without)} submitted contexts to {request.set_name}, but rounds judge answers.",
                advice=f"Score them (`arena retrieval score --set {request.set_name}`), or choose other "
                "systems.",
            )
        if unknown:
            names = ", ".join(by_name) or "none"
            raise NotFoundError(
                f"{', '.join(unknown)} did not submit to {request.set_name}.",
                advice=f"The systems are: {names}.",
            )
        return tuple(by_name[system] for system in dict.fromkeys(request.systems))


def check_judge(request: RoundRequest, caller: Caller) -> None:
    """Check that the caller may use the judge: only the operator may name local files."""
    from judges.catalogue import require_registered

    if caller.kind is not CallerKind.OPERATOR:
        require_registered(request.judge)


def _price(prices: Prices, leaf: JudgeSpec) -> float | None:
    """Return the price of a million input and output tokens; None if unknown."""
    return 0.0 if leaf.price == 0 else prices.cost(leaf.endpoint, leaf.model, TokenUsage(TOKENS, TOKENS))


SAMPLE_SIZE = 1_000
EXPECTED_TOKENS = 150
"""Default length of a reply, with a short reason and a verdict."""


def estimate_round(
    store: Store, planned: PlannedRound, prices: Prices, replies: ReplyStore, *, cache_mode: CacheMode
) -> RoundEstimate:
    """Estimate a planned round from up to `SAMPLE_SIZE` evenly spread battles."""
    models = [leaf for leaf in leaves(planned.spec) if leaf.kind is JudgeKind.LLM]
    if not models:
        return RoundEstimate()
    open_battles = [battle for battle in planned.plan.battles if battle.outcome is None]
    step = max(1, -(-len(open_battles) // SAMPLE_SIZE))
    inputs = tuple(judge_inputs(store, planned, open_battles[::step]))
    if not inputs:
        return RoundEstimate()
    counter = TokenCounter()
    total = RoundEstimate()
    for leaf in models:
        known = _nothing if cache_mode is CacheMode.RECORD else replies.get_many
        part = estimate(leaf, inputs, tokens=counter.expected, known=known)
        mean = replies.mean_output_tokens(leaf.name, leaf.model)
        paying = _Paying(
            leaf=leaf, prices=prices, mean=mean or EXPECTED_TOKENS, free=cache_mode is CacheMode.REPLAY
        )
        total += paying.expected(part.scaled(len(open_battles) / len(inputs)))
    return total


def _nothing(_: Sequence[str]) -> Mapping[str, Reply]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paying:
    """Costs of one model's requests; `mean` is the expected length of its replies in tokens."""

    leaf: JudgeSpec
    prices: Prices
    mean: float
    free: bool

    def expected(self, part: Estimate) -> RoundEstimate:
        """Estimate the requests without a cached reply."""
        sent, maximum = part.requests - part.cached, part.requests_most - part.cached_most
        max_tokens = self.leaf.max_tokens
        output = self.mean if max_tokens is None else min(self.mean, max_tokens)
        input_tokens = part.prompt_tokens / part.requests if part.requests else 0.0
        return RoundEstimate(
            requests=sent,
            requests_most=maximum,
            cached=part.cached,
            input_tokens=round(input_tokens * sent),
            output_tokens=round(output * sent),
            cost_usd=self._usd(sent, input_tokens, output),
            cost_usd_most=self._usd(maximum, input_tokens, max_tokens),
            free_by_place=self._free_by_place if sent else (),
        )

    @property
    def _free_by_place(self) -> tuple[str, ...]:
        by_place = self.leaf.price != 0 and self.prices.is_free_by_place(self.leaf.endpoint, self.leaf.model)
        return (self.leaf.model,) if by_place else ()

    def _usd(self, calls: float, sent: float, returned: float | None) -> float | None:
        price = _price(self.prices, self.leaf)
        if not calls or not sent or self.free or price == 0:
            return 0.0
        if price is None or returned is None:
            return None
        usage = TokenUsage(round(sent * calls), round(returned * calls))
        return self.prices.cost(self.leaf.endpoint, self.leaf.model, usage, max(1, round(calls)))
