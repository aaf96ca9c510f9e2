"""What somebody sees of one round: its battles, answers, scores and questions, by the one rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from arena.services.identity import Caller
from arena.services.masks import masked, masked_evidence, masked_question, sight_of
from arena.services.visibility import Kind, Sight, Thing, sight
from data.errors import NotFoundError
from data.records import (
    BattleEvidence,
    CanaryRecord,
    Question,
    Round,
    RoundState,
    Submission,
    SubmissionState,
)
from data.store import Store
from data.store.scores import ScoredAnswer


class RoundSight:
    """One round through somebody's eyes; states and rights are those of this moment.

    Args:
        store: Where everything is kept.
        caller: Who asks.
        found: The round.

    Raises:
        NotFoundError: The round is not for the caller; the same as where there is none.
    """

    def __init__(self, store: Store, caller: Caller, found: Round) -> None:
        self._store = store
        self._caller = caller
        self._found = found
        retracted = found.state is RoundState.RETRACTED
        self._published = not retracted and any(
            one.published for one in store.lives.rounds_of(found.set_name) if one.id == found.id
        )
        seen = sight(caller, Thing(kind=Kind.BATTLE, published=self._published, retracted=retracted))
        if seen is not Sight.FULL:
            raise NotFoundError(
                f"There is no round {found.name!r}.", advice="`arena rounds list` names them."
            )
        self._hidden = store.policies.get(found.set_name).hidden_references
        entered = found.plan["systems"]
        self.entrants = {
            one.system: one
            for one in store.submissions.find(set_name=found.set_name)
            if entered.get(one.system) == one.version
        }
        self._withdrawn = {
            name for name, one in self.entrants.items() if one.state is SubmissionState.WITHDRAWN
        }

    def question(self, question: Question) -> Question:
        """A question without what is hidden of it."""
        return masked_question(self._caller, question, hidden=self._hidden)

    def submission(self, system: str) -> Submission | None:
        """The submission of a system in the round; None for the reference."""
        one = self.entrants.get(system)
        if one is None:
            return None
        places = self._store.submissions.places(self._found.set_name)
        seen = masked(self._caller, one, published=self._published, places=places)
        return None if seen is None else seen[0]

    def answers_of(self, system: str, question: Question | None = None) -> bool:
        """Whether the texts of a system's answers are seen, the reference's to one question included."""
        one = self.entrants.get(system)
        if one is not None:
            return sight_of(self._caller, one, published=self._published, kind=Kind.ANSWERS) is Sight.FULL
        if question is None:
            return not self.hides_references
        return masked_question(self._caller, question, hidden=self._hidden) == question

    @property
    def hides_references(self) -> bool:
        """Whether references of the set, and what quotes them, are kept from the caller."""
        return sight(self._caller, Thing(kind=Kind.REFERENCE, hidden=self._hidden)) is not Sight.FULL

    def evidence(self, evidence: BattleEvidence) -> BattleEvidence:
        """A battle whose judgments lose what quotes texts that are not seen."""
        sides = {evidence.battle.system_a, evidence.battle.system_b}
        return masked_evidence(
            self._caller,
            evidence,
            withdrawn=bool(sides & self._withdrawn),
            hidden=self._hidden,
            published=self._published,
        )

    def canaries(self, found: Iterable[CanaryRecord]) -> Iterator[CanaryRecord]:
        """Attacks, which are made of answers, without their words where some of the round are not seen."""
        thing = Thing(
            kind=Kind.RATIONALE,
            published=self._published,
            withdrawn=bool(self._withdrawn),
            hidden=self._hidden,
        )
        if sight(self._caller, thing) is Sight.FULL:
            yield from found
            return
        for one in found:
            yield replace(one, text="", judgments=())

    def score(self, score: ScoredAnswer) -> ScoredAnswer:
        """A score without its details where these quote texts that are not seen."""
        if self.answers_of(score.system) and not self.hides_references:
            return score
        return replace(score, details={})
