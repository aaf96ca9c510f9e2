"""Readers of items to score, of passages, and of RAG-QA Arena's vote files (docs/design.md)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from data.errors import FileFormatError
from data.files.question_sets.lfrqa import LABELS
from data.files.strict_json import parse_json
from data.files.tables.reader import read_records
from data.files.tables.rows import Fields
from data.files.tables.values import has_value, id_text
from data.files.text_files import ReadLimits, read_text
from data.models import HumanLabel, MetricItem, Passage, ProblemList


@dataclass(frozen=True, slots=True)
class QuestionPassages:
    """Passages of a question, which is identified by its id or text."""

    question: str
    passages: tuple[Passage, ...]
    line: int


LISTS = ("aspects", "sub_questions", "short_answers")
LIST_CELLS = frozenset({*LISTS, "passages", "contexts", "nuggets"})
EMPTY_ITEMS_STAY = ("passages",)
"""Columns that keep their names: passages of a question are not contexts of an answer."""


def read_items(path: Path, limits: ReadLimits) -> tuple[MetricItem, ...]:
    """Read the answers of a file."""
    return read_records(path, limits, _item, ours=True, lists=LIST_CELLS, keep=EMPTY_ITEMS_STAY)


def read_passages(path: Path, limits: ReadLimits) -> tuple[QuestionPassages, ...]:
    """Read passages by `question_id` or `query`, as in RAG-QA Arena's predictions."""
    return read_records(path, limits, _question_passages, ours=True, lists=LIST_CELLS)


def _question_passages(
    line: int, row: Mapping[str, object], problems: ProblemList
) -> QuestionPassages | None:
    fields = Fields(line, row, problems)
    name = fields.id("question_id", "question")
    if not isinstance(row.get("contexts"), list):
        fields.note("missing-field", "The list of passages is missing.")
    passages = fields.passages("contexts", "p")
    return None if fields.wrong else QuestionPassages(name, passages, line)


def _item(line: int, row: Mapping[str, object], problems: ProblemList) -> MetricItem | None:
    fields = Fields(line, row, problems)
    has_id = any(has_value(row.get(name)) for name in ("id", "question_id"))
    item = MetricItem(
        id=fields.id("id", "question_id") if has_id else str(line),
        question=fields.text("question", blank=True),
        answer=fields.text("answer", blank=True),
        passages=fields.passages("passages", "p"),
        contexts=fields.passages("contexts", "c"),
        reference=fields.optional("reference"),
        aspects=fields.texts("aspects"),
        sub_questions=fields.texts("sub_questions"),
        short_answers=fields.texts("short_answers"),
        nuggets=fields.nuggets(),
        domain=id_text(row.get("domain")) or "",
    )
    return None if fields.wrong else item


JUDGED = "*_eval_by_*.json"
VOTES = ("raw", "preferences", "votes", "labels")
"""Names of the votes field, in order of preference."""
TEXTS = ("query", "response_1", "response_2")
WORDS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("tie", "not sure", "0"), 0.0)
    | dict.fromkeys(("a", "1", "slightly better"), -1.0)
    | dict.fromkeys(("b", "2", "slightly worse"), 1.0)
    | {"better": -2.0, "worse": 2.0}
)
_ADVICE = f"Put the published files {JUDGED} into its folder."
Row = Mapping[str, Any]


def read_evaluations(
    path: Path, limits: ReadLimits, *, systems: Collection[str] | None = None
) -> tuple[HumanLabel, ...] | None:
    """Read RAG-QA Arena's vote file as labels; None if the file has another format.

    With names of `systems`, question and systems are parsed from the keys of pairs, and texts are optional.
    """
    rows = _rows_of(path, limits)
    if rows is None:
        return None
    problems = ProblemList()
    names = None if systems is None else _named_pairs(rows, systems)
    labels = tuple(label for key, row in rows for label in _labels(key, row, problems, names))
    if not labels and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} contains no votes.", advice="Use the published file.")
    problems.require_none(str(path))
    return labels


def _rows_of(path: Path, limits: ReadLimits) -> list[tuple[str, Row]] | None:
    payload = _document(path, limits)
    if not isinstance(payload, dict) or not payload:
        return None
    if all(isinstance(payload.get(name), list) for name in TEXTS):
        return list(_of_columns(path, payload))
    if all(isinstance(entry, dict) and {"majority", "raw"} & entry.keys() for entry in payload.values()):
        rows = _judged_rows(path, limits)
        return [(key, {**rows.get(key, {}), **entry}) for key, entry in payload.items()]
    return None


def _document(path: Path, limits: ReadLimits) -> Any:  # noqa: ANN401 - untrusted JSON is of any shape
    """Return the JSON document of a file, or None."""
    if path.name.removesuffix(".gz").endswith(".json"):
        with suppress(FileFormatError):  # The reader of lines reports it.
            return parse_json(read_text(path, limits), 0)
    return None


