"""How good labels are: how people agree, each with the others, on gold items, and what the items come to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np

from data.records import GivenLabel, TaskItem, TaskKind, TaskPerson
from leaderboard.agreement import Estimate, Posteriors, Resampling, dawid_skene
from leaderboard.agreement.coefficients import Scale, krippendorff_alpha

CLASSES: Mapping[TaskKind, tuple[str, ...]] = {
    TaskKind.PAIRS: ("a", "tie", "b"),
    TaskKind.ANSWERABILITY: ("no", "yes"),
    TaskKind.PASSAGES: ("0", "1", "2", "3", "4", "5"),
    TaskKind.SPANS: ("none", "some"),
}
NEAR_GOLD = 1
"""A rating of a passage passes where it is no farther from the right one."""
SEVERAL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonQuality:
    """How one person labels.

    Attributes:
        name: Who it is.
        labelled: Labels, gold ones included.
        skipped: Items left to others.
        seconds: Median time of a label; None before the first.
        agreement: Share of other people's labels of the same items that say the same; None without any.
        compared: How many such labels there are.
        alpha: Krippendorff's alpha of the person and the others' labels on these items.
        gold_seen: Gold items labelled.
        gold_passed: Of these, as they are known to be.
        accuracy: Chance of being right by Dawid and Skene's model; None without labels.
        aside_reason: Why their labels do not count; None where they do.
    """

    name: str
    labelled: int
    skipped: int
    seconds: float | None
    agreement: float | None
    compared: int
    alpha: Estimate
    gold_seen: int
    gold_passed: int
    accuracy: float | None
    aside_reason: str | None

    @property
    def gold_rate(self) -> float | None:
        """Share of gold items passed; None before the first."""
        return self.gold_passed / self.gold_seen if self.gold_seen else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """What an item comes to.

    Attributes:
        item: The item.
        counts: Labels by class, those set aside left out.
        majority: The class that more than half of the labels name; None where there is none.
        posterior: Probability of each class by Dawid and Skene's model; empty without labels.
        disputed: Whether it is complete without a majority, and nobody has settled it.
        settled: The class that an adjudicator named; None where none did.
    """

    item: TaskItem
    counts: Mapping[str, int]
    majority: str | None
    posterior: Mapping[str, float]
    disputed: bool
    settled: str | None

    @property
    def result(self) -> str | None:
        """What was settled, else the majority."""
        return self.settled or self.majority


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuality:
    """How people agree in a task; None where too little is labelled.

    Attributes:
        classes: What a label may come to.
        items: Each item but gold ones, in the task's order.
        people: Everybody who labelled.
        labels: Labels that count.
        complete: Items that as many people labelled as the task wants.
        unanimous: Share of the items with several labels on which all say the same.
        alpha: Krippendorff's alpha (nominal) of the classes, with its interval by questions.
        alpha_values: The same (ordinal) of grades or ratings.
    """

    classes: tuple[str, ...]
    items: tuple[ItemResult, ...]
    people: tuple[PersonQuality, ...]
    labels: int
    complete: int
    unanimous: float | None
    alpha: Estimate
    alpha_values: Estimate

    @property
    def disputed(self) -> tuple[ItemResult, ...]:
        """What waits for an adjudicator."""
        return tuple(result for result in self.items if result.disputed)


def class_of(kind: TaskKind, value: int) -> int:
    """The place among `CLASSES` that a value comes to."""
    match kind:
        case TaskKind.PAIRS:
            return int(np.sign(value)) + 1
        case TaskKind.SPANS:
            return int(value > 0)
        case _:
            return value


def passes_gold(kind: TaskKind, value: int, gold: int) -> bool:
    """Whether a label says of a gold item what is known."""
    if kind is TaskKind.PASSAGES:
        return abs(value - gold) <= NEAR_GOLD
    return class_of(kind, value) == class_of(kind, gold)


def quality_of(
    kind: TaskKind,
    overlap: int,
    items: Sequence[TaskItem],
    labels: Sequence[GivenLabel],
    people: Sequence[TaskPerson],
    resampling: Resampling | None = None,
) -> TaskQuality:
    """Say how good the labels of a task are.

    Args:
        kind: What people were asked.
        overlap: How many people the task wants for an item.
        items: Its items.
        labels: All labels and skips.
        people: All its people.
        resampling: Of the intervals, which draw questions.
    """
    drawn = resampling or Resampling()
    plain = [item for item in items if item.gold is None]
    table = _Table(kind, plain, [label for label in labels if not label.aside])
    results = tuple(_result(kind, overlap, item, table) for item in plain)
    several = [result.counts for result in results if sum(result.counts.values()) >= SEVERAL]
    golds = {item.id: item.gold for item in items if item.gold is not None}
    return TaskQuality(
        classes=CLASSES[kind],
        items=results,
        people=tuple(_person(kind, person, labels, golds, table, drawn) for person in people),
        labels=len(table.labels),
        complete=sum(sum(result.counts.values()) >= overlap for result in results),
        unanimous=sum(len(counts) == 1 for counts in several) / len(several) if several else None,
        alpha=krippendorff_alpha(
            table.matrix(classes=True), scale=Scale.NOMINAL, questions=table.questions, resampling=drawn
        ),
        alpha_values=krippendorff_alpha(
            table.matrix(classes=False), scale=Scale.ORDINAL, questions=table.questions, resampling=drawn
        ),
    )


class _Table:
    """The labels that count, by item and person."""

    def __init__(self, kind: TaskKind, items: Sequence[TaskItem], labels: Sequence[GivenLabel]) -> None:
        self.kind = kind
        self.rows = {item.id: row for row, item in enumerate(items)}
        labelled = [label for label in labels if label.value is not None and label.item in self.rows]
        self.columns = {
            name: place for place, name in enumerate(dict.fromkeys(label.person for label in labelled))
        }
        self.labels = [
            (self.rows[label.item], self.columns[label.person], label.value or 0) for label in labelled
        ]
        names = {name: code for code, name in enumerate(dict.fromkeys(item.question_id for item in items))}
        self.questions = np.array([names[item.question_id] for item in items], dtype=np.int64)
        self.by_row: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for row, column, value in self.labels:
            self.by_row[row].append((column, class_of(kind, value)))
        self.posteriors = self._posteriors()

    def matrix(self, *, classes: bool) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """(items, people) classes or values, NaN where somebody gave none."""
        values = np.full((len(self.rows), len(self.columns)), np.nan)
        for row, column, value in self.labels:
            values[row, column] = class_of(self.kind, value) if classes else value
        return values

    def _posteriors(self) -> Posteriors | None:
        if not self.labels:
            return None
        item, person, value = (np.array(column, dtype=np.int64) for column in zip(*self.labels, strict=True))
        classes = np.array([class_of(self.kind, int(number)) for number in value], dtype=np.int64)
        sizes = {"items": len(self.rows), "people": len(self.columns), "classes": len(CLASSES[self.kind])}
        return dawid_skene(item, person, classes, **sizes)


def _result(kind: TaskKind, overlap: int, item: TaskItem, table: _Table) -> ItemResult:
    names = CLASSES[kind]
    counts = Counter(names[class_] for _, class_ in table.by_row[table.rows[item.id]])
    leading, most = counts.most_common(1)[0] if counts else ("", 0)
    majority = leading if 2 * most > counts.total() else None
    settled = None if item.settled is None else names[class_of(kind, item.settled)]
    chances = () if table.posteriors is None or not counts else table.posteriors.items[table.rows[item.id]]
    return ItemResult(
        item=item,
        counts=dict(counts),
        majority=majority,
        posterior={name: float(chance) for name, chance in zip(names, chances, strict=False)},
        disputed=(
            kind is not TaskKind.SPANS
            and counts.total() >= max(overlap, SEVERAL)
            and majority is None
            and settled is None
        ),
        settled=settled,
    )


def _person(
    kind: TaskKind,
    person: TaskPerson,
    labels: Sequence[GivenLabel],
    golds: Mapping[int, int],
    table: _Table,
    drawn: Resampling,
) -> PersonQuality:
    own = [label for label in labels if label.person == person.name and label.value is not None]
    times = [label.seconds for label in own if label.seconds > 0]
    gold = [label for label in own if label.item in golds]
    column = table.columns.get(person.name)
    same = compared = 0
    pairs: list[tuple[int, int, int]] = []
    for row, classes in table.by_row.items():
        for first, second in combinations(classes, 2):
            if column in {first[0], second[0]}:
                mine, theirs = (first, second) if first[0] == column else (second, first)
                pairs.append((row, mine[1], theirs[1]))
                compared += 1
                same += mine[1] == theirs[1]
    alpha = Estimate(None)
    if pairs:
        alpha = krippendorff_alpha(
            np.array([(mine, theirs) for _, mine, theirs in pairs], dtype=np.float64),
            questions=np.unique(table.questions[[row for row, _, _ in pairs]], return_inverse=True)[1],
            resampling=drawn,
        )
    known = column is not None and table.posteriors is not None
    return PersonQuality(
        name=person.name,
        labelled=len(own),
        skipped=sum(label.person == person.name and label.skip_reason is not None for label in labels),
        seconds=median(times) if times else None,
        agreement=same / compared if compared else None,
        compared=compared,
        alpha=alpha,
        gold_seen=len(gold),
        gold_passed=sum(passes_gold(kind, label.value or 0, golds[label.item]) for label in gold),
        accuracy=float(table.posteriors.accuracy[column]) if known and table.posteriors is not None else None,
        aside_reason=person.aside_reason,
    )
