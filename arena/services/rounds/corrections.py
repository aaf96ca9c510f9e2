"""Verdicts corrected by organisers."""

from __future__ import annotations

from arena.services.accounts.auth import Caller, require
from data.errors import InputError, NotFoundError
from data.models import BattleEvidence, Outcome, Preference, TokenScope, Verdict
from data.models.judgments import CORRECTION
from data.store import Store

MAX_REASON = 1_000
TIE = "tie"


class CorrectionService:
    """Correct verdicts; a published board has them once it is published again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def correct(
        self,
        round_name: str,
        question_id: str,
        systems: tuple[str, str],
        *,
        winner: str,
        reason: str,
        caller: Caller,
    ) -> BattleEvidence:
        """Give the battle of two systems on a question another verdict; `winner` is one of them or `tie`.

        Raises:
            ForbiddenError: Only organisers may.
            NotFoundError: The round has no such battle.
            InputError: The winner is neither system nor `tie`, or the reason cannot be used.
        """
        require(caller, TokenScope.ORGANISE)
        reason = reason.strip()
        if not reason or len(reason) > MAX_REASON or not reason.isprintable():
            raise InputError(
                "The reason cannot be used.", advice=f"Give 1 to {MAX_REASON} printable characters."
            )
        self._store.rounds.get(round_name)
        for evidence in self._store.verdicts.of_question(round_name, question_id):
            battle = evidence.battle
            if {battle.system_a, battle.system_b} == {*systems}:
                break
        else:
            raise NotFoundError(f"{round_name} has no battle of {' and '.join(systems)} on {question_id}.")
        winners = {
            battle.system_a: Preference.A,
            battle.system_b: Preference.B,
            TIE: Preference.TIE,
        }
        if winner not in winners:
            raise InputError(f"{winner} is not in the battle.", advice=f"Choose of {', '.join(winners)}.")
        verdict = Verdict(outcome=Outcome.JUDGED, preference=winners[winner], detail=f"{CORRECTION}{reason}")
        with self._store.changing():
            self._store.verdicts.revise([(battle.id, evidence.judgments, verdict)])
            subject = f"battle {battle.key} of {round_name}"
        caller.log("verdict-corrected", subject, winner=winner, reason=reason)
        (corrected,) = self._store.verdicts.of_battles([battle.id])
        return corrected
