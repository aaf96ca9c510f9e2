"""Files that controlled sets are built from: JSONL lines `{"id", "domain", "summary", "documents": […]}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from data.errors import InvalidFileError, RecordError
from data.files import ReadLimits
from data.jsonl import read_records
from data.records import Passage, ProblemList
from judges.context.controlled import Source

DOMAIN = "all"
ADVICE = 'Give {"id": "…", "domain": "…", "summary": "…", "documents": [{"id", "title", "text"}]}.'


def read_sources(path: Path, limits: ReadLimits) -> tuple[Source, ...]:
    """Read sources. A document is a text, or an object with `text` and, where it has them, `id` and `title`.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    found = read_records(path, limits, _source)
    problems = ProblemList()
    seen: set[str] = set()
    for source in found:
        if source.id in seen:
            problems.add(0, "duplicate-id", f"Two sources have the id {source.id!r}.")
        seen.add(source.id)
    if problems.errors:
        message = f"{path} has sources with one id."
        raise InvalidFileError(message, problems.result(), advice="Give every source an id of its own.")
    return found


def _source(line: int, row: object, problems: ProblemList) -> Source | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.", advice=ADVICE)
        return None
    key, domain, summary = row.get("id", f"s{line}"), row.get("domain", DOMAIN), row.get("summary")
    documents = row.get("documents")
    if not all(isinstance(value, str) and value.strip() for value in (key, domain, summary)):
        problems.add(line, "missing-field", "id, domain and summary are not all texts.", advice=ADVICE)
        return None
    whole = _documents(documents)
    if isinstance(whole, str):
        problems.add(line, "wrong-type", whole, advice=ADVICE)
        return None
    try:
        return Source(id=str(key), domain=str(domain), summary=str(summary), documents=whole)
    except RecordError as error:
        problems.add(line, "missing-field", error.message, advice=error.advice)
        return None


def _documents(value: object) -> tuple[Passage, ...] | str:
    """The documents, or what is wrong with them."""
    if not isinstance(value, list):
        return "documents is no list."
    read = [_document(place, one) for place, one in enumerate(value, start=1)]
    whole = tuple(document for document in read if document is not None)
    if len(whole) < len(read):
        return f"Document {read.index(None) + 1} has no text."
    if len({document.id for document in whole}) < len(whole):
        return "Two documents have one id."
    return whole


def _document(place: int, value: object) -> Passage | None:
    if isinstance(value, str):
        return Passage(f"d{place}", value)
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        return None
    name, title = value.get("id", f"d{place}"), value.get("title") or ""
    if not isinstance(name, str | int) or not isinstance(title, str):
        return None
    return Passage(str(name), value["text"], title)
