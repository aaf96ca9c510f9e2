"""Labels out as files, and labels of elsewhere in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from arena.services.accounts.auth import Caller, require
from arena.services.accounts.set_access import SetAccess
from arena.services.annotation.curation import CurationService
from arena.services.annotation.files.argilla import read_argilla, write_argilla
from arena.services.annotation.files.evaluations import read_evaluations, write_evaluations
from arena.services.annotation.files.label_studio import read_label_studio, write_label_studio
from arena.services.annotation.files.lines import read_labels, read_votes, write_labels, write_votes
from arena.services.annotation.files.model import (
    LONGEST_NAME,
    FiledLabel,
    LabelFormat,
    LabelledItem,
    LabelledTask,
    Tolerance,
    lines,
    names_of,
    refuse,
)
from arena.services.annotation.queue import require_words
from arena.services.annotation.tasks import require_pairs, subject_of
from data.errors import ConflictError, FileFormatError
from data.records import Action, AnnotationTask, TaskItem, TokenScope
from data.store import Store
from data.store.annotation.labels import BroughtLabel
from leaderboard.agreement import Resampling

ENDINGS = {
    LabelFormat.VOTES: "votes.jsonl",
    LabelFormat.LABELS: "labels.jsonl",
    LabelFormat.EVALUATIONS: "human_evaluations.json",
    LabelFormat.LABEL_STUDIO: "label-studio.json",
    LabelFormat.ARGILLA: "argilla.json",
    LabelFormat.RESULTS: "results.jsonl",
}
WRITERS = {
    LabelFormat.VOTES: write_votes,
    LabelFormat.LABELS: write_labels,
    LabelFormat.EVALUATIONS: write_evaluations,
    LabelFormat.LABEL_STUDIO: write_label_studio,
    LabelFormat.ARGILLA: write_argilla,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """Labels as a file; `left_out` counts labels of pairs whose texts are gone."""

    name: str
    content: bytes
    labels: int
    left_out: int

    @property
    def media_type(self) -> str:
        """What browsers call the content."""
        return "application/x-ndjson" if self.name.endswith(".jsonl") else "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLabels:
    """How many labels of a file are new, and of each record that was left out why."""

    new: int
    left_out: tuple[str, ...] = ()


class LabelFileService:
    """Use cases around files of labels; for organisers."""

    def __init__(self, store: Store, curation: CurationService) -> None:
        self._store, self._curation = store, curation

    def export(self, name: str, form: LabelFormat = LabelFormat.LABELS, *, caller: Caller) -> LabelFile:
        """The labels of a task that count, hidden references and gold items left out.

        Raises:
            NotFoundError: There is no such task.
            InputError: People write in the task.
        """
        require(caller, TokenScope.ORGANISE)
        task = self._store.annotations.task(name)
        require_pairs(task)
        file_name = f"{name}-{ENDINGS[form]}"
        if form is LabelFormat.RESULTS:
            rows = self._results(name, caller)
            return LabelFile(name=file_name, content=lines(rows), labels=len(rows), left_out=0)
        content, left_out = self._labelled(task, caller)
        labels = sum(1 for _ in content.given())
        return LabelFile(name=file_name, content=WRITERS[form](content), labels=labels, left_out=left_out)

    def bring(
        self, name: str, form: LabelFormat, content: bytes, *, lenient: bool = False, caller: Caller
    ) -> ImportedLabels:
        """Add the labels of a file to a task; people without an account get a name in it alone.

        What somebody said of an item already stays. `lenient` leaves out what cannot be read, and counts it.

        Raises:
            NotFoundError: There is no such task.
            FileFormatError: The file cannot be read, has an item that the task does not have, or one person
                says two things of one item.
            ConflictError: The task is closed.
        """
        require(caller, TokenScope.ORGANISE)
        task = self._store.annotations.task(name)
        require_pairs(task)
        if task.closed:
            raise ConflictError(f"The task {name} is closed.", advice="Open another.")
        items = self._store.annotations.items(task.id)
        named, tolerance = _by_name(items), Tolerance(lenient)
        brought: dict[tuple[int, str], BroughtLabel] = {}
        for filed in _read(content, form, items, tolerance):
            tolerance.take(partial(_add, brought, filed, task, named))
        with self._store.audit.audited() as notes:
            count = self._store.labels.bring(task.id, list(brought.values()))
            notes.take(caller.note(Action.LABELS_IMPORTED, subject_of(name), labels=count, format=form.value))
        return ImportedLabels(new=count, left_out=tuple(tolerance.left_out))

    def _labelled(self, task: AnnotationTask, caller: Caller) -> tuple[LabelledTask, int]:
        seen = SetAccess(self._store, caller, task.set_name)
        items = {item.id: item for item in self._store.annotations.items(task.id) if item.gold is None}
        labels = defaultdict(list)
        for label in self._store.labels.given(task.id):
            if not label.excluded:
                labels[label.item].append(label)
        kept, left_out = [], 0
        for shown in self._store.labels.texts(task.id):
            item = items.get(shown.id)
            if item is None:
                continue
            # An answer whose system is gone has gone with it.
            if (item.system_a and not shown.first) or (item.system_b and not shown.second):
                left_out += len(labels[item.id])
                continue
            question = seen.question(shown.question)
            kept.append(
                LabelledItem(
                    item=item, shown=replace(shown, question=question), labels=tuple(labels[item.id])
                )
            )
        return LabelledTask(task=task, items=tuple(kept)), left_out

    def _results(self, name: str, caller: Caller) -> list[dict[str, object]]:
        quality = self._curation.quality(name, resampling=Resampling(resamples=0), caller=caller)
        return [
            {
                **names_of(result.item),
                "domain": result.item.domain,
                "labels": dict(result.counts),
                "majority": result.majority,
                "adjudicated": result.adjudicated,
                "adjudicated_by": result.item.adjudicated_by,
                "result": result.result,
                "chance": result.item.chance,
            }
            for result in quality.items
        ]


ByName = dict[tuple[str, str, str], TaskItem]


def _read(
    content: bytes,
    form: LabelFormat,
    items: tuple[TaskItem, ...],
    tolerance: Tolerance,
) -> Iterator[FiledLabel]:
    match form:
        case LabelFormat.VOTES:
            return read_votes(content, tolerance)
        case LabelFormat.LABELS:
            return read_labels(content, tolerance)
        case LabelFormat.EVALUATIONS:
            return read_evaluations(content, items, tolerance)
        case LabelFormat.LABEL_STUDIO:
            return read_label_studio(content, tolerance)
        case LabelFormat.ARGILLA:
            return read_argilla(content, tolerance)
        case LabelFormat.RESULTS:
            raise FileFormatError(
                "Results are what labels come to, and no labels.", advice="Import the labels."
            )


def _by_name(items: tuple[TaskItem, ...]) -> ByName:
    return {(item.question_id, item.system_a, item.system_b): item for item in items}


def _add(
    brought: dict[tuple[int, str], BroughtLabel], filed: FiledLabel, task: AnnotationTask, items: ByName
) -> None:
    """Add a label of a file to those before it; the same once more is one label."""
    label = _joined(task, filed, items)
    known = brought.setdefault((label.item, label.person), label)
    if (known.value, known.skip_reason is None) != (label.value, label.skip_reason is None):
        refuse(
            filed.place, f"contradicts an earlier label: {label.person} labelled this item otherwise there"
        )


def _joined(task: AnnotationTask, filed: FiledLabel, items: ByName) -> BroughtLabel:
    """A label of a file as one of the task's item, turned round where the file has the pair so."""
    item = items.get((filed.question_id, filed.system_a, filed.system_b))
    value = filed.value(task.terms.scale)
    if item is None:
        item = items.get((filed.question_id, filed.system_b, filed.system_a))
        value = None if value is None else -value
    if item is None:
        refuse(filed.place, f"is about an item that {task.name} does not have (question {filed.question_id})")
    if len(filed.person) > LONGEST_NAME:
        refuse(filed.place, f"has an annotator whose name is longer than {LONGEST_NAME} characters")
    require_words(filed.comment, "comment")
    return BroughtLabel(
        item=item.id,
        person=filed.person,
        value=value,
        comment=filed.comment,
        skip_reason=filed.skip_reason,
        seconds=filed.seconds,
    )
