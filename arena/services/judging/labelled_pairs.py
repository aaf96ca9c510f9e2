"""Pairs of answers with the labels of people, from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.errors import FileFormatError
from data.files.labels import read_labels
from data.files.text_files import ReadLimits
from data.models import HumanLabel

LIMITS = ReadLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """A pair with the labels of all people."""

    first: HumanLabel
    labels: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPairs:
    """Pairs of a file, and the labels that are no votes by reason."""

    pairs: tuple[LabelledPair, ...]
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]


def labelled_pairs(path: Path) -> LabelledPairs:
    """Read the pairs of a file; lines with one id are labels of several people.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
        FileFormatError: An id has different answers on different lines.
    """
    read = read_labels(path, LIMITS)
    by_id: dict[str, tuple[HumanLabel, list[float]]] = {}
    for label in read.labels:
        first, labels = by_id.setdefault(label.id, (label, []))
        if (first.answer_a, first.answer_b) != (label.answer_a, label.answer_b):
            raise FileFormatError(
                f"{path.name}: the pair {label.id} has different answers on different lines.",
                advice="Give every pair an id of its own.",
                code="mixed-pair",
            )
        labels.append(label.label)
    pairs = tuple(LabelledPair(first=first, labels=tuple(labels)) for first, labels in by_id.values())
    return LabelledPairs(pairs=pairs, left_out=read.left_out, warnings=read.warnings)
