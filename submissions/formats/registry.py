"""Registry of formats of answers, which detect the tool of a row by its fields and read it.

Containers (JSONL, Parquet, …) are independent of formats. A new format is a module with `FORMATS` that is
listed in `MODULES`, or a plugin.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib import import_module
from types import MappingProxyType

from data.errors import FileFormatError, SpecError
from data.files.tables.rows import Row
from data.files.tables.values import texts_of
from data.models import Severity
from data.plugins import FileFormat, PluginEntries, PluginKind, describe_error, plugin_entries, plugin_files
from data.text import are, counted, have
from submissions.problem_codes import Code, Findings, listed, quoted
from submissions.question_index import QuestionIndex

ARENA, RAG_QA_ARENA = "arena", "rag-qa-arena"
"""Formats with native columns and with RAG-QA Arena's."""
FURTHER_COLUMNS = ("thinking", "retrieved_context_ids", "references", "topic_id", "metadata")
"""Columns in addition to `data.files.tables.columns.NAMES`."""
FIGURES = ("tokens", "usd", "milliseconds")
"""Reported costs of an answer."""
MODULES = (".harnesses",)
TEXTS = ("text", "thinking", "sample", "failed", "ended", "system", "variant", "test")
THOUGHT = "Thinking:"
"""Start of a text in which promptfoo joins a model's reasoning and answer."""
CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
FILTERED = frozenset({"content_filter", "refusal", "safety"})
MAX_REASONS = 5
MAX_NAME_LENGTH = 100
"""Maximum characters of a system's name (`data.models.questions.SYSTEM_NAME_PATTERN`)."""
Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAnswer:
    """Answer from a row of another tool.

    Attributes:
        ids: Candidate ids of the question, most reliable first.
        text: The question's text, or a prompt that contains it; may be empty.
        counted: The ids are row numbers of the tool, so they do not identify questions.
        reference: The correct answer; None if the row has none under our names.
        sample: Key of repeated requests, of which the first counts; empty if the tool never repeats.
        again: Whether repeats count as additional answers, as other epochs do.
        failed: Reason for a missing answer, such as the error; empty on success.
        ended: Stop reason in the words of the API.
        others: Further completions.
        further: Number of later turns.
        system: System, if one file of the tool may have several.
        variant: Variant of the system, such as its prompt.
        test: The question with all variables of its test, if several tests may share it.
    """

    ids: Sequence[object] = ()
    text: str = ""
    counted: bool = False
    answer: object = None
    contexts: object = None
    reference: object = None
    thinking: str = ""
    sample: str = ""
    again: bool = False
    failed: str = ""
    ended: str = ""
    others: Sequence[object] = ()
    further: int = 0
    system: str = ""
    variant: str = ""
    test: str = ""


