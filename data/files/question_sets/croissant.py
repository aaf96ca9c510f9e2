"""Croissant metadata of a set that is written as Parquet.

Source: Croissant 1.0, https://docs.mlcommons.org/croissant/docs/croissant-spec.html, which `mlcroissant`
validates.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from data.files.croissant import CONTEXT, VERSION, DataFile
from data.records import QuestionSet

FIELDS: Mapping[str, str] = {
    "id": "The question's id.",
    "domain": "Subject area of the question.",
    "question": "The question.",
    "reference": "The answer that the set gives.",
}
LISTS: Mapping[str, str] = {
    "aspects": "Facets that a good answer addresses.",
    "short_answers": "Short answers to the question.",
    "sub_questions": "Questions that a good answer answers.",
    "gold_doc_ids": "Documents that the reference was written from.",
}
STRUCTS: Mapping[str, tuple[str, ...]] = {
    "passages": ("id", "title", "text"),
    "nuggets": ("text", "importance"),
}
VERSION_PARTS = 3


def croissant_json(
    questions: QuestionSet, written: Mapping[str, Path], folder: Path, licence: str
) -> dict[str, Any]:
    """The metadata of a set.

    Args:
        questions: The set.
        written: Its Parquet file for each split.
        folder: The folder that all of it lies in; files are named from there.
        licence: As the Hugging Face Hub names it; `other` or empty where it has no name for it.
    """
    described = questions.note or f"Questions of the set {questions.name}, with references and passages."
    metadata: dict[str, Any] = {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": questions.name,
        "description": described,
        "version": _version(questions.version),
        "inLanguage": questions.language,
        "distribution": [_file(split, path, folder) for split, path in written.items()],
        "recordSet": [_records(split) for split in written],
    }
    if questions.licence:
        known = licence not in {"", "other"}
        metadata["license"] = f"https://spdx.org/licenses/{_spdx(licence)}" if known else questions.licence
    if questions.source:
        metadata["citeAs"] = questions.source
    return metadata


def _file(split: str, path: Path, folder: Path) -> dict[str, Any]:
    described = DataFile.of(path, url=path.relative_to(folder).as_posix()).as_json()
    return {**described, "@id": f"{split}-file", "name": f"{split}-file"}


def _records(split: str) -> dict[str, Any]:
    fields = [_field(split, name, text) for name, text in FIELDS.items()]
    fields += [_field(split, name, text, repeated=True) for name, text in LISTS.items()]
    fields += [_struct(split, name, parts) for name, parts in STRUCTS.items()]
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": f"The questions of the split {split}.",
        "key": {"@id": f"{split}/id"},
        "field": fields,
    }


def _field(split: str, name: str, text: str, *, repeated: bool = False) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{name}",
        "name": f"{split}/{name}",
        "description": text,
        "dataType": "sc:Text",
        **({"repeated": True} if repeated else {}),
        "source": {"fileObject": {"@id": f"{split}-file"}, "extract": {"column": name}},
    }


def _struct(split: str, name: str, parts: tuple[str, ...]) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{name}",
        "name": f"{split}/{name}",
        "repeated": True,
        "subField": [
            {
                "@type": "cr:Field",
                "@id": f"{split}/{name}/{part}",
                "name": f"{split}/{name}/{part}",
                "dataType": "sc:Text",
                "source": {
                    "fileObject": {"@id": f"{split}-file"},
                    "extract": {"column": name},
                    "transform": {"jsonPath": part},
                },
            }
            for part in parts
        ],
    }


def _version(text: str) -> str:
    """A version of three numbers, as Croissant wants it; `1` becomes `1.0.0`."""
    numbers = text.split(".")
    if len(numbers) <= VERSION_PARTS and all(number.isascii() and number.isdigit() for number in numbers):
        return ".".join([*numbers, "0", "0"][:VERSION_PARTS])
    return "1.0.0"


def _spdx(name: str) -> str:
    return {"mit": "MIT", "apache-2.0": "Apache-2.0", "odc-by": "ODC-By-1.0", "odbl": "ODbL-1.0"}.get(
        name, name.upper()
    )
