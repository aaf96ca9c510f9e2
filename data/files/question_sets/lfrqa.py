"""LFRQA's published files: annotations with citations, a file per domain, and RAG-QA Arena's references.

In `annotations_DOMAIN_with_citation.jsonl`, `faithful_answer_w_citation` is the reference with a bracket such
as `[1, 3]` after each sentence, whose numbers are positions in `gold_doc_ids`, from 1. A row may have
RobustQA's short answers as `short_answers`. In `DOMAIN_references.json` each question has its reference as
`faithful_answer`.

Source: Han et al. (2024), the repository's `data_processors`: `references[query]["faithful_answer"]`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from data.errors import FileFormatError
from data.files.question_sets.registry import SetDraft, SetFormat, each_once, files_of, named_files
from data.files.question_sets.rows import domain_label, question_from_json
from data.files.strict_json import parse_json
from data.files.tables.reader import each_record
from data.files.text_files import ReadLimits, read_text
from data.models import PEOPLE, ProblemList, Question, Severity
from data.text import counted

FILE = re.compile(r"annotations_([a-z0-9-]+)_with_citation\.jsonl(\.gz)?")
LABELS = {
    "bioasq": "Biomedical",
    "fiqa": "Finance",
    "lifestyle": "Lifestyle",
    "recreation": "Recreation",
    "science": "Science",
    "technology": "Technology",
    "writing": "Writing",
}
HEAD = {
    "title": "LFRQA (Long-form RobustQA)",
    "licence": "Apache-2.0",
    "source": "RAG-QA Arena, Han et al. (2024)",
    "reference_name": "LFRQA",
    "reference_by": PEOPLE,
}
# Some brackets are not closed, or contain a stray asterisk or full stop.
_BRACKET = re.compile(r"\[[\d\s*,.;]{1,400}(?:\]|$)")
_NUMBER = re.compile(r"\d+")
_NO_LETTER = re.compile(r"[\W\d_]+")
_MAX_NAMED = 5
Citations = tuple[tuple[str, ...], ...]
REFERENCES = re.compile(r"(?:([a-z0-9-]{1,40})_)?references\.json(?:\.gz)?")
REFERENCE = "faithful_answer"
SHORT = ("short_answers", "answers")
"""Names of the short answers field, in order of preference."""


class _Rows:
    """Converter of a file's rows to questions, which counts skipped citations."""

    def __init__(self, file: Path, domain: str) -> None:
        self._file, self._domain = file, domain
        self._left_out: list[str] = []
        self._first_line = 0

    def question(self, line: int, row: Mapping[str, object], problems: ProblemList) -> Question | None:
        """Convert a row to a question with the id `{domain}-{qid}`; an empty reference is a warning."""
        qid = row.get("qid")
        if not isinstance(qid, int | str) or isinstance(qid, bool):
            problems.add(line, "missing-field", "The qid is missing.", advice="Use the published file.")
            return None
        answer = row.get("answer")
        empty = isinstance(answer, str) and not answer.strip()
        if empty:
            message = f"Question {qid} has an empty reference and is kept without one."
            problems.add(line, "empty-reference", message, severity=Severity.WARNING)
        translated = {
            "id": f"{self._domain}-{qid}",
            "domain": self._domain,
            "question": row.get("question"),
            "reference": None if empty else answer,
            "short_answers": row.get("short_answers", []),
            "gold_doc_ids": row.get("gold_doc_ids", []),
            "citation_numbers": row.get("citation_numbers", []),
            "citations": [] if empty else self._citations(line, row),
        }
        return question_from_json(line, translated, problems)

    def report(self, problems: ProblemList) -> None:
        count = len(self._left_out)
        names = ", ".join(self._left_out[:_MAX_NAMED])
        more = f" and {count - _MAX_NAMED:,} more" if count > _MAX_NAMED else ""
        message = f"{self._file.name}: citations that do not match the reference or a document are skipped "
        message += f"for {counted(count, 'question')}: {names}{more}."
        if count:
            problems.add(self._first_line, "citations-left-out", message, severity=Severity.WARNING)

    def _citations(self, line: int, row: Mapping[str, object]) -> list[list[str]]:
        text, answer = row.get("faithful_answer_w_citation"), row.get("answer")
        documents = row.get("gold_doc_ids")
        citations = None
        if isinstance(text, str) and isinstance(answer, str) and isinstance(documents, list):
            citations = citations_of(text, answer, [str(document) for document in documents])
        if citations is None:
            self._first_line = self._first_line or line
            self._left_out.append(str(row.get("qid")))
        return [list(documents) for documents in citations or ()]


