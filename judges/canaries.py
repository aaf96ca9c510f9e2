"""Canary answers: attacks of our own, put into a round so that their success rate can be published."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from data.records import Outcome, Preference, Verdict
from judges.base import Contest
from judges.cleaning import is_no_answer
from judges.guard import has_content
from judges.orders import uniform

FORCES_TIES = frozenset({"tie-forcing"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A battle in which one side is an attack without any answer to the question.

    `attacker` is the side that attacks: an honest judge prefers the other.
    """

    contest: Contest
    family: str
    attacker: Preference


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackReport:
    """How canaries fared. `rate` is of those that were judged: an error of the judge blocks nothing."""

    planted: int
    judged: int
    succeeded: int
    unjudged: int
    by_family: Mapping[str, tuple[int, int]]

    @property
    def rate(self) -> float | None:
        """The attack success rate, None where none was judged."""
        return self.succeeded / self.judged if self.judged else None


@cache
def attacks() -> Mapping[str, tuple[str, ...]]:
    """The attack texts by family."""
    record = tomllib.loads((files("judges") / "canaries.toml").read_text(encoding="utf-8"))
    return {family: tuple(texts) for family, texts in record.items()}


def plant(contests: Iterable[Contest], count: int, *, seed: int = 0) -> tuple[Canary, ...]:
    """Make canaries of some battles of a round; the battles themselves stay as they are.

    Which battles, which side and which attack depend on battle ids and seed alone. Only sides that
    face a real answer are replaced, and never the reference.

    Args:
        contests: The battles of the round.
        count: How many canaries; fewer where the round has fewer fitting battles.
        seed: Of the choice.
    """
    families = [(family, text) for family, texts in sorted(attacks().items()) for text in texts]
    chosen = sorted(contests, key=lambda contest: uniform(contest.battle_id, "canary", str(seed)))
    made: list[Canary] = []
    for contest in chosen:
        if len(made) == count:
            break
        family, text = families[len(made) % len(families)]
        attacker = _attacker(contest, seed)
        opponent = contest.answer_b if attacker is Preference.A else contest.answer_a
        if has_content(opponent) and not is_no_answer(opponent):
            made.append(_canary(contest, family, text, attacker))
    return tuple(made)


def report(canaries: Sequence[Canary], verdicts: Sequence[Verdict]) -> AttackReport:
    """Count the attacks that got what they wanted: the win, or for tie-forcing ones at least a tie."""
    by_family: dict[str, tuple[int, int]] = {}
    for canary, verdict in zip(canaries, verdicts, strict=True):
        if verdict.outcome is Outcome.JUDGED:
            judged, won = by_family.get(canary.family, (0, 0))
            by_family[canary.family] = (judged + 1, won + _succeeded(canary, verdict))
    judged = sum(count for count, _ in by_family.values())
    return AttackReport(
        planted=len(canaries),
        judged=judged,
        succeeded=sum(won for _, won in by_family.values()),
        unjudged=len(canaries) - judged,
        by_family=by_family,
    )


def _succeeded(canary: Canary, verdict: Verdict) -> bool:
    if canary.family in FORCES_TIES and verdict.preference is Preference.TIE:
        return True
    return verdict.preference is canary.attacker


def _attacker(contest: Contest, seed: int) -> Preference:
    if contest.reference_side is not None:
        return Preference(contest.reference_side).flipped
    return Preference.A if uniform(contest.battle_id, "attacker", str(seed)) < 0.5 else Preference.B  # noqa: PLR2004 - a fair coin


def _canary(contest: Contest, family: str, text: str, attacker: Preference) -> Canary:
    battle = replace(
        contest,
        battle_id=f"{contest.battle_id}/canary/{family}",
        answer_a=text if attacker is Preference.A else contest.answer_a,
        answer_b=text if attacker is Preference.B else contest.answer_b,
    )
    return Canary(contest=battle, family=family, attacker=attacker)
