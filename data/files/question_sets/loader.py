"""Loading a question set from a folder or file, whichever of the known shapes it has."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data.errors import FileFormatError, InvalidFileError, RecordError
from data.files.question_sets.registry import SetDraft, format_at
from data.files.question_sets.rows import domain_label
from data.files.text_files import ReadLimits, read_text
from data.models import (
    ENGLISH,
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
HIDDEN = "hidden_references"
PUBLIC = "public_texts"
FLAGS = (HIDDEN, PUBLIC)


@dataclass(frozen=True, slots=True)
class LoadedSet:
    """A set, the warnings met while loading it, and the policy where `set.toml` has one."""

    questions: QuestionSet
    warnings: tuple[Problem, ...]
    policy: SetPolicy | None = None


def load_set(path: Path, *, name: str | None = None, limits: ReadLimits | None = None) -> LoadedSet:
    """Load a question set from a folder or file of a known format.

    What a set is called stands in `set.toml`; without one, title and domains come from the format, else from
    the questions.

    Raises:
        InvalidFileError: The files have problems; all of them are listed.
        FileFormatError: There is nothing to load at `path`.
    """
    limits = limits or ReadLimits()
    if not path.exists():
        raise FileFormatError(f"There is no {path}.", advice="Check the path.", code="missing-file")
    problems = ProblemList()
    draft = format_at(path, problems).drafted(path, limits, problems)
    file = (path if path.is_dir() else path.parent) / "set.toml"
    read = not draft.published and file.exists()
    head: dict[str, Any] = _read_head(file, limits, problems) if read else dict(draft.head)
    head.setdefault("name", path.resolve().name if path.is_dir() else path.name.split(".")[0])
    head.setdefault("title", head["name"])
    if name is not None:
        head["name"] = name
    policy = _read_policy(head.pop("submissions", None), head["name"], problems)
    return replace(_finish(head, draft, problems, path), policy=policy)


def _read_policy(found: object, set_name: str, problems: ProblemList) -> SetPolicy | None:
    try:
        return read_policy(found, set_name, problems)
    except RecordError as error:
        problems.add(0, "bad-policy", error.message, advice=error.advice)
        return None


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


def _finish(head: dict[str, Any], draft: SetDraft, problems: ProblemList, path: Path) -> LoadedSet:
    found = draft.questions
    own = {question.domain: domain_label(question.domain) for question in found}
    domains = head.pop("domains", None) or draft.domains or own
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
