"""Missing prerequisites of a round, each with a remedy."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from arena.services.rounds.models import LoadSpec, PlannedRound, RoundEstimate, RoundRequest
from arena.services.rounds.pairing import Pairs, left_out_of
from data.models import JobKind, JudgeKind
from data.store import Store
from data.text import counted
from judges.llm.prices import price_advice
from judges.spec import JudgeSpec, leaves

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts whose endpoints usually need no key."""


class Lack(StrEnum):
    """Kinds of missing prerequisites."""

    ANSWERS = "no answers"
    REFERENCES = "no references"
    BATTLES = "no battles"
    UNDECIDABLE = "judge cannot decide"
    INCOMPLETE = "answers missing"
    KEY = "no key"
    PRICE = "no price"
    CAP = "no cap"
    CAP_TOO_LOW = "cap too low"
    CALIBRATION = "not calibrated"
    NAME = "name taken"


SPENDING = frozenset({Lack.CAP, Lack.PRICE})
"""Kinds that a round without a cap may lack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Missing prerequisite; `blocks` if it prevents the launch; `command` is the advice as a command."""

    what: Lack
    text: str
    advice: str
    blocks: bool = False
    command: str = ""

    def __str__(self) -> str:
        """Return the advice for the command line."""
        return f"{self.advice} ({self.command})" if self.command else self.advice

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of commands and the API."""
        return {**asdict(self), "what": self.what.value}


def is_local(endpoint: str) -> bool:
    """Return whether an endpoint is on this machine."""
    return urlsplit(endpoint).hostname in LOCAL_HOSTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Checks that a planned round can start; `has_key` is True if an LLM API key is set."""

    store: Store
    load_spec: LoadSpec
    has_key: bool

    def missing(self, planned: PlannedRound, expected: RoundEstimate) -> tuple[Missing, ...]:
        """Return the missing prerequisites of a round, blocking ones first."""
        rows = [*self._of_plan(planned), *self._of_judge(planned, expected)]
        return tuple(sorted(rows, key=lambda row: not row.blocks))

    def _of_plan(self, planned: PlannedRound) -> Iterator[Missing]:
        request, plan = planned.request, planned.plan
        name = request.set_name
        undecidable, battles = sum(plan.undecidable.values()), plan.ended[None]
        pairs = Pairs.parse(request.pairs)
        reference = self.store.submissions.reference(name)
        referenced = bool(self.store.submissions.answered(reference.id))
        if not planned.entrants:
            yield Missing(
                what=Lack.ANSWERS,
                text=f"{name} has no submitted answers.",
                advice="Let teams submit, or add a file.",
                command=f"arena submissions add FILE --set {name} --system NAME",
                blocks=True,
            )
        elif not referenced and pairs.reference:
            yield Missing(
                what=Lack.REFERENCES,
                text=f"{name} has no references to compare systems with.",
                advice="Compare the systems with each other, or import a version of the set with references.",
                blocks=not plan.battles,
            )
        elif not plan.battles:
            yield Missing(
                what=Lack.BATTLES,
                text=f"There is nothing to judge with the pairs {request.pairs}{left_out_of(plan)}.",
                advice="Choose other pairs, systems, domains, or a larger sample.",
                blocks=True,
            )
        if undecidable:
            yield Missing(
                what=Lack.UNDECIDABLE,
                text=f"The judge cannot decide {undecidable:,} of {battles:,} battles: "
                f"{'; '.join(plan.undecidable)}.",
                advice="Add references or passages, choose a judge that needs neither, or other pairs.",
                blocks=undecidable >= battles > 0,
            )
        if incomplete := plan.missing + plan.without_judge:
            end = "count as lost" if plan.without_judge else "are not compared"
            yield Missing(
                what=Lack.INCOMPLETE,
                text=f"{counted(incomplete, 'battle')} {'lack' if incomplete > 1 else 'lacks'} an answer and "
                f"{end} without a judge.",
                advice="Ask the teams for complete files.",
            )
        if request.name is not None and any(
            round_.name == request.name for round_ in self.store.rounds.all()
        ):
            yield Missing(
                what=Lack.NAME,
                text=f"Round {request.name} already exists.",
                advice="Choose another name, or leave it empty.",
                blocks=True,
            )

    def _of_judge(self, planned: PlannedRound, expected: RoundEstimate) -> Iterator[Missing]:
        request, spec = planned.request, planned.spec
        # With every reply cached, neither a key nor a cap is needed.
        has_llm = bool(self.load_spec(request.judge).models)
        if has_llm and expected.requests:
            yield from self._of_money(request, spec, expected.cost_usd)
            if expected.free_by_place and request.budget_usd is not None:
                names = ", ".join(expected.free_by_place)
                yield Missing(
                    what=Lack.PRICE,
                    text=f"The price of {names} is unknown; it counts as free at a private address. "
                    "The cap counts costs that its replies report.",
                    advice=" ".join(map(price_advice, expected.free_by_place)),
                )
        calibrations = self.store.jobs.all(kind=JobKind.CALIBRATE)
        if not any(job.result is not None and request.judge in job.payload["judges"] for job in calibrations):
            yield Missing(
                what=Lack.CALIBRATION,
                text=f"The judge {spec.name} is not calibrated on human labels; the board will show this.",
                advice="Calibrate it first.",
                command=f"arena judges calibrate --judge {spec.name} --labels FILE",
            )

    def _of_money(self, request: RoundRequest, spec: JudgeSpec, cost_usd: float | None) -> Iterator[Missing]:
        endpoints = {leaf.endpoint for leaf in leaves(spec) if leaf.kind is JudgeKind.LLM}
        unkeyed = sorted(place for place in endpoints if not is_local(place))
        if unkeyed and not self.has_key:
            yield Missing(
                what=Lack.KEY,
                text=f"No key is set for {', '.join(unkeyed)}, the endpoint of the judge's model.",
                advice="Set OPENAI_API_KEY. A site and its workers read it when they start.",
            )
        if cost_usd == 0:
            return
        if request.budget_usd is None and cost_usd is None:
            yield Missing(
                what=Lack.PRICE,
                text=f"The price of {', '.join(spec.models)} is unknown, so the round's cost is unknown.",
                advice=" ".join(map(price_advice, spec.models)),
                blocks=True,
                command="or --no-cap",
            )
        elif request.budget_usd is None:
            yield Missing(
                what=Lack.CAP,
                text="The judge calls an LLM, and the round has no cap.",
                advice=f"Set a cap in USD; about {cost_usd:.2f} USD are expected.",
                blocks=True,
                command="--budget-usd X, or --no-cap",
            )
        elif cost_usd is None:
            yield Missing(
                what=Lack.PRICE,
                text=f"The price of {', '.join(spec.models)} is unknown, so a cap cannot be enforced.",
                advice=" ".join(map(price_advice, spec.models)),
                blocks=True,
            )
        elif cost_usd > request.budget_usd:
            yield Missing(
                what=Lack.CAP_TOO_LOW,
                text=f"About {cost_usd:.2f} USD are expected, and the cap is {request.budget_usd:g} USD: "
                "battles beyond it would be skipped.",
                advice="Raise the cap, or judge a sample of the questions.",
            )
