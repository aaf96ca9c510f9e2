"""Visibility of rounds: progress, battles, answers and questions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, require
from arena.services.accounts.redaction import (
    hide_addresses,
    redacted,
    submission_visibility,
    without_addresses,
    without_words,
)
from arena.services.accounts.set_access import SetAccess
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from arena.services.rounds.models import entrants_of
from data import models
from data.errors import InputError, NotFoundError, RetractedError
from data.store import Store

if TYPE_CHECKING:
    # Lists of rounds do not need these slow imports.
    from arena.services.rounds.battle_table import LiveStanding
    from data.models.conduct import JudgeConduct
    from data.store.scores import ScoredAnswer
    from leaderboard.agreement.comparison import RankingComparison


class RoundAccess:
    """Access of a caller to a round and the texts of its set, with current states and rights."""

    def __init__(self, store: Store, caller: Caller, round_: models.Round) -> None:
        self._store = store
        self._caller = caller
        self._round = round_
        retracted = round_.state is models.RoundState.RETRACTED
        round_of_set = store.statuses.round_of(round_.id)
        self._published = not retracted and round_of_set is not None and round_of_set.published
        seen = visibility_of(
            caller, Resource(kind=Kind.BATTLE, published=self._published, retracted=retracted)
        )
        if seen is not Visibility.FULL and retracted:
            raise RetractedError(round_.name, "" if round_of_set is None else round_of_set.notice)
        if seen is not Visibility.FULL:
            raise NotFoundError(f"There is no round {round_.name!r}.", advice="See `arena rounds list`.")
        self.texts = SetAccess(store, caller, round_.set_name)

    @cached_property
    def entrants(self) -> Mapping[str, models.Submission]:
        """Submissions of the round by system, without the reference."""
        return {entrant.system: entrant for entrant in entrants_of(self._store, self._round)}

    @cached_property
    def _withdrawn(self) -> frozenset[str]:
        return frozenset(
            name
            for name, entrant in self.entrants.items()
            if entrant.state is models.SubmissionState.WITHDRAWN
        )

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return self._store.submissions.places(self._round.set_name)

    def question(self, question: models.Question) -> models.Question:
        """Return a question as the caller may see it."""
        return self.texts.question(question)

    def submission(self, system: str) -> models.Submission | None:
        """Return the submission of a system in the round; None for the reference."""
        submission = self.entrants.get(system)
        if submission is None:
            return None
        seen = redacted(self._caller, submission, published=self._published, places=self._places)
        return None if seen is None else seen[0]

    def answers_of(self, system: str, question: models.Question | None = None) -> bool:
        """Return whether the caller sees a system's answers, or the reference's answer to a question."""
        submission = self.entrants.get(system)
        if submission is not None:
            return self.texts.answers(submission, published=self._published) is Visibility.FULL
        if question is None:
            return not self.hides_references
        return self.texts.question(question) == question

    def scores_of(self, system: str) -> bool:
        """Return whether the caller sees figures on a system's answers, even without the texts."""
        submission = self.entrants.get(system)
        if submission is None:
            return not self.texts.hidden or self.answers_of(system)
        seen = submission_visibility(self._caller, submission, published=self._published, kind=Kind.ANSWERS)
        return seen is Visibility.FULL

    @property
    def hides_references(self) -> bool:
        """True if the set's references are hidden from the caller."""
        return self.texts.hides_references

    def evidence(self, evidence: models.BattleEvidence) -> models.BattleEvidence:
        """Return a battle without quotations from texts that the caller may not see."""
        sides = {evidence.battle.system_a, evidence.battle.system_b}
        evidence = without_addresses(evidence)
        return (
            evidence if self._sees_words[not sides.isdisjoint(self._withdrawn)] else without_words(evidence)
        )

    @cached_property
    def _sees_words(self) -> tuple[bool, bool]:
        """Visibility of rationales, for battles without and with a withdrawn side."""
        resource = Resource(
            kind=Kind.RATIONALE,
            hidden=self.texts.hidden,
            published=self._published,
            private=self.texts.private,
        )
        without, having = (
            visibility_of(self._caller, replace(resource, withdrawn=withdrawn)) is Visibility.FULL
            for withdrawn in (False, True)
        )
        return without, having

    def score(self, score: "ScoredAnswer") -> "ScoredAnswer":
        """Return a score, without details that quote hidden texts."""
        if self.answers_of(score.system) and not self.hides_references:
            return score
        return replace(score, details={})


