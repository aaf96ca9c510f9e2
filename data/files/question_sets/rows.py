"""One line of a questions file: from JSON to a record and back, and the hash of a set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from data.errors import ConflictError
from data.files.question_sets.nuggets import NUGGETS, nugget_to_json, read_nuggets
from data.records import ENGLISH, Passage, ProblemList, Question, QuestionSet, Split

STRING_LISTS = ("aspects", "short_answers", "sub_questions")
SPLITS = frozenset(split.value for split in Split)


def question_from_json(line: int, row: object, problems: ProblemList) -> Question | None:
    """Make a question of one parsed line, noting every problem it has; None where it has one."""
    if not isinstance(row, Mapping):
        message = "This line is not a JSON object."
        problems.add(line, "not-object", message, advice='Write {"id": …, "domain": …, "question": …}.')
        return None
    before = problems.errors
    key, domain, text = (_required(line, row, name, problems) for name in ("id", "domain", "question"))
    reference = _optional_text(line, row, "reference", problems)
    passages = _passages(line, row.get("passages"), problems)
    aspects, short, subs = (_strings(line, row, name, problems) for name in STRING_LISTS)
    gold = tuple(str(value) for value in _list(line, row, "gold_doc_ids", problems))
    numbers = _citation_numbers(line, row, problems)
    citations = _citations(line, row, problems)
    nuggets = read_nuggets(line, row, problems)
    split = _split(line, row.get("split", Split.TEST.value), problems)
    if problems.errors > before:
        return None
    return Question(
        id=key,
        domain=domain,
        question=text,
        reference=reference,
        passages=passages,
        aspects=aspects,
        short_answers=short,
        sub_questions=subs,
        gold_doc_ids=gold,
        citation_numbers=numbers,
        citations=citations,
        nuggets=nuggets,
        split=split,
        language=str(row.get("language") or ENGLISH),
    )


def question_to_json(question: Question) -> dict[str, Any]:
    """Write a question as the object of one line; what is empty is left out."""
    row: dict[str, Any] = {"id": question.id, "domain": question.domain, "question": question.question}
    if question.reference is not None:
        row["reference"] = question.reference
    if question.passages:
        row["passages"] = [passage_to_json(passage) for passage in question.passages]
    for name in (*STRING_LISTS, "gold_doc_ids"):
        if values := getattr(question, name):
            row[name] = list(values)
    if question.citation_numbers:
        row["citation_numbers"] = [list(numbers) for numbers in question.citation_numbers]
    if question.citations:
        row["citations"] = [list(documents) for documents in question.citations]
    if question.nuggets:
        row[NUGGETS] = [nugget_to_json(nugget) for nugget in question.nuggets]
    row["split"] = question.split.value
    if question.language != ENGLISH:
        row["language"] = question.language
    return row


def passage_to_json(passage: Passage) -> dict[str, str]:
    """Write a passage; an empty title is left out."""
    row = {"id": passage.id, "text": passage.text}
    return {"id": passage.id, "title": passage.title, "text": passage.text} if passage.title else row


def content_hash(questions: QuestionSet) -> str:
    """The sha256 over everything in a set but its name, so that a renamed copy has the same hash."""
    digest = hashlib.sha256()
    head = {
        "title": questions.title,
        "version": questions.version,
        "licence": questions.licence,
        "source": questions.source,
        "reference_name": questions.reference_name,
        "domains": dict(questions.domains),
    }
    # Sets without these keep the hash that they had before there were such fields.
    language = "" if questions.language == ENGLISH else questions.language
    further = {"reference_by": questions.reference_by, "note": questions.note, "language": language}
    head.update({name: value for name, value in further.items() if value})
    digest.update(_canonical(head))
    for question in questions.questions:
        digest.update(b"\n")
        digest.update(_canonical(question_to_json(question)))
    return digest.hexdigest()


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _required(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> str:
    value = row.get(name)
    if isinstance(value, str) and value.strip():
        return value
    if name == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        problems.add(line, "missing-field", f"There is no {name}.", advice=f"Give every line its {name}.")
    elif isinstance(value, str):
        problems.add(line, "empty-field", f"The {name} is empty.", advice=f"Give every line its {name}.")
    else:
        problems.add(line, "wrong-type", f"The {name} is {_kind(value)}, not a string.")
    return ""


def _optional_text(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> str | None:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value or None
    problems.add(line, "wrong-type", f"The {name} is {_kind(value)}, not a string.")
    return None


def _list(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> list[object]:
    value = row.get(name)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    problems.add(line, "wrong-type", f"{name} is {_kind(value)}, not a list.")
    return []


def _strings(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> tuple[str, ...]:
    values = _list(line, row, name, problems)
    wrong = [value for value in values if not isinstance(value, str) or not value.strip()]
    if wrong:
        problems.add(line, "wrong-type", f"{name} holds {_kind(wrong[0])} where a text is expected.")
        return ()
    return tuple(value for value in values if isinstance(value, str))


def _citations(line: int, row: Mapping[str, object], problems: ProblemList) -> tuple[tuple[str, ...], ...]:
    citations = []
    for value in _list(line, row, "citations", problems):
        if not isinstance(value, list) or not all(map(_is_id, value)):
            message = (
                "citations is not a list of lists of document ids, one for each sentence of the reference."
            )
            problems.add(line, "wrong-type", message)
            return ()
        citations.append(tuple(map(str, value)))
    return tuple(citations)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _citation_numbers(
    line: int, row: Mapping[str, object], problems: ProblemList
) -> tuple[tuple[int, ...], ...]:
    values = _list(line, row, "citation_numbers", problems)
    numbers = []
    for value in values:
        if not isinstance(value, list) or not all(isinstance(number, int) for number in value):
            problems.add(line, "wrong-type", "citation_numbers is not a list of lists of whole numbers.")
            return ()
        numbers.append(tuple(value))
    return tuple(numbers)


def _passages(line: int, value: object, problems: ProblemList) -> tuple[Passage, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.add(line, "wrong-type", f"passages is {_kind(value)}, not a list.")
        return ()
    passages: list[Passage] = []
    for number, item in enumerate(value, start=1):
        entry = {"text": item} if isinstance(item, str) else item
        if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
            problems.add(line, "bad-passage", f"Passage {number} has no text.")
            continue
        title = entry.get("title") or ""
        if not isinstance(title, str):
            problems.add(line, "bad-passage", f"The title of passage {number} is {_kind(title)}.")
            continue
        passages.append(Passage(str(entry.get("id") or f"p{number}"), entry["text"], title))
    if len({passage.id for passage in passages}) != len(passages):
        problems.add(line, "duplicate-passage", "Two passages of one question have one id.")
    return tuple(passages)


def _split(line: int, value: object, problems: ProblemList) -> Split:
    if isinstance(value, str) and value in SPLITS:
        return Split(value)
    problems.add(line, "wrong-value", f"The split is {value!r}.", advice='Use "test" or "dev".')
    return Split.TEST


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def write_set(questions: QuestionSet, folder: Path) -> None:
    """Write `set.toml` and `questions.jsonl` into `folder`, which is made if missing.

    Importing the folder gives the same content hash.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "set.toml").write_text(set_head(questions), encoding="utf-8")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for question in questions.questions:
            file.write(json.dumps(question_to_json(question), ensure_ascii=False) + "\n")


def require_unused(*places: Path) -> None:
    """Refuse to write beside the files of another set, which an import would read as well.

    Raises:
        ConflictError: One of these is a file, or a folder that holds some.
    """
    for place in places:
        if place.is_file() or (place.is_dir() and any(place.iterdir())):
            raise ConflictError(f"{place.parent} holds a set already.", advice="Choose an empty folder.")


def set_head(questions: QuestionSet) -> str:
    """The text of `set.toml`."""
    fields = ("name", "title", "version", "licence", "source", "reference_name")
    lines = [f"{name} = {_quoted(getattr(questions, name))}" for name in fields]
    language = "" if questions.language == ENGLISH else questions.language
    further = {"reference_by": questions.reference_by, "note": questions.note, "language": language}
    lines += [f"{name} = {_quoted(text)}" for name, text in further.items() if text]
    lines += ["", "[domains]"]
    lines += [f"{_quoted(domain)} = {_quoted(label)}" for domain, label in questions.domains.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # A JSON string with escaped control characters is also a TOML basic string.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
