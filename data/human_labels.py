"""Human labels as files: JSONL, one annotator's view of a pair a line (docs/design.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from data.files import ReadLimits
from data.jsonl import read_records
from data.records import HumanLabel, ProblemList

WORDS: Mapping[str, float] = MappingProxyType({"a": -1.0, "b": 1.0, "tie": 0.0})
LARGEST = 2


def read_labels(path: Path, limits: ReadLimits) -> tuple[HumanLabel, ...]:
    """Read labels.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _label)


def _label(line: int, row: object, problems: ProblemList) -> HumanLabel | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.")
        return None
    before = problems.errors
    texts = {name: _text(line, row, name, problems) for name in ("question", "answer_a", "answer_b")}
    key = row.get("id")
    if not isinstance(key, str | int) or isinstance(key, bool) or not str(key):
        problems.add(line, "missing-field", "There is no id.", advice="Give every pair an id.")
    optional = {name: row.get(name) for name in ("reference", "domain", "system_a", "system_b")}
    for name, value in optional.items():
        if value is not None and not isinstance(value, str):
            problems.add(line, "wrong-type", f"The {name} is not a string.")
    passages = _passages(line, row.get("passages"), problems)
    label = _number(line, row.get("label"), problems)
    if problems.errors > before:
        return None
    return HumanLabel(
        id=str(key),
        domain=str(optional["domain"] or ""),
        label=label,
        reference=str(optional["reference"]) if optional["reference"] else None,
        passages=passages,
        system_a=str(optional["system_a"] or ""),
        system_b=str(optional["system_b"] or ""),
        **texts,
    )


def _text(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> str:
    value = row.get(name)
    if isinstance(value, str):
        return value
    code = "missing-field" if value is None else "wrong-type"
    problems.add(line, code, f"There is no {name}." if value is None else f"The {name} is not a string.")
    return ""


def _number(line: int, value: object, problems: ProblemList) -> float:
    if isinstance(value, str) and value in WORDS:
        return WORDS[value]
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    message = f"The label is {value!r}."
    problems.add(line, "wrong-value", message, advice='Use "a", "b", "tie", or a number from -2 to 2.')
    return 0.0


def _passages(line: int, value: object, problems: ProblemList) -> tuple[str, ...]:
    if value is None:
        return ()
    given = value if isinstance(value, list) else [value]
    texts = [one.get("text") if isinstance(one, Mapping) else one for one in given]
    if not all(isinstance(text, str) for text in texts):
        problems.add(line, "bad-passage", "passages is not a list of texts, or of objects with a text.")
        return ()
    return tuple(str(text) for text in texts)
