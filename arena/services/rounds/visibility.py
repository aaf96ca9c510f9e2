"""What somebody sees of one round: its battles, answers, scores and questions, by the one rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import (
    masked_evidence,
    redacted,
    redacted_question,
    submission_visibility,
)
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from arena.services.rounds.models import entrants_of
from data.errors import NotFoundError, RetractedError
from data.records import (
    BattleEvidence,
    BattleRecord,
    CanaryRecord,
    Question,
    Round,
    RoundState,
    Submission,
    SubmissionState,
)
from data.store import Store
from data.store.boards.scores import ScoredAnswer


class RoundAccess:
    """What one caller may see of a round; states and rights are those of now.

    Raises:
        NotFoundError: The round is not for the caller; the same as where there is none.
        RetractedError: Its board was retracted, and the caller is no organiser.
    """

    def __init__(self, store: Store, caller: Caller, round_: Round) -> None:
        self._store = store
        self._caller = caller
        self._round = round_
        retracted = round_.state is RoundState.RETRACTED
        round_of_set = next(
            (
                candidate
                for candidate in store.statuses.rounds_of(round_.set_name)
                if candidate.id == round_.id
            ),
            None,
        )
        self._published = not retracted and round_of_set is not None and round_of_set.published
        seen = visibility_of(
            caller, Resource(kind=Kind.BATTLE, published=self._published, retracted=retracted)
        )
        if seen is not Visibility.FULL and retracted:
            raise RetractedError(round_.name, "" if round_of_set is None else round_of_set.notice)
        if seen is not Visibility.FULL:
            raise NotFoundError(
                f"There is no round {round_.name!r}.", advice="`arena rounds list` names them."
            )
        self._hidden = store.policies.get(round_.set_name).hidden_references
        self.entrants = {entrant.system: entrant for entrant in entrants_of(store, round_)}
        self._withdrawn = {
            name for name, entrant in self.entrants.items() if entrant.state is SubmissionState.WITHDRAWN
        }

    def question(self, question: Question) -> Question:
        """A question without what is hidden of it."""
        return redacted_question(self._caller, question, hidden=self._hidden)

    def submission(self, system: str) -> Submission | None:
        """The submission of a system in the round; None for the reference."""
        submission = self.entrants.get(system)
        if submission is None:
            return None
        places = self._store.submissions.places(self._round.set_name)
        seen = redacted(self._caller, submission, published=self._published, places=places)
        return None if seen is None else seen[0]

    def answers_of(self, system: str, question: Question | None = None) -> bool:
        """Whether the texts of a system's answers are seen, the reference's to one question included."""
        submission = self.entrants.get(system)
        if submission is not None:
            return (
                submission_visibility(self._caller, submission, published=self._published, kind=Kind.ANSWERS)
                is Visibility.FULL
            )
        if question is None:
            return not self.hides_references
        return redacted_question(self._caller, question, hidden=self._hidden) == question

    @property
    def hides_references(self) -> bool:
        """Whether references of the set, and what quotes them, are hidden from the caller."""
        return (
            visibility_of(self._caller, Resource(kind=Kind.REFERENCE, hidden=self._hidden))
            is not Visibility.FULL
        )

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

    def canaries(self, records: Iterable[CanaryRecord]) -> Iterator[CanaryRecord]:
        """Attacks, which are made of answers, without their words where some of the round are not seen."""
        resource = Resource(
            kind=Kind.RATIONALE,
            published=self._published,
            withdrawn=bool(self._withdrawn),
            hidden=self._hidden,
        )
        if visibility_of(self._caller, resource) is Visibility.FULL:
            yield from records
            return
        for canary in records:
            yield replace(canary, text="", judgments=())

    def score(self, score: ScoredAnswer) -> ScoredAnswer:
        """A score without its details where these quote texts that are not seen."""
        if self.answers_of(score.system) and not self.hides_references:
            return score
        return replace(score, details={})


class BattlePages:
    """Reads pages of battles."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def page(
        self, round_name: str, *, after: int, limit: int, caller: Caller = PUBLIC
    ) -> tuple[BattleRecord, ...]:
        """Up to `limit` battles of a round, from the one after number `after` on, without texts.

        Raises:
            NotFoundError: There is no such round, or its battles are not for the caller.
            RetractedError: Its board was retracted, and the caller is no organiser.
        """
        state = self._store.rounds.get(round_name).state
        published, retracted = state is RoundState.PUBLISHED, state is RoundState.RETRACTED
        seen = visibility_of(caller, Resource(kind=Kind.BATTLE, published=published, retracted=retracted))
        if seen is not Visibility.FULL and retracted:
            raise RetractedError(round_name, self._store.boards.get(round_name).notice)
        if seen is not Visibility.FULL:
            raise NotFoundError(
                f"The battles of round {round_name} are not public.", advice="They are while it is published."
            )
        return self._store.verdicts.page(round_name, after=after, limit=limit)
