"""Conduct of judges: unreadable replies, refusals and position bias."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from data.models.judgments import Judgment, Verdict
from data.models.words import Outcome, Preference, Presentation
from data.text import percent

MAX_UNREADABLE = 0.5
MAX_FLIPS = 0.6
MAX_FIRST_OR_SECOND = 0.8
MIN_REPLIES = 20
"""Minimum number of replies for which shares are reported."""
MAX_EXAMPLE = 300


@dataclass(slots=True, kw_only=True)
class JudgeConduct:
    """Counts of a judge's replies in a round; zero for embedded judges.

    Attributes:
        readings: Presentations of battles that were sent to a model.
        replies: Replies to them, including those that were retried.
        unreadable: Readings without a verdict in the reply.
        refused: Readings that the model or a filter declined.
        failed: Readings without a reply.
        both_orders: Battles read in both orders.
        flips: Battles on which the orders disagree.
        first: Readings in both orders that the answer shown first won.
        second: Readings in both orders that the answer shown second won.
        ties: Readings in both orders without a winner.
        reasons: Counts of reasons for unreadable replies.
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
        judgments = [item for item in verdict.judgments if item.calls or item.reply is not None]
        for judgment in judgments:
            self._read(judgment)
        if verdict.flipped is None or not judgments:
            return
        self.both_orders += 1
        self.flips += verdict.flipped
        for judgment in judgments:
            self.count_place(judgment.presentation, judgment.preference)
        if verdict.flipped and not self.unreadable:
            self._set_example(judgments[0])

    def _read(self, judgment: Judgment) -> None:
        self.readings += 1
        self.replies += (judgment.reply is not None) + len(judgment.earlier)
        self.unreadable += judgment.outcome is Outcome.UNREADABLE
        self.refused += judgment.outcome is Outcome.REFUSED
        self.failed += judgment.outcome is Outcome.FAILED
        if judgment.outcome is Outcome.UNREADABLE:
            self.reasons[judgment.detail] += 1
            self._set_example(judgment)

    def count_place(self, presentation: Presentation, preference: Preference | None, number: int = 1) -> None:
        """Count readings in both orders by the position that won."""
        if preference is Preference.TIE:
            self.ties += number
        elif preference is not None:
            first = Preference.A if presentation is Presentation.A_FIRST else Preference.B
            if preference is first:
                self.first += number
            else:
                self.second += number

    def _set_example(self, judgment: Judgment) -> None:
        if judgment.reply is not None:
            text = " ".join(judgment.reply.text.split())
            self.example = text[:MAX_EXAMPLE] + ("…" if len(text) > MAX_EXAMPLE else "")

    @property
    def enough(self) -> bool:
        """True if there are enough replies to report shares."""
        return self.replies >= MIN_REPLIES

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on faults of the judge."""
        return (*self.grave(), *self._declined())

    def grave(self) -> tuple[str, ...]:
        """Return sentences on disqualifying faults: unreadable replies and position bias."""
        return tuple(self._grave())

    def _declined(self) -> Iterator[str]:
        if self.refused + self.failed > MAX_UNREADABLE * self.readings:
            yield (
                f"{_of(self.refused + self.failed, self.readings)} of the judge's readings were refused or "
                "failed."
            )

    def _grave(self) -> Iterator[str]:
        if self.unreadable > MAX_UNREADABLE * self.readings:
            reasons = "; ".join(f"{reason} ({count:,})" for reason, count in self.reasons.most_common(2))
            yield (
                f"{_of(self.unreadable, self.readings)} of the judge's readings are unreadable"
                f"{f': {reasons}' if reasons else ''}."
            )
        places = self.first + self.second + self.ties
        most = max(self.first, self.second)
        if places < MIN_REPLIES:
            return
        if self.flips > MAX_FLIPS * self.both_orders:
            yield (
                f"The two orders disagree on {_of(self.flips, self.both_orders)} of the battles: the judge "
                f"decides by position. {self.place}"
            )
        elif most > MAX_FIRST_OR_SECOND * places:
            yield f"The judge decides by position. {self.place}"

    @property
    def place(self) -> str:
        """Sentence on the position that won more often; empty if no battle was read in both orders."""
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
    """Return a sentence for each model name that several models answered for."""
    return tuple(
        f"More than one model replied for {model}: "
        f"{', '.join(f'{name} ({count:,})' for name, count in sorted(counts.items()))}."
        for model, counts in sorted(served.items())
        if len(counts) > 1
    )


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({percent(part / whole, decimals=0)})"
