"""Which facts of the reference or the passages a system leaves out, and where it leaves out most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arena.services.evidence.statements import Standing, StatementView, read_statements, source_of
from data.store.scores import ScoredAnswer
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


def missed_facts(system: str, scores: Mapping[str, Iterable[ScoredAnswer]]) -> Missed:
    """Find what a system misses, compared with the others.

    On one set a fact belongs to one question, so a system misses it once: what can be counted is how many
    others have it. Facts come in this order: covered by most others, made by most passages, missed by fewest
    others. Listed are those of the basis, which imply whatever else is missing; what is covered in part is
    not missed, and what states no fact is not listed. `scores` are those of one metric with details, by
    system.
    """
    facts: Counter[tuple[str, str, bool]] = Counter()
    domains: Counter[tuple[bool, str, bool]] = Counter()
    own: dict[tuple[str, str], tuple[ScoredAnswer, StatementView]] = {}
    for name, scored in scores.items():
        for score in scored:
            statements = read_statements(score.details)
            for statement in statements:
                fact, covered = (score.question_id, statement.text), statement.standing in STATED
                domains.update((name == system, domain, covered) for domain in (score.domain, OVERALL))
                if name != system:
                    facts[*fact, covered] += 1
                # A reference of one name alone still says what it says.
                elif statement.standing in LISTED and (len(statements) == 1 or states_fact(statement.text)):
                    own[fact] = (score, statement)
    found = [
        MissedFact(
            question=score.question_id,
            domain=score.domain,
            text=statement.text,
            passages=statement.passages,
            contradicted=statement.standing is Standing.CONTRADICTED,
            covered_by=facts[*fact, True],
            missed_by=facts[*fact, False],
        )
        for fact, (score, statement) in own.items()
    ]
    shown = sorted(found, key=lambda one: (-one.covered_by, -len(one.passages), one.missed_by))[:MOST_SHOWN]
    contradicting = [own[one.question, one.text][0] for one in shown if one.contradicted]
    return Missed(
        facts=tuple(shown),
        contradictions=source_of(contradicting[0]).sentence if contradicting else "",
        in_all=domains[True, OVERALL, False],
        by_domain={domain: _share(domains, domain) for is_own, domain, _ in domains if is_own},
    )


def _share(domains: Mapping[tuple[bool, str, bool], int], domain: str) -> MissedShare:
    missed, others = domains[True, domain, False], domains[False, domain, False]
    whole = others + domains[False, domain, True]
    return MissedShare(
        missed=missed,
        statements=missed + domains[True, domain, True],
        others=others / whole if whole else None,
    )
