"""Concerns before the organisers: what waits, what they decide, and disputes of judgments."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.services.accounts.auth import PUBLIC, Caller, require
from arena.services.boards.marks import withdrawn_marks
from arena.services.rounds.visibility import RoundAccess
from arena.services.submissions.service import SubmissionService
from data.errors import ConflictError, InputError, NotFoundError
from data.plural import are, counted
from data.records import (
    Action,
    BattleEvidence,
    Outcome,
    Preference,
    Presentation,
    SubmissionState,
    TokenScope,
    Verdict,
)
from data.records.concerns import CORRECTION, Concern, ConcernKind, Decision, NewConcern
from data.records.notifications import EventKind, NewEvent
from data.store import Store

LONGEST_REASON = 1000
SHORTEST_REASON = 10
AN_HOUR = timedelta(hours=1)
MOST_OF_ONE = 5
"""Disputes of one reader within an hour."""
MOST_OF_ALL = 200
"""Disputes of everyone within an hour; a reader may come under many names."""
TOLD = {
    Decision.ASKED: EventKind.SUBMISSION_QUESTIONED,
    Decision.DISQUALIFIED: EventKind.SUBMISSION_DISQUALIFIED,
}
"""Decisions of which a team gets an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What a reader says: which judgment of which battle, and what is wrong with it.

    `session` distinguishes readers without an account; only its hash is stored.
    """

    round_name: str
    question_id: str
    battle: str
    judge: str
    presentation: Presentation
    reason: str
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A disputed judgment with the battle that it decided."""

    concern: Concern
    battle: BattleEvidence

    def as_json(self) -> dict[str, Any]:
        """The object that `arena rounds reports --json` prints for each."""
        battle, concern = self.battle.battle, self.concern
        return {
            "id": concern.id,
            "battle": battle.key,
            "question_id": battle.question_id,
            "system_a": battle.system_a,
            "system_b": battle.system_b,
            "judge": concern.judge,
            "presentation": None if concern.presentation is None else concern.presentation.value,
            "reason": concern.text,
            "reported_at": concern.created_at.isoformat(),
            "by": concern.raised_by,
            "decision": concern.decision.value,
            "answer": concern.reason,
            "decided_by": concern.decided_by,
        }


