"""RAG-QA Arena's `DOMAIN_references.json`: questions, each with its reference as `faithful_answer`.

Source: Han et al. (2024), the repository's `data_processors`: `references[query]["faithful_answer"]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from data.errors import FileFormatError
from data.files.question_sets.rows import question_from_json
from data.files.text_files import ReadLimits, parse_json, read_text
from data.records import ProblemList, Question, Severity

FILE = re.compile(r"(?:([a-z0-9-]{1,40})_)?references\.json(?:\.gz)?")
ANSWER = "faithful_answer"
NO_DOMAIN = "questions"
SHORT = ("short_answers", "answers")
"""The names under which the short answers of a question are looked for, in this order."""


def domain_of(file: Path) -> str:
    """The domain that a file's name begins with."""
    matched = FILE.fullmatch(file.name)
    return (matched and matched.group(1)) or NO_DOMAIN


def read_references(file: Path, limits: ReadLimits, problems: ProblemList) -> Iterator[Question]:
    """The questions of a file; the id is the entry's `qid`, else the domain and its place in the file.

    An empty reference is a question without one, with a warning; what is wrong is noted.
    """
    try:
        payload = parse_json(read_text(file, limits), 0)
    except FileFormatError as error:
        problems.add(error.line, error.code, f"{file.name}: {error.message}", advice=error.advice)
        return
    if not isinstance(payload, dict):
        message = f"{file.name} is no object of questions."
        problems.add(0, "not-object", message, advice="Give the file as published.")
        return
    domain = domain_of(file)
    for number, (text, entry) in enumerate(payload.items(), 1):
        fields = entry if isinstance(entry, dict) else {ANSWER: entry}
        reference = fields.get(ANSWER)
        if not isinstance(reference, str):
            message = f"{file.name}: the question {text[:60]!r} has no {ANSWER}."
            problems.add(number, "missing-field", message, advice="Give the file as published.")
            continue
        if not reference.strip():
            message = (
                f"{file.name}: the question {text[:60]!r} has an empty {ANSWER} and is kept without one."
            )
            problems.add(number, "empty-reference", message, severity=Severity.WARNING)
        row = {
            "id": fields.get("qid") or f"{domain}-{number}",
            "domain": domain,
            "question": text,
            "reference": reference if reference.strip() else None,
            "short_answers": next((fields[name] for name in SHORT if fields.get(name)), []),
            "gold_doc_ids": fields.get("gold_doc_ids", []),
            "passages": fields.get("passages"),
        }
        question = question_from_json(number, row, problems)
        if question is not None:
            yield question