Read = Callable[[Fields, QuestionIndex], NamedAnswer | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFormat(FileFormat):
    """Answer format of another tool, named in reports.

    Attributes:
        fits: Detects a row of the format.
        read: Reads a row; None if it has no answer. It may raise FileFormatError.
        repeats: The tool's word for repeated rows of a sample, such as `epochs`.
        log: Whether it is a log, whose other fields may have non-finite numbers.
        columns: Whether it uses native columns, so that a table must have the required ones.
        keys: Keys that identify a log in one JSON object.
        rows: Key of the rows in such a log.
        several: Whether one file may have rows of several systems.
    """

    fits: Callable[[Fields], bool]
    read: Read
    repeats: str = ""
    log: bool = True
    columns: bool = False
    keys: frozenset[str] = frozenset()
    rows: str = ""
    several: bool = False

    def __post_init__(self) -> None:
        functions: tuple[object, ...] = (self.fits, self.read)
        if not all(map(callable, functions)):
            raise SpecError(f"The format {self.name} needs the functions `fits` and `read`.")


def added_formats() -> PluginEntries[AnswerFormat]:
    """Return the formats of plugins."""
    reserved = {ARENA, RAG_QA_ARENA, *(entry.name for entry in _built_in())}
    return plugin_entries(PluginKind.FORMATS, AnswerFormat, reserved)


def answer_formats() -> Sequence[AnswerFormat]:
    """Return all formats in the order of detection, plugins last."""
    return (*_built_in(), *_of_plugins(plugin_files()))


@cache
def _built_in() -> tuple[AnswerFormat, ...]:
    return tuple(known for module in MODULES for known in import_module(module, __package__).FORMATS)


@lru_cache(maxsize=1)
def _of_plugins(_files: object) -> tuple[AnswerFormat, ...]:
    return tuple(replace(plugin, read=partial(_read_safely, plugin)) for plugin in added_formats().entries)


def _read_safely(plugin: AnswerFormat, row: Fields, index: QuestionIndex) -> NamedAnswer | None:
    try:
        named: object = plugin.read(row, index)
        if named is None or (
            isinstance(named, NamedAnswer)
            and isinstance(named.ids, list | tuple)
            and all(isinstance(getattr(named, field), str) for field in TEXTS)
        ):
            return named
        why = f"it returned {named!r:.80}, which is not a NamedAnswer of texts"
    except FileFormatError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
        why = describe_error(error)
    raise FileFormatError(f"The plugin format {plugin.name} failed: {why}.", code=Code.PLUGIN_FAILED)


def system_names(systems: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """Return distinct names for the systems of one file, with variants if there are several."""
    pairs = sorted(set(systems))
    several = len({variant for _, variant in pairs}) > 1
    names: dict[tuple[str, str], str] = {}
    for system, variant in pairs:
        words = ": ".join(filter(None, (system, variant)))
        whole = words[:MAX_NAME_LENGTH].rstrip() if several else system
        name, number = whole, 1
        while name in names.values():
            number += 1
            end = f" ({number})"
            name = f"{whole[: MAX_NAME_LENGTH - len(end)].rstrip()}{end}"
        names[system, variant] = name
    return names


def format_of(row: object, findings: Findings | None = None) -> AnswerFormat | None:
    """Return the format of a row; None for native or RAG-QA Arena's fields, and unknown ones.

    A plugin's format that fails to decide does not fit, which is reported once in `findings`.
    """
    if not isinstance(row, Mapping):
        return None
    for known in answer_formats():
        try:
            if known.fits(row):
                return known
        except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
            if findings is not None:
                findings.add_plugin(known.name, describe_error(error))
    return None


def logs() -> Mapping[frozenset[str], str]:
    """Return the keys of rows in JSON logs, by the keys that identify their tool."""
    return MappingProxyType({frozenset(known.keys): known.rows for known in answer_formats() if known.rows})


class LeftOut:
    """Counts omitted rows, and reports them at the end of the file.

    Further answers to a question are left out unless `keep_repeats`.
    """

    def __init__(self, findings: Findings, *, keep_repeats: bool = False) -> None:
        self._findings, self._keep_repeats = findings, keep_repeats
        self._samples: set[tuple[str, str, str]] = set()
        self._repeats: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._first_failed = 0
        self._further = self._cut = self._thoughts = 0

    def takes(self, row: Row, known: AnswerFormat, named: NamedAnswer) -> bool:
        """Return whether the row's answer counts."""
        cut, empty = named.ended in CUT, not str(named.answer or "").strip()
        failed = named.failed or (named.ended if named.ended in FILTERED or (cut and empty) else "")
        if failed:
            self._first_failed = self._first_failed or row.line
            self._failed[failed] += 1
            return False
        sample = (named.system, named.variant, named.sample)
        if named.sample and sample in self._samples and not (self._keep_repeats and named.again):
            self._repeats[known.repeats] += 1
            return False
        self._samples.add(sample)
        self._further += named.further + (0 if self._keep_repeats else len(named.others))
        self._cut += int(cut)
        return True

    def first_of(self, fields: Mapping[str, object], *, of_cells: bool) -> Mapping[str, object]:
        """Return a row with the first of its answers and references where it has lists; others are counted.

        `of_cells`: whether lists are strings, as in CSV.
        """
        for name in ("answer", "reference"):
            if texts := texts_of(fields.get(name), of_cell=of_cells):
                fields = {**fields, name: texts[0]}
                self._further += 0 if self._keep_repeats and name == "answer" else len(texts) - 1
        self._thoughts += str(fields.get("answer")).startswith(THOUGHT)
        return fields

    def close(self, *, answers: bool) -> None:
        """Report omitted rows; failed rows are an error if there are no `answers`."""
        for repeats, count in self._repeats.items():
            rows = f"{counted(count, 'row')} {are(count)} left out"
            message = f"{rows}: further {repeats} of samples that have an answer."
            self._findings.add(0, Code.LEFT_OUT, message, "The first of each sample counts.")
        if self._further:
            kinds = ("further completion, turn or reference", "further completions, turns or references")
            message = f"{counted(self._further, *kinds)} {are(self._further)} left out."
            self._findings.add(0, Code.LEFT_OUT, message, "The first of each counts.")
        if self._failed:
            count = self._failed.total()
            why = (f"{quoted(why)} ({number:,})" for why, number in self._failed.most_common())
            message = f"{counted(count, 'row')} {have(count)} no answer: {listed(why, MAX_REASONS)}."
            advice = "Run them again, or submit without them." if answers else "Run them again."
            severity = Severity.WARNING if answers else Severity.ERROR
            self._findings.add(self._first_failed, Code.FAILED_ROWS, message, advice, severity)
        if self._cut:
            message = f"{counted(self._cut, 'answer')} cut off at the token limit."
            self._findings.add(0, Code.CUT_ANSWERS, message, "Raise the limit and run again, or continue.")
        if self._thoughts:
            texts = counted(self._thoughts, "answer begins", "answers begin")
            message = f"{texts} with {THOUGHT!r}: a model's reasoning is judged too."
            advice = "In promptfoo, set showThinking: false for the provider, and run it again."
            self._findings.add(0, Code.THINKING, message, advice)