class RoundReader:
    """Reader of rounds, their progress and battles."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rounds(self, *, caller: Caller = OPERATOR) -> tuple[models.Round, ...]:
        """Return all rounds that the caller may see, newest first."""
        return tuple(round_ for round_ in self._store.rounds.all() if self._sees(caller, round_))

    def get(self, name: str, *, caller: Caller = OPERATOR) -> models.Round:
        """Return a round without counting its battles, which is slow."""
        round_ = self._store.rounds.get(name)
        RoundAccess(self._store, caller, round_)
        return round_

    def status(self, name: str, *, caller: Caller = OPERATOR) -> tuple[models.Round, models.RoundCounts]:
        """Return a round and its counts."""
        return self.get(name, caller=caller), self._store.rounds.counts(name)

    def live(self, name: str, *, caller: Caller = OPERATOR) -> "LiveStanding":
        """Return the live standings of a round."""
        from arena.services.rounds.battle_table import live_standing

        return live_standing(self._store, self.get(name, caller=caller))

    def conduct(self, name: str) -> "JudgeConduct":
        """Return the conduct of the models behind a round's judge."""
        return self._store.conduct.of_round(name)

    def reasons(self, name: str, *, caller: Caller = OPERATOR) -> tuple[tuple[models.Outcome, str, int], ...]:
        """Return the reasons for missing verdicts: outcome, reason and count, most frequent first."""
        return self._store.conduct.reasons(self.get(name, caller=caller).name)

    def warnings(self, name: str) -> tuple[str, ...]:
        """Return warnings on a round's judge."""
        from arena.services.rounds.models import former_sentences

        return (*self.conduct(name).sentences(), *former_sentences(self._store.rounds.get(name)))

    def replies(
        self, name: str, *, unreadable: bool
    ) -> Iterator[tuple[models.BattleEvidence, models.Question]]:
        """Yield the battles that an LLM judged, with questions and raw replies."""
        round_ = self._store.rounds.get(name)
        questions: dict[str, models.Question] = {}
        for evidence in self._store.verdicts.evidence(name):
            matching = tuple(
                judgment
                for judgment in evidence.judgments
                if (judgment.reply is not None or judgment.calls)
                and (not unreadable or judgment.outcome is models.Outcome.UNREADABLE)
            )
            if not matching:
                continue
            key = evidence.battle.question_id
            if key not in questions:
                questions = {key: self._store.sets.question(round_.set_name, key)}
            yield replace(evidence, judgments=matching), questions[key]

    def battles(self, name: str, *, caller: Caller = OPERATOR) -> Iterator[models.BattleRecord]:
        """Yield the battles of a round in a fixed order."""
        self.get(name, caller=caller)
        return self._store.verdicts.battles(name)

    def page(
        self,
        round_name: str,
        *,
        after: int,
        limit: int,
        outcome: models.Outcome | None = None,
        caller: Caller = PUBLIC,
    ) -> tuple[models.BattleRecord, ...]:
        """Return up to `limit` battles after number `after`, without texts, optionally of one outcome."""
        self.get(round_name, caller=caller)
        page = self._store.verdicts.page(round_name, after=after, limit=limit, outcome=outcome)
        return tuple(replace(battle, detail=hide_addresses(battle.detail)) for battle in page)

    def without_verdict(
        self, name: str, outcome: models.Outcome, *, limit: int, caller: Caller
    ) -> tuple[models.BattleEvidence, ...]:
        """Return battles that ended with an outcome, with their replies and without hidden texts."""
        require(caller, models.TokenScope.ORGANISE)
        access = RoundAccess(self._store, caller, self._store.rounds.get(name))
        page = self._store.verdicts.page(name, after=0, limit=limit, outcome=outcome)
        return tuple(map(access.evidence, self._store.verdicts.of_battles([battle.id for battle in page])))

    def compare(
        self, names: Sequence[str], *, caller: Caller = OPERATOR
    ) -> "tuple[RankingComparison, tuple[str, ...]]":
        """Compare rounds of a set by verdicts on the same battles, and name systems left out."""
        from arena.services.rounds.battle_table import table_of_columns
        from leaderboard.agreement.comparison import compare_rankings
        from leaderboard.battles import in_common
        from leaderboard.standings.build import without_systems

        if len(set(names)) < max(len(names), 2):
            raise InputError(
                "A comparison needs two different rounds.",
                advice="Choose at least two rounds, each only once.",
            )
        rounds = [self.get(name, caller=caller) for name in names]
        if len({round_.plan["set_hash"] for round_ in rounds}) > 1:
            raise InputError("The rounds have different question sets.", advice="Choose rounds of one set.")
        systems = {item for round_ in rounds for item in dict(round_.plan["systems"]).items()}
        counts = Counter(system for system, _ in systems)
        changed = sorted(system for system, count in counts.items() if count > 1)
        columns = {name: table_of_columns(self._store.verdicts.columns(name)) for name in names}
        tables = in_common({name: without_systems(table, {*changed}) for name, table in columns.items()})
        if not len(tables[names[0]]):
            raise InputError("The rounds share no decided battle.", advice="Compare rounds of the same plan.")
        notes = (
            (f"left out, since the rounds judged other versions: {', '.join(changed)}",) if changed else ()
        )
        return compare_rankings(list(tables.values()), seed=rounds[0].seed), notes

    def _sees(self, caller: Caller, round_: models.Round) -> bool:
        try:
            RoundAccess(self._store, caller, round_)
        except NotFoundError:
            return False
        return True
