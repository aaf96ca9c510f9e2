"""Acts that nothing takes back: what each leads to, in the words of every page, command and API that asks."""

from __future__ import annotations

from enum import Enum

from data.errors import InputError


class Irreversible(Enum):
    """Acts that are done only when somebody confirms the sentence of their consequences."""

    CANCEL_ROUND = (
        "The round ends: its workers stop, and what they have not judged is skipped. What was judged and "
        "paid for stays; what was skipped can be judged later."
    )
    DELETE_ROUND = (
        "The round is deleted with its battles, judgments and costs, and nothing brings it back. "
        "Replies of models stay in the cache."
    )
    RETRACT_BOARD = (
        "The board is taken down for everybody: its addresses show the notice in its place, and the round "
        "cannot be published again."
    )
    WITHDRAW_SUBMISSION = (
        "Its texts, and what judges wrote of them, are shown to nobody any more; its name, dates and reason "
        "stay. Published boards keep their numbers. This cannot be undone."
    )
    CANCEL_JOB = (
        "The job ends and is not taken up again. Calls in flight finish, and the job's round is paused."
    )
    REMOVE_MEMBER = "The account sees and submits nothing of the team any more; what it submitted stays."
    REVOKE = (
        "Whoever uses the token is refused at once, and the sessions that it opened end. It never becomes "
        "valid again."
    )
    DROP_PHASE = "The phase is removed with its dates and limits; submissions to it stay."
    FREEZE_SET = "The set takes no more submissions, from now on."

    @property
    def consequences(self) -> str:
        """What it leads to, in a sentence or more."""
        return self.value

    def require(self, *, confirmed: bool) -> None:
        """Refuse the act unless somebody confirmed it.

        Raises:
            InputError: Nobody did.
        """
        if not confirmed:
            raise InputError(
                f"This asks for a confirmation. {self.consequences}",
                advice="Send it again with confirm=true.",
            )
