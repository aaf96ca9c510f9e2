"""Loading a question set from a folder or file, whichever of the known shapes it has."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from data.errors import FileFormatError, InvalidFileError, RecordError
from data.files.qrels import QrelsFile
from data.files.question_sets import lfrqa
from data.files.question_sets.beir import BeirFolder, is_beir
from data.files.question_sets.hugging_face import dataset_files, is_dataset, read_card
from data.files.question_sets.nuggets import with_nuggets
from data.files.question_sets.tables import read_question_tables
from data.files.question_sets.wikicontradict import HEAD, LABEL, NAME, is_wikicontradict, read_wikicontradict
from data.files.tabular.records import Make, each_record
from data.files.text_files import ReadLimits, decode, parse_json, read_lines, read_text
from data.records import (
    ENGLISH,
    Answer,
    Phase,
    Problem,
    ProblemList,
    Question,
    QuestionSet,
    SetPolicy,
    Severity,
)

HEAD_FIELDS = (
    "name",
    "title",
    "version",
    "licence",
    "source",
    "reference_name",
    "reference_by",
    "note",
    "language",
)
MOMENTS = ("opens_at", "closes_at")
NUMBERS = ("daily_quota", "total_quota", "file_mb", "answer_chars")
QUESTIONS = "questions"
NAMED = 10
HIDDEN = "hidden_references"
PUBLIC = "public_texts"
FLAGS = (HIDDEN, PUBLIC)


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """A set, the warnings met while loading it, and answers, policy and judgments where files have some."""

    questions: QuestionSet
    warnings: tuple[Problem, ...]
    answers: Mapping[str, Sequence[Answer]] = field(default_factory=lambda: MappingProxyType({}))
    policy: SetPolicy | None = None
    judgments: QrelsFile | None = None


def load_set(path: Path, *, name: str | None = None, limits: ReadLimits | None = None) -> LoadedSet:
    """Load a question set.

    `path` is a folder with `questions.jsonl` (and `set.toml`; without one, title and domains come
    from the questions; `nuggets.jsonl` gives them nuggets), a questions file, a folder of LFRQA annotation
    files, or one such file, a folder of RAG-QA Arena's `DOMAIN_references.json`, or one of them, a
    WikiContradict file, whose answers come with it, a folder of BEIR, whose judgments come with it, or one of
    a Hugging Face dataset in Parquet.

    Raises:
        InvalidFileError: The files have problems; all of them are listed.
        FileFormatError: There is nothing to load at `path`.
    """
    limits = limits or ReadLimits()
    if not path.exists():
        raise FileFormatError(f"There is no {path}.", advice="Check the path.", code="missing-file")
    if is_beir(path):
        return _load_beir(path, name, limits)
    if is_dataset(path) and not (path / "questions.jsonl").is_file():
        return _load_dataset(path, name, limits)
    files = sorted(entry for entry in path.iterdir() if entry.is_file()) if path.is_dir() else [path]
    annotated = [entry for entry in files if lfrqa.FILE.fullmatch(entry.name)]
    if annotated:
        return _load_lfrqa(path, annotated, name, limits)
    referenced = [entry for entry in files if lfrqa.REFERENCES.fullmatch(entry.name)]
    if referenced and not any(entry.name.startswith("questions.jsonl") for entry in files):
        return _load_references(path, referenced, name, limits)
    questions = [entry for entry in files if _is_questions_file(path, entry)]
    if len(questions) != 1:
        names = ", ".join(entry.name for entry in files[:NAMED]) or "nothing"
        message = f"{path.name or path} holds {len(questions)} files of questions; there are: {names}."
        advice = (
            "Name the one file of questions questions.jsonl (or .csv, .json, .xlsx), or bring LFRQA's "
            "annotation files, a folder of BEIR, or a Hugging Face dataset in Parquet."
        )
        raise FileFormatError(message, advice=advice, code="no-questions")
    if _begins_as_wikicontradict(questions[0], limits):
        return _load_wikicontradict(questions[0], name, limits)
    return _load_folder(path, questions[0], name, limits)


def _is_questions_file(path: Path, entry: Path) -> bool:
    return entry == path or entry.name.split(".")[0] == QUESTIONS


def _load_folder(path: Path, file: Path, name: str | None, limits: ReadLimits) -> LoadedSet:
    problems = ProblemList()
    default = (path if path.is_dir() else file).name.split(".")[0] or "questions"
    found = read_question_tables([file], default, limits, problems)
    found = with_nuggets(found, file.parent, limits, problems)
    return _with_head(path, file.parent, name, {}, found, limits, problems)


def _load_beir(path: Path, name: str | None, limits: ReadLimits) -> LoadedSet:
    problems = ProblemList()
    folder = BeirFolder(path, limits, problems)
    loaded = _with_head(path, path, name, {}, folder.questions(), limits, problems)
    return replace(loaded, judgments=folder.judgments())


def _load_dataset(path: Path, name: str | None, limits: ReadLimits) -> LoadedSet:
    problems = ProblemList()
    default = path.name.split(".")[0] or "questions"
    found = read_question_tables(dataset_files(path), default, limits, problems)
    folder = path if path.is_dir() else path.parent
    return _with_head(path, folder, name, read_card(path), found, limits, problems)


def _with_head(
    path: Path,
    folder: Path,
    name: str | None,
    known: Mapping[str, str],
    found: list[Question],
    limits: ReadLimits,
    problems: ProblemList,
) -> LoadedSet:
    """The set of some questions, with what `set.toml` says of it, else what is `known`."""
    head_file = folder / "set.toml"
    head: dict[str, Any] = _read_head(head_file, limits, problems) if head_file.exists() else dict(known)
    default = path.resolve().name if path.is_dir() else path.name.split(".")[0]
    domains = head.pop("domains", None) or {question.domain: _label(question.domain) for question in found}
    head.setdefault("name", default)
    head.setdefault("title", head["name"])
    if name is not None:
        head["name"] = name
    policy = _read_policy(head.pop("submissions", None), head["name"], problems)
    return replace(_finish(head, domains, found, problems, path), policy=policy)


def _read_policy(found: object, set_name: str, problems: ProblemList) -> SetPolicy | None:
    try:
        return read_policy(found, set_name, problems)
    except RecordError as error:
        problems.add(0, "bad-policy", error.message, advice=error.advice)
        return None


def _begins_as_wikicontradict(file: Path, limits: ReadLimits) -> bool:
    try:
        line, content = next(read_lines(file, limits), (0, b""))
        return is_wikicontradict(parse_json(decode(content, line), line))
    except FileFormatError:
        # Whoever reads the whole file says what is wrong with it.
        return False


def _load_wikicontradict(file: Path, name: str | None, limits: ReadLimits) -> LoadedSet:
    problems = ProblemList()
    found, answers = read_wikicontradict(file, limits, problems)
    loaded = _finish({**HEAD, "name": name or NAME}, {NAME: LABEL}, found, problems, file)
    return replace(loaded, answers=MappingProxyType(answers))


def _load_lfrqa(path: Path, files: list[Path], name: str | None, limits: ReadLimits) -> LoadedSet:
    problems = ProblemList()
    found: list[Question] = []
    domains: dict[str, str] = {}
    for file in files:
        matched = lfrqa.FILE.fullmatch(file.name)
        domain = matched.group(1) if matched else file.stem
        domains[domain] = lfrqa.LABELS.get(domain, _label(domain))
        rows = lfrqa.LfrqaRows(file, domain)
        found += _read_questions(file, limits, problems, rows.question)
        rows.report(problems)
    default = "lfrqa" if path.is_dir() or len(files) > 1 else f"lfrqa-{next(iter(domains))}"
    head = {**lfrqa.HEAD, "name": name or default}
    return _finish(head, domains, found, problems, path)


def _load_references(path: Path, files: list[Path], name: str | None, limits: ReadLimits) -> LoadedSet:
    problems = ProblemList()
    found = [question for file in files for question in lfrqa.read_references(file, limits, problems)]
    domains = {domain: lfrqa.LABELS.get(domain, _label(domain)) for domain in map(lfrqa.domain_of, files)}
    default = "lfrqa" if path.is_dir() or len(files) > 1 else f"lfrqa-{next(iter(domains))}"
    return _finish({**lfrqa.HEAD, "name": name or default}, domains, found, problems, path)


def _read_questions(
    file: Path,
    limits: ReadLimits,
    problems: ProblemList,
    read: Make[Question],
) -> list[Question]:
    found: list[Question] = []
    seen: dict[str, int] = {}
    for line, question in each_record(file, limits, read, problems):
        if question.id in seen:
            first = seen[question.id]
            message = f"{file.name}: question id {question.id!r} stands on line {first} already."
            problems.add(line, "duplicate-question", message, advice="Give every question its own id.")
            continue
        seen[question.id] = line
        found.append(question)
    return found


OVERALL = "overall"
"""What boards, rates and ratings call all domains together; no domain can have this id."""


def _read_head(file: Path, limits: ReadLimits, problems: ProblemList) -> dict[str, Any]:
    try:
        head = tomllib.loads(read_text(file, limits))
    except tomllib.TOMLDecodeError as error:
        problems.add(0, "bad-toml", f"set.toml is not TOML: {error}.", advice="Mend it where it says.")
        return {}
    except FileFormatError as error:
        problems.add(error.line, error.code, error.message, advice=error.advice)
        return {}
    unknown = sorted(set(head) - {*HEAD_FIELDS, "domains", "submissions"})
    for key in unknown:
        message = f"set.toml has a field {key!r} that nobody reads."
        problems.add(0, "unknown-field", message, severity=Severity.WARNING, advice="Remove it.")
    for key in HEAD_FIELDS:
        if key in head and not isinstance(head[key], str):
            problems.add(0, "wrong-type", f"{key} in set.toml is not a string.", advice="Quote it.")
    domains = head.get("domains", {})
    if not isinstance(domains, dict) or not all(isinstance(label, str) for label in domains.values()):
        problems.add(0, "wrong-type", "[domains] in set.toml does not map ids to labels.")
        head["domains"] = {}
    return {key: value for key, value in head.items() if key not in unknown}


def _finish(
    head: dict[str, Any],
    domains: dict[str, str],
    found: list[Question],
    problems: ProblemList,
    path: Path,
) -> LoadedSet:
    for domain in domains:
        if domain.casefold() == OVERALL:
            message = f"The domain {domain!r} is reserved: all domains together are called so."
            problems.add(0, "reserved-domain", message, advice="Give the domain another id.")
    _refuse_twins(found, problems)
    if not found and not problems.errors:
        problems.add(0, "empty-file", "There are no questions.", advice="Write at least one.")
    if not problems.errors:
        try:
            language = head.setdefault("language", ENGLISH)
            questions = QuestionSet(
                domains=domains,
                questions=tuple(replace(question, language=language) for question in found),
                **head,
            )
        except RecordError as error:
            problems.add(0, "bad-set", error.message, advice=error.advice)
        else:
            return LoadedSet(questions, problems.result())
    listed = problems.result()
    count = problems.errors
    message = f"{path.name} has {count} {'problem' if count == 1 else 'problems'}; nothing was imported."
    raise InvalidFileError(message, listed, advice="Mend them and import again.")


def _refuse_twins(found: Sequence[Question], problems: ProblemList) -> None:
    """Note ids that differ in white space around them or in their Unicode form, which look the same."""
    first: dict[str, str] = {}
    for question in found:
        other = first.setdefault(unicodedata.normalize("NFC", question.id).strip(), question.id)
        if other != question.id:
            message = f"The ids {other!a} and {question.id!a} look the same."
            problems.add(0, "duplicate-question", message, advice="Give every question its own id.")


def _label(domain: str) -> str:
    return domain.replace("-", " ").replace("_", " ").capitalize()


def read_policy(found: object, set_name: str, problems: ProblemList) -> SetPolicy | None:
    """The policy that a head of a set gives; None where it gives none, or has problems, which are noted."""
    if found is None:
        return None
    tables = found if isinstance(found, list) else [found]
    phases: list[Phase] = []
    hidden, public = False, True
    for table in tables:
        if not isinstance(table, dict):
            problems.add(
                0, "wrong-type", "submissions in set.toml is no table.", advice="Write [submissions]."
            )
            return None
        hidden = hidden or table.get(HIDDEN) is True
        public = public and table.get(PUBLIC) is not False
        wrong = [name for name, value in table.items() if not _fits(name, value)]
        if wrong:
            message = f"[submissions] in set.toml has unusable fields: {', '.join(sorted(wrong))}."
            advice = f"Use phase, {', '.join((*MOMENTS, *NUMBERS, *FLAGS))}; moments without quotes."
            problems.add(0, "bad-policy", message, advice=advice)
            return None
        if not table or not set(table) <= set(FLAGS):
            phases.append(_phase(table))
    try:
        return SetPolicy(
            set_name=set_name, phases=tuple(phases), hidden_references=hidden, public_texts=public
        )
    except RecordError as error:
        problems.add(0, "bad-policy", error.message, advice=error.advice)
        return None


def _fits(name: str, value: object) -> bool:
    if name == "phase":
        return isinstance(value, str) and bool(value)
    if name in MOMENTS:
        return isinstance(value, datetime)
    if name in FLAGS:
        return isinstance(value, bool)
    return name in NUMBERS and isinstance(value, int) and not isinstance(value, bool) and value > 0


def _phase(table: dict[str, Any]) -> Phase:
    fields = {name: table[name] for name in NUMBERS if name in table}
    for name in MOMENTS:
        if name in table:
            moment: datetime = table[name]
            fields[name] = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return Phase(name=table.get("phase", "open"), **fields)
