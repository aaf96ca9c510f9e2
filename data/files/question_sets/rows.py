"""Conversion of questions from and to JSON, and the hash of a set."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from data.errors import ConflictError
from data.files.tables.rows import NUGGETS, Fields
from data.files.tables.values import id_text
from data.models import ENGLISH, ProblemList, Question, QuestionSet, Severity, Split

Item = TypeVar("Item", str, int)
STRING_LISTS = ("aspects", "short_answers", "sub_questions")
OWN_FIELDS = (*STRING_LISTS, "gold_doc_ids", "citation_numbers", "citations", NUGGETS, "answerable")
"""Columns that only tables of questions have."""
SPLITS = frozenset(split.value for split in Split)


def question_from_json(line: int, row: Mapping[str, object], problems: ProblemList) -> Question | None:
    """Convert a row to a question; None with problems."""
    fields = Fields(line, row, problems)
    values: dict[str, Any] = {
        "id": fields.id("id"),
        "domain": fields.id("domain"),
        "question": fields.text("question"),
        "reference": fields.optional("reference"),
        "passages": fields.passages("passages", "p"),
        **{name: fields.texts(name) for name in STRING_LISTS},
        "gold_doc_ids": fields.ids("gold_doc_ids"),
        "citation_numbers": _lists(fields, "citation_numbers", _whole_number, "whole numbers"),
        "citations": _lists(fields, "citations", id_text, "document ids, one for each sentence"),
        "nuggets": fields.nuggets(ungraded=Severity.WARNING),
        "split": _split(fields),
        "language": str(row.get("language") or ENGLISH),
        "answerable": _answerable(fields),
    }
    return None if fields.wrong else Question(**values)


def question_to_json(question: Question) -> dict[str, Any]:
    """Convert a question to JSON without empty fields."""
    row: dict[str, Any] = {
        "id": question.id,
        "domain": question.domain,
        "question": question.question,
        "reference": question.reference,
        "passages": [
            {"id": passage.id, **({"title": passage.title} if passage.title else {}), "text": passage.text}
            for passage in question.passages
        ],
        **{name: [*getattr(question, name)] for name in (*STRING_LISTS, "gold_doc_ids")},
        "citation_numbers": [*map(list, question.citation_numbers)],
        "citations": [*map(list, question.citations)],
        NUGGETS: [
            {"text": nugget.text, "importance": nugget.importance.value} if nugget.importance else nugget.text
            for nugget in question.nuggets
        ],
        "split": question.split.value,
        "language": None if question.language == ENGLISH else question.language,
        "answerable": None if question.answerable else False,
    }
    return {name: value for name, value in row.items() if value is not None and value != []}


def content_hash(questions: QuestionSet) -> str:
    """Return the sha256 of a set without its name, so that renamed copies have the same hash."""
    digest = hashlib.sha256()
    head = {
        "title": questions.title,
        "version": questions.version,
        "licence": questions.licence,
        "source": questions.source,
        "reference_name": questions.reference_name,
        "domains": dict(questions.domains),
    }
    # Fields that were added later: sets without them keep their hash.
    head.update(_further(questions))
    digest.update(_canonical(head))
    for question in questions.questions:
        digest.update(b"\n")
        digest.update(_canonical(question_to_json(question)))
    return digest.hexdigest()


def _further(questions: QuestionSet) -> dict[str, str]:
    language = "" if questions.language == ENGLISH else questions.language
    further = {"reference_by": questions.reference_by, "note": questions.note, "language": language}
    return {name: text for name, text in further.items() if text}


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _lists(
    fields: Fields, name: str, convert: Callable[[object], Item | None], what: str
) -> tuple[tuple[Item, ...], ...]:
    lists: list[tuple[Item, ...]] = []
    for value in fields.list(name):
        items = [convert(item) for item in value] if isinstance(value, list) else [None]
        if None in items or "" in items:
            fields.note("wrong-type", f"{name} is not a list of lists of {what}.")
            return ()
        lists.append(tuple(item for item in items if item is not None))
    return tuple(lists)


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _split(fields: Fields) -> Split:
    value = fields.row.get("split", Split.TEST.value)
    if isinstance(value, str) and value in SPLITS:
        return Split(value)
    fields.note("wrong-value", f"The split is {value!r}.", 'Use "test" or "dev".')
    return Split.TEST


def _answerable(fields: Fields) -> bool:
    value = fields.row.get("answerable")
    word = str(value).strip().casefold()
    if value is not None and word not in {"", "true", "false"}:
        fields.note("wrong-value", f"answerable is {value!r}.", "Use true or false.")
    return word != "false"


def domain_label(domain: str) -> str:
    """Return the default label of a domain."""
    return domain.replace("-", " ").replace("_", " ").capitalize()


def write_set(questions: QuestionSet, folder: Path) -> None:
    """Write `set.toml` and `questions.jsonl` into a folder; importing it gives the same content hash."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "set.toml").write_text(set_head(questions), encoding="utf-8")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for question in questions.questions:
            file.write(json.dumps(question_to_json(question), ensure_ascii=False) + "\n")


def require_unused(*places: Path) -> None:
    """Refuse to write next to files of another set, which an import would also read."""
    for place in places:
        if place.is_file() or (place.is_dir() and any(place.iterdir())):
            raise ConflictError(f"{place.parent} already contains a set.", advice="Choose an empty folder.")


def set_head(questions: QuestionSet) -> str:
    """Return the text of `set.toml`."""
    fields = ("name", "title", "version", "licence", "source", "reference_name")
    lines = [f"{name} = {_quoted(getattr(questions, name))}" for name in fields]
    lines += [f"{name} = {_quoted(text)}" for name, text in _further(questions).items()]
    lines += ["", "[domains]"]
    lines += [f"{_quoted(domain)} = {_quoted(label)}" for domain, label in questions.domains.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # A JSON string with escaped control characters is also a TOML basic string.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
