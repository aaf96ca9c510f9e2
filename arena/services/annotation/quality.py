"""How good labels are: how people agree, each with the others, on gold items, and what the items come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from arena.services.annotation.quality_lines import EstimateLine, PersonLine
from data.records import GivenLabel, TaskItem, TaskPerson
from leaderboard.agreement import Estimate, Resampling
from leaderboard.agreement.coefficients import Scale, krippendorff_alpha

CLASSES = ("a", "tie", "b")
"""What a label comes to, however fine its scale."""
SEVERAL = 2
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """What an item comes to.

    Attributes:
        item: The item.
        counts: Labels by class, excluded ones left out.
        majority: The class that more than half of the labels name; None where there is none.
        disputed: Whether it is complete without a majority, and nobody has adjudicated it.
        adjudicated: The class that an adjudicator named; None where none did.
    """

    item: TaskItem
    counts: Mapping[str, int]
    majority: str | None
    disputed: bool
    adjudicated: str | None

    @property
    def result(self) -> str | None:
        """What an adjudicator decided, else the majority."""
        return self.adjudicated or self.majority


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuality:
    """How people agree in a task; None where too little is labelled.

    Attributes:
        items: Each item but gold ones, in the task's order.
        people: Everybody who labelled.
        labels: Labels that count.
        complete: Items that as many people labelled as the task wants.
        unanimous: Share of the items with several labels on which all say the same.
        alpha: Krippendorff's alpha (nominal) of the classes, with its interval by questions.
        alpha_values: The same (ordinal) of grades.
    """

    items: tuple[ItemResult, ...]
    people: tuple[PersonLine, ...]
    labels: int
    complete: int
    unanimous: float | None
    alpha: EstimateLine
    alpha_values: EstimateLine

    @property
    def disputed(self) -> tuple[ItemResult, ...]:
        """What waits for an adjudicator."""
        return tuple(result for result in self.items if result.disputed)


def quality_of(
    overlap: int,
    items: Sequence[TaskItem],
    labels: Sequence[GivenLabel],
    people: Sequence[TaskPerson],
    resampling: Resampling | None = None,
) -> TaskQuality:
    """Say how good the labels of a task are.

    Args:
        overlap: How many people the task wants for an item.
        items: Its items.
        labels: All labels and skips.
        people: All its people.
        resampling: Of the intervals, which draw questions.
    """
    drawn = resampling or Resampling()
    plain = [item for item in items if item.gold is None]
    rows = {item.id: row for row, item in enumerate(plain)}
    counted = [one for one in labels if one.value is not None and not one.excluded and one.item in rows]
    columns = {name: place for place, name in enumerate(dict.fromkeys(one.person for one in counted))}
    values = np.full((len(rows), len(columns)), np.nan)
    for one in counted:
        values[rows[one.item], columns[one.person]] = one.value
    codes = {name: code for code, name in enumerate(dict.fromkeys(item.question_id for item in plain))}
    questions = np.array([codes[item.question_id] for item in plain], dtype=np.int64)
    results = tuple(_result(overlap, item, row) for item, row in zip(plain, np.sign(values), strict=True))
    several = [result.counts for result in results if sum(result.counts.values()) >= SEVERAL]
    golds = {item.id: int(np.sign(item.gold)) for item in items if item.gold is not None}

    def person(who: TaskPerson) -> PersonLine:
        mine = columns.get(who.name)
        alike, alpha = (
            (np.empty(0), Estimate(None))
            if mine is None
            else _against_others(np.sign(values), mine, questions, drawn)
        )
        return _person(who, [one for one in labels if one.person == who.name], golds, alike, alpha)

    return TaskQuality(
        items=results,
        people=tuple(map(person, people)),
        labels=len(counted),
        complete=sum(sum(result.counts.values()) >= overlap for result in results),
        unanimous=sum(len(counts) == 1 for counts in several) / len(several) if several else None,
        alpha=EstimateLine.of(
            krippendorff_alpha(np.sign(values), scale=Scale.NOMINAL, questions=questions, resampling=drawn)
        ),
        alpha_values=EstimateLine.of(
            krippendorff_alpha(values, scale=Scale.ORDINAL, questions=questions, resampling=drawn)
        ),
    )


def _result(overlap: int, item: TaskItem, sides: Floats) -> ItemResult:
    counts = Counter(CLASSES[int(side) + 1] for side in sides if not np.isnan(side))
    leading, most = counts.most_common(1)[0] if counts else ("", 0)
    majority = leading if 2 * most > counts.total() else None
    adjudicated = None if item.adjudicated is None else CLASSES[int(np.sign(item.adjudicated)) + 1]
    return ItemResult(
        item=item,
        counts=dict(counts),
        majority=majority,
        disputed=counts.total() >= max(overlap, SEVERAL) and majority is None and adjudicated is None,
        adjudicated=adjudicated,
    )


def _against_others(sides: Floats, mine: int, questions: Codes, drawn: Resampling) -> tuple[Floats, Estimate]:
    """Of each label of another person of the same item whether it says the same, and alpha with them."""
    others = np.delete(sides, mine, axis=1)
    row, column = np.nonzero(~np.isnan(others) & ~np.isnan(sides[:, [mine]]))
    if not len(row):
        return np.empty(0), Estimate(None)
    pairs = np.stack([sides[row, mine], others[row, column]], axis=1)
    of_pair = np.unique(questions[row], return_inverse=True)[1]
    return pairs[:, 0] == pairs[:, 1], krippendorff_alpha(pairs, questions=of_pair, resampling=drawn)


def _person(
    person: TaskPerson, labels: Sequence[GivenLabel], golds: Mapping[int, int], alike: Floats, alpha: Estimate
) -> PersonLine:
    own = [(one.item, int(np.sign(one.value)), one.seconds) for one in labels if one.value is not None]
    times = [seconds for _, _, seconds in own if seconds > 0]
    gold = [side == golds[item] for item, side, _ in own if item in golds]
    return PersonLine(
        name=person.name,
        labelled=len(own),
        skipped=sum(one.skip_reason is not None for one in labels),
        seconds=median(times) if times else None,
        agreement=float(alike.mean()) if len(alike) else None,
        compared=len(alike),
        alpha=EstimateLine.of(alpha),
        gold_seen=len(gold),
        gold_passed=sum(gold),
        gold_rate=sum(gold) / len(gold) if gold else None,
        excluded_reason=person.excluded_reason,
    )
