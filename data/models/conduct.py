"""Conduct of judges: how often the models behind a round's judge could be read, and what decided."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from data.models.judgments import Judgment, Verdict
from data.models.words import Outcome, Preference, Presentation
from data.text import percent

MOST_UNREADABLE = 0.5
MOST_FLIPS = 0.6
MOST_OF_ONE_PLACE = 0.8
ENOUGH = 20
"""Replies before a share says anything."""
LONGEST_EXAMPLE = 300


@dataclass(slots=True, kw_only=True)
class JudgeConduct:
    """Counts of what a judge of a round said; embedded judges have none.

    Attributes:
        readings: Orders of battles about which a model was asked, whatever came back.
        replies: Replies to them, those after which it was asked again included.
        unreadable: Readings without a verdict in the reply.
        refused: Readings that the model or a filter declined.
        failed: Readings without a reply.
        flips: Those on which the orders disagree.
        first: Readings of these battles that the answer shown first won.
        second: Likewise the answer shown second.
        ties: Readings of these battles without a winner.
        reasons: Why replies were unreadable, how often.
        example: An unreadable reply, or one of a battle on which the orders disagree.
    """

    readings: int = 0
    replies: int = 0
    unreadable: int = 0
    refused: int = 0
    failed: int = 0
    both_orders: int = 0
    flips: int = 0
    first: int = 0
    second: int = 0
    ties: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    example: str = ""

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        asked = [judgment for judgment in verdict.judgments if judgment.calls or judgment.reply is not None]
        for judgment in asked:
            self._read(judgment)
        if verdict.flipped is None or not asked:
            return
        self.both_orders += 1
        self.flips += verdict.flipped
        for judgment in asked:
            self.count_place(judgment.presentation, judgment.preference)
        if verdict.flipped and not self.unreadable:
            self._keep(asked[0])

    def _read(self, judgment: Judgment) -> None:
        self.readings += 1
        self.replies += (judgment.reply is not None) + len(judgment.earlier)
        self.unreadable += judgment.outcome is Outcome.UNREADABLE
        self.refused += judgment.outcome is Outcome.REFUSED
        self.failed += judgment.outcome is Outcome.FAILED
        if judgment.outcome is Outcome.UNREADABLE:
            self.reasons[judgment.detail] += 1
            self._keep(judgment)

    def count_place(self, presentation: Presentation, preference: Preference | None, number: int = 1) -> None:
        """Count readings in both orders by the place that won."""
        if preference is Preference.TIE:
            self.ties += number
        elif preference is not None:
            shown_first = Preference.A if presentation is Presentation.A_FIRST else Preference.B
            if preference is shown_first:
                self.first += number
            else:
                self.second += number

    def _keep(self, judgment: Judgment) -> None:
        if judgment.reply is not None:
            text = " ".join(judgment.reply.text.split())
            self.example = text[:LONGEST_EXAMPLE] + ("…" if len(text) > LONGEST_EXAMPLE else "")

    @property
    def enough(self) -> bool:
        """True if there are enough replies for a share to say anything."""
        return self.replies >= ENOUGH

    def sentences(self) -> tuple[str, ...]:
        """Sentences on faults of the judge; empty without any."""
        return (*self.grave(), *self._declined())

    def grave(self) -> tuple[str, ...]:
        """Sentences on faults that disqualify a judge: unreadable replies, or position bias."""
        return tuple(self._grave())

    def _declined(self) -> Iterator[str]:
        if self.refused + self.failed > MOST_UNREADABLE * self.readings:
            yield (
                f"{_of(self.refused + self.failed, self.readings)} of the judge's readings were refused or "
                "failed."
            )

    def _grave(self) -> Iterator[str]:
        if self.unreadable > MOST_UNREADABLE * self.readings:
            whys = "; ".join(f"{why} ({count:,})" for why, count in self.reasons.most_common(2))
            yield (
                f"{_of(self.unreadable, self.readings)} of the judge's readings are unreadable"
                f"{f': {whys}' if whys else ''}."
            )
        places = self.first + self.second + self.ties
        most = max(self.first, self.second)
        if places < ENOUGH:
            return
        if self.flips > MOST_FLIPS * self.both_orders:
            yield (
                f"The two orders disagree on {_of(self.flips, self.both_orders)} of the battles: the judge "
                f"decides by position. {self.place}"
            )
        elif most > MOST_OF_ONE_PLACE * places:
            yield f"The judge decides by position. {self.place}"

    @property
    def place(self) -> str:
        """A sentence on how often each place won; empty where no battle was read in both orders."""
        places = self.first + self.second + self.ties
        if not places:
            return ""
        name, most = ("first", self.first) if self.first >= self.second else ("second", self.second)
        return f"The answer shown {name} won {most:,} of {places:,} readings."

    def as_json(self) -> dict[str, Any]:
        """Return the counts, with the sentences as `warnings`."""
        counts = ("readings", "unreadable", "refused", "failed", "both_orders", "flips")
        return {
            **{name: getattr(self, name) for name in counts},
            "first_won": self.first,
            "second_won": self.second,
            "ties": self.ties,
            "warnings": list(self.sentences()),
        }


def several_models(served: Mapping[str, Counter[str]]) -> tuple[str, ...]:
    """Sentences about models for which more than one model answered; empty where none did."""
    return tuple(
        f"More than one model answered for {asked}: "
        f"{', '.join(f'{name} ({count:,})' for name, count in sorted(answered.items()))}."
        for asked, answered in sorted(served.items())
        if len(answered) > 1
    )


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({percent(part / whole, decimals=0)})"
