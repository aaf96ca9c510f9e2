"""Which facts of the reference or the passages a system leaves out, and where it leaves out most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arena.services.evidence.claims import source_of
from arena.services.evidence.coverage import Standing, StatementView, read_statements
from data.store.boards.scores import ScoredAnswer
from judges.metrics.reference.facts import states_fact

MOST_SHOWN = 12
OVERALL = "overall"
LISTED = frozenset({Standing.BASIS, Standing.CONTRADICTED})
STATED = frozenset({Standing.COVERED, Standing.PARTLY})


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedFact:
    """A fact of the reference, or a statement of the passages, that the system's answer misses.

    It is contradicted where the answer says something else instead; `covered_by` other answers to the
    question make the statement, `missed_by` do not.
    """

    question: str
    domain: str
    text: str
    passages: tuple[str, ...]
    contradicted: bool
    covered_by: int
    missed_by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedShare:
    """How many of the statements of a domain's passages a system misses.

    `statements` are those over its scored answers; `others` is the share, 0–1, that the other systems miss,
    all their answers together, None without any.
    """

    missed: int
    statements: int
    others: float | None

    @property
    def share(self) -> float | None:
        """The share that is missed, 0–1; None where there are no statements."""
        return self.missed / self.statements if self.statements else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """What a system misses.

    `facts` are what it would have to add, those that most others have first; `in_all` counts statements that
    follow from others too. Where one of the facts is contradicted, `contradictions` says who told so, and how
    often that scorer is right. `of_reference` tells facts of the references from statements of passages.
    """

    facts: tuple[MissedFact, ...] = ()
    in_all: int = 0
    by_domain: Mapping[str, MissedShare] = field(default_factory=dict)
    contradictions: str = ""
    of_reference: bool = False


@dataclass(slots=True)
class _Count:
    """Answers that cover and that miss something."""

    covered: Counter[tuple[str, ...]] = field(default_factory=Counter)
    missed: Counter[tuple[str, ...]] = field(default_factory=Counter)


def missed_facts(system: str, scores: Mapping[str, Iterable[ScoredAnswer]]) -> Missed:
    """Find what a system misses, compared with the others.

    On one set a fact belongs to one question, so a system misses it once: what can be counted is how many
    others have it. Facts come in this order: covered by most others, made by most passages, missed by fewest
    others. Listed are those of the basis, which imply whatever else is missing; what is covered in part is
    not missed, and what states no fact is not listed. `scores` are those of one metric with details, by
    system.
    """
    facts, domains, others = _Count(), _Count(), _Count()
    own: dict[tuple[str, ...], tuple[ScoredAnswer, StatementView]] = {}
    for name, scored in scores.items():
        for score in scored:
            statements = read_statements(score.details)
            for statement in statements:
                fact = (score.question_id, statement.text)
                covered = statement.standing in STATED
                if name == system:
                    _add(domains, (score.domain,), covered=covered)
                    _add(domains, (OVERALL,), covered=covered)
                    # A reference of one name alone still says what it says.
                    stated = len(statements) == 1 or states_fact(statement.text)
                    if statement.standing in LISTED and stated:
                        own[fact] = (score, statement)
                else:
                    _add(facts, fact, covered=covered)
                    _add(others, (score.domain,), covered=covered)
                    _add(others, (OVERALL,), covered=covered)
    ranked = sorted(
        own, key=lambda fact: (-facts.covered[fact], -len(own[fact][1].passages), facts.missed[fact])
    )
    shown = ranked[:MOST_SHOWN]
    contradicting = [own[fact][0] for fact in shown if own[fact][1].standing is Standing.CONTRADICTED]
    return Missed(
        facts=tuple(_fact(*own[fact], facts, fact) for fact in shown),
        contradictions=source_of(contradicting[0]).sentence if contradicting else "",
        in_all=domains.missed[(OVERALL,)],
        by_domain={
            domain: MissedShare(
                missed=domains.missed[(domain,)],
                statements=domains.missed[(domain,)] + domains.covered[(domain,)],
                others=_share(others, (domain,)),
            )
            for (domain,) in {**domains.covered, **domains.missed}
        },
    )


def _add(count: _Count, key: tuple[str, ...], *, covered: bool) -> None:
    (count.covered if covered else count.missed)[key] += 1


def _share(count: _Count, key: tuple[str, ...]) -> float | None:
    whole = count.covered[key] + count.missed[key]
    return count.missed[key] / whole if whole else None


def _fact(score: ScoredAnswer, statement: StatementView, facts: _Count, key: tuple[str, ...]) -> MissedFact:
    return MissedFact(
        question=score.question_id,
        domain=score.domain,
        text=statement.text,
        passages=statement.passages,
        contradicted=statement.standing is Standing.CONTRADICTED,
        covered_by=facts.covered[key],
        missed_by=facts.missed[key],
    )
