"""What an organiser asks a round to be, and the plan that follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from arena.services.planning import Plan
from data.errors import InputError, NotFoundError
from data.records import OrderPolicy, Question, SetSummary, Submission, require_name
from judges.spec import JudgeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRequest:
    """What an organiser asks a round to be.

    `pairs` and `sample` are in the words of the command line; `systems` empty takes every system, `domains`
    empty every domain.
    `canaries` None plants one of each family of attack where an LLM judges, but no more than a tenth of
    the battles.
    """

    set_name: str
    judge: str
    pairs: str = "reference"
    systems: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    sample: str | None = None
    order: OrderPolicy | None = None
    seed: int = 0
    budget_usd: float | None = None
    name: str | None = None
    canaries: int | None = None

    def __post_init__(self) -> None:
        if self.name is not None:
            require_name(self.name, "Round name")
        if self.budget_usd is not None:
            require_amount(self.budget_usd)

    def as_json(self) -> dict[str, Any]:
        """The request as a job carries it."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> RoundRequest:
        """What `as_json` gave, read back."""
        order = fields["order"]
        return cls(
            **{
                **fields,
                "systems": tuple(fields["systems"]),
                "domains": tuple(fields["domains"]),
                "order": None if order is None else OrderPolicy(order),
            }
        )


def questions_in(
    domains: tuple[str, ...], summary: SetSummary, questions: Iterable[tuple[int, Question]]
) -> tuple[tuple[int, Question], ...]:
    """The questions of some domains of a set; of all where none is named.

    Raises:
        NotFoundError: The set has no such domain.
    """
    unknown = [domain for domain in domains if domain not in summary.domains]
    if unknown:
        known = ", ".join(summary.domains)
        raise NotFoundError(
            f"{summary.name} has no domain {', '.join(unknown)}.", advice=f"There are: {known}."
        )
    return tuple(entry for entry in questions if not domains or entry[1].domain in domains)


def require_amount(budget_usd: float) -> float:
    """Refuse what is no amount of money, and return what is.

    Raises:
        InputError: It is negative, infinite or not a number.
    """
    if not 0 <= budget_usd < float("inf"):
        raise InputError(f"The budget {budget_usd} is no amount of money.", advice="Use 0 or more.")
    return budget_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRound:
    """A plan that is not stored yet: what would be judged, by whom, among whom."""

    request: RoundRequest
    summary: SetSummary
    spec: JudgeSpec
    entrants: tuple[Submission, ...]
    plan: Plan