def _of_columns(path: Path, columns: Mapping[str, object]) -> Iterator[tuple[str, Row]]:
    lists = {name: values for name, values in columns.items() if isinstance(values, list)}
    lengths = {len(values) for values in lists.values()}
    if len(lengths) > 1:
        counts = ", ".join(f"{name} {len(values)}" for name, values in lists.items())
        raise FileFormatError(
            f"{path.name} has columns of different lengths: {counts}.", advice="Use the published file."
        )
    for number in range(lengths.pop()):
        row = {name: values[number] for name, values in lists.items()}
        yield str(row.get("pair_id", row.get("id", number + 1))), row


def _judged_rows(path: Path, limits: ReadLimits) -> Mapping[str, Row]:
    rows: dict[str, Row] = {}
    for file in sorted(path.parent.glob(JUDGED)):
        records = _document(file, limits)
        for record in records if isinstance(records, list) else ():
            if isinstance(record, dict) and "pair_id" in record:
                rows.setdefault(str(record["pair_id"]), record)
    return rows


def _labels(
    key: str, row: Row, problems: ProblemList, names: Mapping[str, Sequence[str]] | None
) -> Iterator[HumanLabel]:
    texts = [row.get("query"), *_answers(row)]
    question_id, *systems = ("", *_systems(row)) if names is None else names.get(key, ("", "", ""))
    if names is not None and not question_id:
        problems.add(0, "missing-field", f"The key {key} does not name a question and two systems.")
        return
    if names is None and not all(isinstance(text, str) and text.strip() for text in texts):
        problems.add(0, "missing-field", f"The pair {key} has no question or answers.", advice=_ADVICE)
        return
    votes, people = _votes(row), row.get("annotators")
    if isinstance(people, list) and len(people) != len(votes):
        message = f"The pair {key} has {len(votes)} votes and {len(people)} annotators."
        problems.add(0, "wrong-value", message)
        return
    domain = key.partition("_")[0]
    reference = row.get("reference")
    for place, vote in enumerate(votes):
        label = _label(vote, systems)
        if label is None:
            expected = ", ".join([*filter(None, systems), "Tie", "1, 2, 0", "a grade from Better to Worse"])
            message = f"The pair {key} has the vote {vote!r}."
            problems.add(0, "wrong-value", message, advice=f"One of these is expected: {expected}.")
            continue
        yield HumanLabel(
            id=key,
            question_id=question_id,
            domain=domain if domain in LABELS else "",
            question=str(texts[0] or ""),
            answer_a=str(texts[1] or ""),
            answer_b=str(texts[2] or ""),
            label=label,
            reference=reference if isinstance(reference, str) and reference else None,
            system_a=systems[0].replace("/", "-"),
            system_b=systems[1].replace("/", "-"),
            annotator=str(people[place]) if isinstance(people, list) else f"annotator-{place + 1}",
        )


def _named_pairs(rows: Sequence[tuple[str, Row]], systems: Collection[str]) -> Mapping[str, Sequence[str]]:
    votes = {str(vote) for _, row in rows for vote in _votes(row)}
    names = {*systems, *(vote for vote in votes if vote.lower() not in WORDS)}
    pairs: dict[str, Sequence[str]] = {}
    for key, _ in rows:
        for second in (name for name in names if key.endswith(f"_{name}")):
            rest = key.removesuffix(f"_{second}")
            for first in (name for name in names if rest.endswith(f"_{name}") and len(rest) > len(name) + 1):
                pairs[key] = (rest.removesuffix(f"_{first}"), first, second)
    return pairs


def _systems(row: Row) -> tuple[str, str]:
    """Return the systems of the two answers; empty if unknown."""
    order = row.get("order")
    models = [order.get(place) for place in "12"] if isinstance(order, dict) else []
    first, second = models if all(models) and models else (row.get("model_1"), row.get("model_2"))
    return str(first or ""), str(second or "")


def _answers(row: Row) -> Sequence[object]:
    """Return the two answers from their fields, else from the judge's prompt."""
    if row.get("response_1") and row.get("response_2"):
        return row["response_1"], row["response_2"]
    prompt = row.get("prompt")
    return (
        [_between(prompt, f"<answer {n}>\n", f"\n</answer {n}>") for n in (1, 2)] if prompt else (None, None)
    )


def _between(text: object, opening: str, closing: str) -> str | None:
    """Return the text from the first opening to the last closing mark, as the published script does."""
    if not isinstance(text, str):
        return None
    start, end = text.find(opening), text.rfind(closing)
    return text[start + len(opening) : end] if 0 <= start < end else None


def _votes(row: Row) -> Sequence[object]:
    votes = next((row[name] for name in VOTES if row.get(name)), row.get("majority"))
    if isinstance(votes, list):
        return votes
    return () if votes is None else (votes,)


def _label(vote: object, systems: Sequence[str]) -> float | None:
    if isinstance(vote, bool) or not isinstance(vote, str | int):
        return None
    text = str(vote).strip()
    # A name may include its owner, `owner/model`, in one file and not in the other.
    for system, label in zip(systems, (-1.0, 1.0), strict=True):
        if text and text in {system, system.replace("/", "-"), system.rpartition("/")[2]}:
            return label
    return WORDS.get(text.lower())