def citations_of(cited: str, reference: str, documents: Sequence[str]) -> Citations | None:
    """Return the documents that each sentence of a reference cites, by their numbers in brackets, from 1.

    A sentence ends with its brackets, or with its line if it has none. None if the words of the two texts
    differ or a number has no document.
    """
    sentences = [sentence for line in cited.splitlines() for sentence in _sentences(line)]
    if _letters("".join(text for text, _ in sentences)) != _letters(reference):
        return None
    if not all(0 < number <= len(documents) for _, numbers in sentences for number in numbers):
        return None
    return tuple(
        tuple(documents[number - 1] for number in dict.fromkeys(numbers)) for _, numbers in sentences
    )


def _sentences(line: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the sentences of a line with their numbers; adjacent brackets belong together."""
    sentence, numbers, start = "", list[int](), 0
    for bracket in _BRACKET.finditer(line):
        cited = [int(number) for number in _NUMBER.findall(bracket.group())]
        if not cited:
            continue
        before = line[start : bracket.start()]
        if numbers and _letters(before):
            yield sentence, numbers
            sentence, numbers = "", []
        sentence, numbers, start = sentence + before, numbers + cited, bracket.end()
    rest = line[start:]
    if numbers:
        yield sentence, numbers
        sentence = ""
    if _letters(rest):
        yield rest, []


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text)


def domain_of(file: Path) -> str:
    """Return the domain at the start of a file's name."""
    matched = REFERENCES.fullmatch(file.name)
    return (matched and matched.group(1)) or "questions"


def read_references(file: Path, limits: ReadLimits, problems: ProblemList) -> Iterator[Question]:
    """Yield the questions of a file; ids are `qid`, else the domain and the position in the file.

    An empty reference is a warning.
    """
    try:
        payload = parse_json(read_text(file, limits), 0)
    except FileFormatError as error:
        problems.note(error, file.name)
        return
    if not isinstance(payload, dict):
        message = f"{file.name} is not a JSON object of questions."
        problems.add(0, "not-object", message, advice="Use the published file.")
        return
    domain = domain_of(file)
    for number, (text, entry) in enumerate(payload.items(), 1):
        fields = entry if isinstance(entry, dict) else {REFERENCE: entry}
        reference = fields.get(REFERENCE)
        if not isinstance(reference, str):
            message = f"{file.name}: the question {text[:60]!r} has no {REFERENCE}."
            problems.add(number, "missing-field", message, advice="Use the published file.")
            continue
        if not reference.strip():
            message = (
                f"{file.name}: the question {text[:60]!r} has an empty {REFERENCE} and is kept without one."
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


def _annotated(path: Path) -> list[Path]:
    return [file for file in files_of(path) if FILE.fullmatch(file.name)]


def _referenced(path: Path) -> list[Path]:
    return [] if named_files(path) else [file for file in files_of(path) if REFERENCES.fullmatch(file.name)]


def _parse(path: Path, limits: ReadLimits, problems: ProblemList) -> SetDraft:
    questions: list[Question] = []
    domains: dict[str, str] = {}
    files = _annotated(path)
    for file in files or _referenced(path):
        matched = FILE.fullmatch(file.name)
        domain = matched.group(1) if matched else domain_of(file)
        domains[domain] = LABELS.get(domain, domain_label(domain))
        if not files:
            questions += read_references(file, limits, problems)
            continue
        rows = _Rows(file, domain)
        records = each_record(file, limits, rows.question, problems)
        questions += each_once(((file.name, *record) for record in records), problems)
        rows.report(problems)
    default = "lfrqa" if path.is_dir() else f"lfrqa-{next(iter(domains))}"
    return SetDraft(questions=questions, head={**HEAD, "name": default}, published=True, domains=domains)


FORMATS = (
    SetFormat(name="lfrqa", fits=lambda path: bool(_annotated(path) or _referenced(path)), parse=_parse),
)
