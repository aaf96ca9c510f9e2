"""Croissant metadata: what a folder of data files holds, in words that search engines and loaders read.

Source: MLCommons, Croissant Format Specification 1.0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

VERSION = "http://mlcommons.org/croissant/1.0"
_TERMS = (
    *(
        "citeAs",
        "column",
        "conformsTo",
        "equivalentProperty",
        "extract",
        "field",
        "fileProperty",
        "fileObject",
    ),
    *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path"),
    *("recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator", "source"),
    *("subField", "transform"),
)
CONTEXT: Mapping[str, object] = {
    **{term: f"cr:{term}" for term in _TERMS},
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
}
MEDIA_TYPES: Mapping[str, str] = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".parquet": "application/x-parquet",
    ".tsv": "text/tab-separated-values",
}
UNKNOWN_MEDIA = "application/octet-stream"


class DataType(StrEnum):
    """What the values of a field are."""

    TEXT = "sc:Text"
    INTEGER = "sc:Integer"
    FLOAT = "sc:Float"
    BOOLEAN = "sc:Boolean"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file of the data.

    Attributes:
        name: Its name, which tables refer to.
        url: Where it is: relative to the metadata, or a whole address.
        sha256: Of its content, in hexadecimal digits.
        size: In bytes.
        description: What it holds.
    """

    name: str
    url: str
    sha256: str
    size: int
    description: str = ""

    @classmethod
    def of(cls, path: Path, *, name: str = "", url: str = "", description: str = "") -> DataFile:
        """A file on disk, by default beside the metadata and under its own name."""
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        return cls(
            name=name or path.name,
            url=url or path.name,
            sha256=digest,
            size=path.stat().st_size,
            description=description,
        )

    def as_json(self) -> dict[str, object]:
        """Its `FileObject`."""
        return {
            "@type": "cr:FileObject",
            "@id": self.name,
            "name": self.name,
            **({"description": self.description} if self.description else {}),
            "contentUrl": self.url,
            "contentSize": f"{self.size} B",
            "encodingFormat": MEDIA_TYPES.get(Path(self.name).suffix or Path(self.url).suffix, UNKNOWN_MEDIA),
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DataField:
    """A column of a table, or a key of JSON's lines; `repeated` of lists, `parts` of objects in them."""

    name: str
    data_type: DataType = DataType.TEXT
    description: str = ""
    repeated: bool = False
    parts: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """What the rows of one file are: `file` is its name, `key` the fields that tell rows apart."""

    name: str
    file: str
    fields: Sequence[DataField]
    description: str = ""
    key: Sequence[str] = ()

    def as_json(self) -> dict[str, object]:
        """Its `RecordSet`."""
        keys = [{"@id": f"{self.name}/{name}"} for name in self.key]
        return {
            "@type": "cr:RecordSet",
            "@id": self.name,
            "name": self.name,
            **({"description": self.description} if self.description else {}),
            **({"key": keys} if keys else {}),
            "field": [self._field(field) for field in self.fields],
        }

    def _field(self, field: DataField) -> dict[str, object]:
        # In the lines of JSON a column is a key, which loaders read by its name too.
        source = {"fileObject": {"@id": self.file}, "extract": {"column": field.name}}
        place = f"{self.name}/{field.name}"
        parts = [
            {
                "@type": "cr:Field",
                "@id": f"{place}/{part}",
                "name": part,
                "dataType": DataType.TEXT.value,
                "source": {**source, "transform": {"jsonPath": part}},
            }
            for part in field.parts
        ]
        return {
            "@type": "cr:Field",
            "@id": place,
            "name": field.name,
            **({"description": field.description} if field.description else {}),
            **({"repeated": True} if field.repeated else {}),
            **({"subField": parts} if parts else {"dataType": field.data_type.value, "source": source}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What the data is.

    Attributes:
        name: Short name.
        title: What readers see; the description begins with it.
        description: In sentences.
        licence: Under what the data may be used: its SPDX id, an address, or in words.
        url: Its page; empty where it has none.
        version: Of the data; a whole number, or of the form 1.2.3.
        published: The day, ISO.
        creators: Who made it.
        keywords: For search engines.
        cite_as: How to cite it.
        language: ISO 639-1 code of its texts; empty where it has none.
        files: Its files.
        tables: What the rows of its files are.
    """

    name: str
    title: str
    description: str
    licence: str
    url: str = ""
    version: str = ""
    published: str = ""
    creators: Sequence[str] = ()
    keywords: Sequence[str] = ()
    cite_as: str = ""
    language: str = ""
    files: Sequence[DataFile] = ()
    tables: Sequence[DataTable] = ()

    def as_json(self) -> dict[str, Any]:
        """The metadata as JSON-LD."""
        whole = {
            "@context": dict(CONTEXT),
            "@type": "sc:Dataset",
            "conformsTo": VERSION,
            "name": self.name,
            "alternateName": self.title,
            "description": self.description,
            "license": self.licence,
            "url": self.url,
            "version": self.version,
            "datePublished": self.published,
            "creator": [{"@type": "sc:Organization", "name": name} for name in self.creators],
            "keywords": list(self.keywords),
            "citeAs": self.cite_as,
            "inLanguage": self.language,
            "distribution": [file.as_json() for file in self.files],
            "recordSet": [table.as_json() for table in self.tables],
        }
        return {key: value for key, value in whole.items() if value not in ("", [])}