class ConcernService:
    """Use cases around what needs an organiser."""

    def __init__(self, store: Store, submissions: SubmissionService) -> None:
        self._store = store
        self._submissions = submissions

    def waiting(self, *, caller: Caller) -> tuple[Concern, ...]:
        """What waits for a decision, the oldest first; files that were only checked are left out.

        Raises:
            AccessError, ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        return tuple(one for one in self._store.concerns.waiting() if self._counts(one))

    def of_team(self, team: str, *, caller: Caller) -> tuple[Concern, ...]:
        """What organisers asked a team, and which of its submissions they excluded or disqualified.

        Raises:
            AccessError, ForbiddenError: They do not belong to the team.
        """
        require(caller, TokenScope.READ, team=team)
        theirs = [row.id for row in self._store.submissions.find(team=team, kind=None)]
        shown = (Decision.ASKED, Decision.EXCLUDED, Decision.DISQUALIFIED)
        found = self._store.concerns.of(submissions_of=theirs) if theirs else ()
        return tuple(one for one in found if one.decision in shown)

    def mine(self, *, caller: Caller) -> tuple[Concern, ...]:
        """The judgments that the caller disputed, with what became of them, the newest first.

        Raises:
            AccessError: Nobody is signed in.
        """
        require(caller, TokenScope.READ)
        return self._store.concerns.of(kind=ConcernKind.DISPUTE, raised_by=caller.called)

    def disputes(self, round_name: str, *, caller: Caller) -> tuple[Dispute, ...]:
        """The disputed judgments of a round with their battles, the newest first.

        Raises:
            AccessError, ForbiddenError: Only organisers may.
            NotFoundError: There is no such round.
        """
        require(caller, TokenScope.ORGANISE)
        self._store.rounds.get(round_name)
        found = self._store.concerns.of(kind=ConcernKind.DISPUTE, round_name=round_name)
        battles = {
            one.battle.id: one
            for one in self._store.verdicts.of_battles([concern.battle_id for concern in found])
        }
        return tuple(Dispute(concern=one, battle=battles[one.battle_id]) for one in found if one.battle_id)

    def under_review(self, round_name: str) -> int:
        """How many judgments of a round are disputed and not decided; public, as its board is."""
        found = self._store.concerns.of(kind=ConcernKind.DISPUTE, round_name=round_name)
        return len({one.battle_id for one in found if one.waits})

    def notices(self, round_name: str) -> tuple[str, ...]:
        """What readers of a board must know, in sentences: verdicts under review, withdrawn systems."""
        disputed = self.under_review(round_name)
        marks = withdrawn_marks(self._store, round_name)
        verdicts = f"{counted(disputed, 'verdict')} {are(disputed)} under review."
        return (
            *([verdicts] if disputed else []),
            *(f"{name} was {mark.rstrip('.')}." for name, mark in marks.items()),
        )

    def dispute(self, complaint: Complaint, *, caller: Caller = PUBLIC) -> Concern:
        """Dispute a judgment; the same reader disputes one only once, and gets what they said before.

        Raises:
            InputError: The reason is too short or too long.
            NotFoundError: The round is not public, or the battle has no such judgment.
            ConflictError: Too many disputes within an hour.
        """
        battle = self._battle(complaint)
        reporter = hashlib.sha256((caller.called or complaint.session).encode()).hexdigest()
        reading = f"{battle.battle.id} {complaint.judge} {complaint.presentation}"
        key = f"{ConcernKind.DISPUTE} {reporter} {reading}"
        earlier = self._earlier(complaint.round_name, key)
        if earlier is not None:
            return earlier
        reason = complaint.reason.strip()
        if not SHORTEST_REASON <= len(reason) <= LONGEST_REASON:
            raise InputError(
                f"The reason has {len(reason)} characters.",
                advice=f"Say in {SHORTEST_REASON} to {LONGEST_REASON} characters what is wrong.",
            )
        self._require_few(reporter)
        pair = f"{battle.battle.system_a} – {battle.battle.system_b}"
        new = NewConcern(
            kind=ConcernKind.DISPUTE,
            key=key,
            text=reason,
            evidence=(f"Question {complaint.question_id}: {pair}.",),
            round_id=self._store.rounds.get(complaint.round_name).id,
            battle_id=battle.battle.id,
            judge=complaint.judge,
            presentation=complaint.presentation,
            raised_by=caller.called,
            reporter=reporter,
        )
        with self._store.audit.audited():
            number = self._store.concerns.add(new)
            if number is not None:
                self._store.outbox.record(NewEvent.of_concern(number, new))
        found = self._earlier(complaint.round_name, key)
        if found is None:
            raise ConflictError("The report was not stored.", advice="Send it again.")
        return found

    def decide(
        self,
        number: int,
        decision: Decision,
        *,
        reason: str = "",
        verdict: Preference | None = None,
        caller: Caller,
    ) -> Concern:
        """Decide a concern that waits: once, with who and when.

        To ask leaves it waiting. A disqualified submission is withdrawn with the reason, and an excluded one
        enters no further round; the team gets an event. A corrected verdict is a new reading of the battle
        by the organisers; a published board has it once it is published again.

        Args:
            number: The concern.
            decision: One of its `choices`.
            reason: Why; needed for everything but to accept and dismiss.
            verdict: What the battle's verdict is now, where it is corrected.
            caller: Who decides.

        Raises:
            ForbiddenError: Only organisers may.
            NotFoundError: There is no such concern.
            InputError: It cannot be decided so, or a reason or the verdict is missing.
            ConflictError: Somebody decided it before.
        """
        require(caller, TokenScope.ORGANISE)
        concern = self._store.concerns.get(number)
        _require_choice(concern, decision, reason.strip(), verdict)
        with self._store.audit.audited() as notes:
            if not self._store.concerns.decide(number, decision, reason=reason.strip(), by=caller.name):
                before = self._store.concerns.get(number)
                raise ConflictError(
                    f"{before.decided_by} decided concern {number} before: {before.decision}.",
                    advice="Look at it again.",
                )
            notes.take(
                caller.note(
                    Action.CONCERN_DECIDED,
                    f"concern {number}",
                    team=concern.team,
                    decision=decision.value,
                    reason=reason.strip(),
                )
            )
            if decision is Decision.DISQUALIFIED and concern.submission_id is not None:
                self._disqualify(concern.submission_id, reason.strip(), caller)
            elif decision in TOLD and concern.submission_id is not None:
                submission = self._store.submissions.get(concern.submission_id)
                event = NewEvent.of_submission(TOLD[decision], submission, reason=reason.strip())
                self._store.outbox.record(event)
            if decision is Decision.CORRECTED and verdict is not None:
                self._correct(concern, verdict, reason.strip())
        return self._store.concerns.get(number)

    def _disqualify(self, number: int, reason: str, caller: Caller) -> None:
        submission = self._store.submissions.get(number)
        if submission.state is not SubmissionState.WITHDRAWN:
            submission = self._submissions.withdraw(number, reason=reason, announced=False, caller=caller)
        self._store.outbox.record(
            NewEvent.of_submission(EventKind.SUBMISSION_DISQUALIFIED, submission, reason=reason)
        )

    def _correct(self, concern: Concern, verdict: Preference, reason: str) -> None:
        (found,) = self._store.verdicts.of_battles([concern.battle_id])
        corrected = Verdict(
            outcome=Outcome.JUDGED,
            preference=verdict,
            judgments=(),
            detail=f"{CORRECTION}{reason}",
        )
        self._store.verdicts.revise([(found.battle.id, found.judgments, corrected)])

    def _battle(self, complaint: Complaint) -> BattleEvidence:
        RoundAccess(self._store, PUBLIC, self._store.rounds.get(complaint.round_name))
        for shown in self._store.verdicts.of_question(complaint.round_name, complaint.question_id):
            if shown.battle.key == complaint.battle and any(
                (judgment.judge, judgment.presentation) == (complaint.judge, complaint.presentation)
                for judgment in shown.judgments
            ):
                return shown
        raise NotFoundError("There is no such judgment.", advice="Report it on its question's page.")

    def _earlier(self, round_name: str, key: str) -> Concern | None:
        found = self._store.concerns.of(kind=ConcernKind.DISPUTE, round_name=round_name)
        return next((one for one in found if one.key == key), None)

    def _require_few(self, reporter: str) -> None:
        since = datetime.now(UTC) - AN_HOUR
        if self._store.concerns.count_since(since, reporter=reporter) >= MOST_OF_ONE:
            raise ConflictError(
                f"{MOST_OF_ONE} reports came from you within an hour.", advice="Go on in an hour."
            )
        if self._store.concerns.count_since(since) >= MOST_OF_ALL:
            raise ConflictError("Too many reports came within an hour.", advice="Try again in an hour.")

    def _counts(self, concern: Concern) -> bool:
        if concern.submission_id is None:
            return True
        return self._store.submissions.get(concern.submission_id).state is not SubmissionState.CHECKED


def _require_choice(concern: Concern, decision: Decision, reason: str, verdict: Preference | None) -> None:
    if decision not in concern.choices:
        raise InputError(
            f"Concern {concern.id} cannot be {decision}.", advice=f"Choose of {', '.join(concern.choices)}."
        )
    if not reason and decision not in {Decision.ACCEPTED, Decision.DISMISSED}:
        raise InputError("The reason is missing.", advice="Say why; who it is about reads it.")
    if len(reason) > LONGEST_REASON or not reason.replace("\n", " ").isprintable():
        raise InputError(
            "The reason cannot be used.", advice=f"Use at most {LONGEST_REASON} printable characters."
        )
    if (verdict is None) == (decision is Decision.CORRECTED):
        raise InputError(
            "A corrected verdict, and no other decision, names the verdict.", advice="Give a, b or tie."
        )
