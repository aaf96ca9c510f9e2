"""How judges conduct themselves, counted in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import func, select

from data.models import Outcome, Preference, Presentation
from data.models.judgments import JudgeConduct
from data.models.rounds import battles, rounds
from data.models.tables import judgments, replies
from data.store.base import StorePart


class ConductStore(StorePart):
    """Counts what the models behind a round's judge said."""

    def of_round(self, name: str) -> JudgeConduct:
        """The conduct of a round's judge: its battles."""
        mine = rounds.c.name == name
        # What was unreadable at first and asked again since is not counted.
        stands = (judgments.c.outcome == Outcome.JUDGED) | (
            func.coalesce(battles.c.outcome, Outcome.FAILED) != Outcome.JUDGED
        )
        asked = (judgments.c.calls > 0) | judgments.c.reply_key.is_not(None)
        joined = judgments.join(battles, battles.c.id == judgments.c.battle_id).join(
            rounds, rounds.c.id == battles.c.round_id
        )
        by_outcome = (
            select(judgments.c.outcome, func.count(), func.count(judgments.c.reply_key))
            .select_from(joined)
            .where(mine, asked, stands)
            .group_by(judgments.c.outcome)
        )
        by_place = (
            select(judgments.c.presentation, judgments.c.preference, func.count())
            .select_from(joined)
            .where(mine, asked, battles.c.flipped.is_not(None))
            .group_by(judgments.c.presentation, judgments.c.preference)
        )
        by_reason = (
            select(judgments.c.detail, func.count())
            .select_from(joined)
            .where(mine, asked, stands, judgments.c.outcome == Outcome.UNREADABLE)
            .group_by(judgments.c.detail)
            .order_by(func.count().desc())
            .limit(3)
        )
        flips = (
            select(battles.c.flipped, func.count())
            .select_from(battles.join(rounds, rounds.c.id == battles.c.round_id))
            .where(mine, battles.c.flipped.is_not(None))
            .group_by(battles.c.flipped)
        )
        conduct = JudgeConduct()
        with self._database.begin() as connection:
            for outcome, count, replied in connection.execute(by_outcome).all():
                conduct.readings += count
                conduct.replies += replied
                conduct.unreadable += count * (outcome == Outcome.UNREADABLE)
                conduct.refused += count * (outcome == Outcome.REFUSED)
                conduct.failed += count * (outcome == Outcome.FAILED)
            for presentation, preference, count in connection.execute(by_place).all():
                winner = None if preference is None else Preference(preference)
                conduct.count_place(Presentation(presentation), winner, count)
            for flipped, count in connection.execute(flips).all() if conduct.readings else ():
                conduct.both_orders += count
                conduct.flips += count * bool(flipped)
            if conduct.unreadable:
                for detail, count in connection.execute(by_reason).all():
                    conduct.reasons[detail] += count
        return conduct

    def reasons(self, name: str) -> tuple[tuple[Outcome, str, int], ...]:
        """Why battles have no verdict: outcome, reason and their number, the most frequent first."""
        number = func.count()
        query = (
            select(battles.c.outcome, battles.c.detail, number)
            .join(rounds, rounds.c.id == battles.c.round_id)
            .where(rounds.c.name == name, battles.c.outcome != Outcome.JUDGED)
            .group_by(battles.c.outcome, battles.c.detail)
            .order_by(number.desc(), battles.c.detail)
        )
        with self._database.begin() as connection:
            return tuple((outcome, why, count) for outcome, why, count in connection.execute(query).all())

    def models(self, name: str) -> Mapping[str, Counter[str]]:
        """Which models answered for each model that a round asked, as the endpoints call them, how often."""
        joined = (
            judgments.join(battles, battles.c.id == judgments.c.battle_id)
            .join(rounds, rounds.c.id == battles.c.round_id)
            .join(replies, replies.c.key == judgments.c.reply_key)
        )
        query = (
            select(judgments.c.model, replies.c.response_model, func.count())
            .select_from(joined)
            .where(rounds.c.name == name, replies.c.response_model != "")
            .group_by(judgments.c.model, replies.c.response_model)
        )
        served: dict[str, Counter[str]] = {}
        with self._database.begin() as connection:
            for asked, answered, count in connection.execute(query).all():
                served.setdefault(asked, Counter())[answered] += count
        return served
