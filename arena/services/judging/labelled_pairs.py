"""Pairs of answers that people labelled, from a label file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from data.errors import FileFormatError
from data.files.items import read_labels
from data.files.text_files import ReadLimits
from data.records import HumanLabel

LIMITS = ReadLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """A pair of a label file with everybody's labels."""

    first: HumanLabel
    labels: tuple[float, ...]

    @property
    def systems(self) -> str:
        """Whose answers they are, `one vs other` in alphabetical order; empty where unknown."""
        named = sorted((self.first.system_a, self.first.system_b))
        return " vs ".join(named) if all(named) else ""


def labelled_pairs(path: Path) -> list[LabelledPair]:
    """The pairs of a file with all their labels; lines with one id are several annotators.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
        FileFormatError: An id has different answers on different lines.
    """
    by_id: dict[str, tuple[HumanLabel, list[float]]] = {}
    for label in read_labels(path, LIMITS):
        first, labels = by_id.setdefault(label.id, (label, []))
        if (first.answer_a, first.answer_b) != (label.answer_a, label.answer_b):
            raise FileFormatError(
                f"{path.name}: the pair {label.id} has different answers on different lines.",
                advice="Give every pair an id of its own.",
                code="mixed-pair",
            )
        labels.append(label.label)
    return [LabelledPair(first=first, labels=tuple(labels)) for first, labels in by_id.values()]
