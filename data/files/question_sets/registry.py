"""Registry of formats of question sets.

A new format is a module with `FORMATS`, listed in `MODULES`, or a plugin.
"""

import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from data.errors import FileFormatError, InvalidFileError, NotFoundError, RecordError, SpecError
from data.files.question_sets.rows import domain_label, question_from_json
from data.files.strict_json import NULS_REPLACED, counting_nuls
from data.files.text_files import ReadLimits, read_text
from data.models import ENGLISH, Phase, Problem, ProblemList, Question, QuestionSet, SetPolicy, Severity
from data.models.questions import moment_of
from data.plugins import FileFormat, PluginEntries, PluginKind, describe_error, plugin_entries
from data.text import counted

MODULES = (".beir", ".lfrqa", ".tables")
"""Modules in the order of detection; the last accepts any single file, so plugins are tried before it."""
DOMAIN = "questions"
QUESTIONS = "questions"
MAX_NAMED = 10
Writer = Callable[[QuestionSet, Path], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDraft:
    """Question set as read from files, before it is checked as a whole.

    Attributes:
        head: Fields of the set: `name`, `title` and so on.
        published: Whether the head is complete, so that no `set.toml` is read.
        domains: Labels of domains; None for the default labels.
    """

    questions: Sequence[Question]
    head: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    published: bool = False
    domains: Mapping[str, str] | None = None


Parser = Callable[[Path, ReadLimits, ProblemList], SetDraft]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFormat(FileFormat):
    """Format of question sets; its name is a value of `--format`.

    Attributes:
        title: Description of the written files, for help texts.
        parse: Reads a folder or file and adds problems.
        read: Alternative to `parse`: returns questions as mappings with the fields of `questions.jsonl`.
        write: Writes a set into a folder; None if the format is read-only.
        endings: Suffixes of question set files, for file pickers.
    """

    title: str = ""
    fits: Callable[[Path], bool]
    parse: Parser | None = None
    read: Callable[[Path], Iterable[Mapping[str, object]]] | None = None
    write: Writer | None = None
    endings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        functions: tuple[object, ...] = (self.fits, self.parse or self.read)
        if not all(map(callable, functions)):
            raise SpecError(f"The format {self.name} needs the functions `fits` and `read`.")

    def drafted(self, path: Path, limits: ReadLimits, problems: ProblemList) -> SetDraft:
        """Read a folder or file and add the problems of its questions."""
        if self.parse is not None:
            return self.parse(path, limits, problems)
        try:
            rows = [{"domain": DOMAIN, **row} for row in self.read(path)] if self.read else []
        except (Exception, SystemExit) as error:  # others' code may raise anything
            message = f"The plugin format {self.name} failed: {describe_error(error)}."
            raise FileFormatError(message, advice="Correct the plugin.", code="plugin-failed") from error
        parsed = ((line, question_from_json(line, row, problems)) for line, row in enumerate(rows, start=1))
        questions = ((path.name, line, question) for line, question in parsed if question is not None)
        return SetDraft(questions=each_once(questions, problems))


def each_once(rows: Iterable[tuple[str, int, Question]], problems: ProblemList) -> list[Question]:
    """Return the questions; those with a repeated id are left out and added to `problems`."""
    questions: dict[str, Question] = {}
    lines: dict[str, int] = {}
    for file, line, question in rows:
        if question.id in questions:
            message = f"{file}: question id {question.id!r} is already on line {lines[question.id]}."
            problems.add(line, "duplicate-question", message, advice="Give every question its own id.")
        else:
            questions[question.id], lines[question.id] = question, line
    return list(questions.values())


@cache
def _built_in() -> tuple[SetFormat, ...]:
    return tuple(entry for module in MODULES for entry in import_module(module, __package__).FORMATS)


def added_set_formats() -> PluginEntries[SetFormat]:
    """Return the formats of plugins."""
    return plugin_entries(PluginKind.FORMATS, SetFormat, [entry.name for entry in _built_in()])


def set_formats() -> tuple[SetFormat, ...]:
    """Return all formats, plugins last."""
    return (*_built_in(), *added_set_formats().entries)


def set_writer(name: str, *, others: Iterable[str] = ()) -> Writer:
    """Return the writer of a format; the error also lists the formats `others`."""
    writers = {entry.name: entry.write for entry in set_formats() if entry.write}
    if name not in writers:
        advice = " ".join((f"Use one of: {', '.join((*writers, *others))}.", *added_set_formats().problems))
        raise NotFoundError(f"Question sets cannot be written as {name!r}.", advice=advice)
    return writers[name]


def listed_set_formats() -> str:
    """Return the names of all formats, for help texts."""
    return ", ".join(f"`{entry.name}`" for entry in set_formats())


def described_set_formats() -> str:
    """Return the names and titles of writable formats, for help texts."""
    return ", ".join(f"`{entry.name}` ({entry.title})" for entry in set_formats() if entry.write)


def format_at(path: Path, problems: ProblemList) -> SetFormat:
    """Return the format of a folder or file; failing plugins are warnings."""
    *first, last = _built_in()
    match = next((entry for entry in first if entry.fits(path)), None)
    # Any single file is ours unless another format fits, so plugins are tried first.
    if match is None and not named_files(path):
        match = next((entry for entry in added_set_formats().entries if _claims(entry, path, problems)), None)
    if match is not None:
        return match
    if last.fits(path):
        return last
    names = ", ".join(entry.name for entry in files_of(path)[:MAX_NAMED]) or "nothing"
    message = f"{path.name or path} contains {len(named_files(path))} question files: {names}."
    advice = (
        "Name the question file questions.jsonl (or .csv, .json, .xlsx), or use LFRQA's annotation files or "
        "a BEIR folder."
    )
    advice = " ".join((advice, *added_set_formats().problems))
    raise FileFormatError(message, advice=advice, code="no-questions")


def _claims(entry: SetFormat, path: Path, problems: ProblemList) -> bool:
    try:
        return bool(entry.fits(path))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
        message = f"The plugin format {entry.name} was not tried: {describe_error(error)}."
        problems.add(0, "plugin-failed", message, severity=Severity.WARNING, advice="Correct the plugin.")
        return False


def files_of(path: Path) -> list[Path]:
    """Return the files of a folder by name, or the file itself."""
    return sorted(entry for entry in path.iterdir() if entry.is_file()) if path.is_dir() else [path]


def named_files(path: Path) -> list[Path]:
    """Return the files named `questions.jsonl`, `questions.csv`, and so on."""
    return [entry for entry in files_of(path) if entry.name.split(".")[0] == QUESTIONS]


def questions_file(path: Path) -> Path | None:
    """Return the only question file in a folder, or the file itself."""
    files = named_files(path) if path.is_dir() else [path]
    return files[0] if len(files) == 1 else None


HEAD_FIELDS = (
    *("name", "title", "version", "licence", "source"),
    *("reference_name", "reference_by", "note", "language"),
)
MOMENTS = ("opens_at", "closes_at")
NUMBERS = ("daily_quota", "total_quota", "file_mb", "answer_chars")
HIDDEN = "hidden_references"
PUBLIC = "public_texts"
FLAGS = (HIDDEN, PUBLIC)


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """Set with warnings, and the policy if `set.toml` has one."""

    questions: QuestionSet
    warnings: tuple[Problem, ...]
    policy: SetPolicy | None = None


def load_set(path: Path, *, name: str | None = None, limits: ReadLimits | None = None) -> LoadedSet:
    """Load a question set from a folder or file of a known format.

    Name, title and domains come from `set.toml`, else from the format or the questions.
    """
    limits = limits or ReadLimits()
    if not path.exists():
        raise FileFormatError(f"There is no {path}.", advice="Check the path.", code="missing-file")
    problems = ProblemList()
    with counting_nuls() as nuls:
        draft = format_at(path, problems).drafted(path, limits, problems)
    if nuls:
        message = NULS_REPLACED.format(sum(nuls.values()))
        problems.add(0, "nul-characters", message, severity=Severity.WARNING)
    file = (path if path.is_dir() else path.parent) / "set.toml"
    has_head = not draft.published and file.exists()
    head: dict[str, Any] = _read_head(file, limits, problems) if has_head else dict(draft.head)
    head.setdefault("name", path.resolve().name if path.is_dir() else path.name.split(".")[0])
    head.setdefault("title", head["name"])
    if name is not None:
        head["name"] = name
    policy = _read_policy(head.pop("submissions", None), head["name"], problems)
    return replace(_finish(head, draft, problems, path), policy=policy)


OVERALL = "overall"
"""Name of all domains together on boards, in rates and in ratings; reserved."""


def _read_head(file: Path, limits: ReadLimits, problems: ProblemList) -> dict[str, Any]:
    try:
        head = tomllib.loads(read_text(file, limits))
    except tomllib.TOMLDecodeError as error:
        problems.add(0, "bad-toml", f"set.toml is not TOML: {error}.", advice="Correct it there.")
        return {}
    except FileFormatError as error:
        problems.note(error)
        return {}
    unknown = sorted(set(head) - {*HEAD_FIELDS, "domains", "submissions"})
    for key in unknown:
        message = f"set.toml has an unknown field {key!r}."
        problems.add(0, "unknown-field", message, severity=Severity.WARNING, advice="Remove it.")
    for key in HEAD_FIELDS:
        if key in head and not isinstance(head[key], str):
            problems.add(0, "wrong-type", f"{key} in set.toml is not a string.", advice="Quote it.")
    domains = head.get("domains", {})
    if not isinstance(domains, dict) or not all(isinstance(label, str) for label in domains.values()):
        problems.add(0, "wrong-type", "[domains] in set.toml does not map ids to labels.")
        head["domains"] = {}
    return {key: value for key, value in head.items() if key not in unknown}


def _finish(head: dict[str, Any], draft: SetDraft, problems: ProblemList, path: Path) -> LoadedSet:
    questions = draft.questions
    own = {question.domain: domain_label(question.domain) for question in questions}
    domains = head.pop("domains", None) or draft.domains or own
    for domain in domains:
        if domain.casefold() == OVERALL:
            message = f"The domain {domain!r} is reserved for all domains together."
            problems.add(0, "reserved-domain", message, advice="Choose another id for the domain.")
    _refuse_twins(questions, problems)
    if not questions and not problems.errors:
        problems.add(0, "empty-file", "There are no questions.", advice="Add at least one.")
    if not problems.errors:
        try:
            language = head.setdefault("language", ENGLISH)
            question_set = QuestionSet(
                domains=domains,
                questions=tuple(replace(question, language=language) for question in questions),
                **head,
            )
        except RecordError as error:
            problems.add(0, "bad-set", error.message, advice=error.advice)
        else:
            return LoadedSet(question_set, problems.result())
    message = f"{path.name} has {counted(problems.errors, 'problem')}; nothing was imported."
    raise InvalidFileError(message, problems.result(), advice="Correct them and import again.")


def _refuse_twins(questions: Sequence[Question], problems: ProblemList) -> None:
    first: dict[str, str] = {}
    for question in questions:
        other = first.setdefault(unicodedata.normalize("NFC", question.id).strip(), question.id)
        if other != question.id:
            message = f"The ids {other!a} and {question.id!a} look the same."
            problems.add(0, "duplicate-question", message, advice="Give every question its own id.")


def _read_policy(submissions: object, set_name: str, problems: ProblemList) -> SetPolicy | None:
    if submissions is None:
        return None
    tables: list[Any] = submissions if isinstance(submissions, list) else [submissions]
    if not all(isinstance(table, dict) for table in tables):
        message = "submissions in set.toml is not a table."
        problems.add(0, "wrong-type", message, advice="Write [submissions].")
        return None
    wrong = {name for table in tables for name, value in table.items() if not _fits(name, value)}
    if wrong:
        message = f"[submissions] in set.toml has invalid fields: {', '.join(sorted(wrong))}."
        advice = f"Use phase, {', '.join((*MOMENTS, *NUMBERS, *FLAGS))}; times without quotes."
        problems.add(0, "bad-policy", message, advice=advice)
        return None
    try:
        return SetPolicy(
            set_name=set_name,
            phases=tuple(_phase(table) for table in tables if not table or not set(table) <= set(FLAGS)),
            hidden_references=any(table.get(HIDDEN) is True for table in tables),
            public_texts=all(table.get(PUBLIC) is not False for table in tables),
        )
    except RecordError as error:
        problems.add(0, "bad-policy", error.message, advice=error.advice)
        return None


def _fits(name: str, value: object) -> bool:
    if name == "phase":
        return isinstance(value, str) and bool(value)
    if name in MOMENTS:
        return isinstance(value, date)
    if name in FLAGS:
        return isinstance(value, bool)
    return name in NUMBERS and isinstance(value, int) and not isinstance(value, bool) and value > 0


def _phase(table: dict[str, Any]) -> Phase:
    fields: dict[str, Any] = {name: table[name] for name in NUMBERS if name in table}
    fields |= {name: moment_of(table[name], closes=name == "closes_at") for name in MOMENTS if name in table}
    return Phase(name=table.get("phase", "open"), **fields)
