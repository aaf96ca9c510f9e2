"""Detect the shape of a table from its columns: its systems and the places of their answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import median

from data.declines import declines
from data.errors import FileFormatError
from data.files.tables.columns import Column, column_of, folded, may_be_reference, read_columns
from data.files.tables.values import has_value, id_text
from submissions.formats.registry import MAX_NAME_LENGTH
from submissions.problem_codes import Code, listed, quoted

Columns = Mapping[str, Sequence[object]]
"""Cells by column; all have the same length."""


class Shape(StrEnum):
    """Layout of systems in a table: only one, a row or a column for each, or none."""

    ONE = "one"
    LONG = "long"
    WIDE = "wide"
    REFERENCES = "references"


DATUM = re.compile(
    r"\A(?:(?:https?://|www\.|/|[a-z]:\\).+|(?=[^\n.?!,;]*[/\\])[^\n?!,;]*\.\w{1,6}|[{\[].*[}\]]"
    r"|\d[\d\s.:,/%TZ+-]*[a-z$€]{0,6}|[a-z]{3,9}\.? \d{1,2},? \d{4}.{0,20}|-?\d[\d.]*(?:e[+-]?\d+)?"
    r"|true|false|none|nan|(?=\S*[\d_/\\@#=])\S+|\w{20,})",
    re.IGNORECASE | re.DOTALL,
)
"""Links, paths, dates, numbers with units, JSON, ids and hashes, and yes or no."""
REMARKS = frozenset(
    (
        *("note", "comment", "remark", "explanation", "rationale", "feedback", "critique", "tag", "split"),
        *("difficulty", "language", "author", "annotator", "status", "type", "title", "name", "keyword"),
        *("reason", "justification", "question"),
        *("nota", "notiz", "kommentar", "comentario", "commentaire", "commento", "anmerkung", "bemerkung"),
        *("begrundung", "explicacion", "explication", "explicacao", "spiegazione"),
    )
)
"""Last words of the names of columns that resemble answers but contain remarks on them."""
PARTS = frozenset(
    (
        *("reasoning", "evidence", "error", "label", "lang", "passage", "context", "document"),
        *("snippet", "chunk", "source", "judge", "critic", "review", "evaluation", "preference"),
    )
)
"""Like `REMARKS`, but only as whole names or in names of judges: `with_context` may be a system."""
JUDGES = re.compile(
    r"(?:judge|grade|score|eval|review|rating|human|annotator|metric)\w{0,20}[ _.-]", re.IGNORECASE
)
GRADES = frozenset(
    (
        *("true", "false", "yes", "no", "correct", "incorrect", "right", "wrong", "pass", "fail", "passed"),
        *("failed", "good", "bad", "win", "lose", "loss", "tie", "partial"),
    )
)
LABEL_WORDS, FEW, MIN_LENGTH, TENTH, MAX_COMBINED = 3, 4, 2, 10, 6
SAMPLE = 200
INSTRUCTION = re.compile(
    r"\A(?:.*\w[.!?:]\s*|.*\byou(?:r|'re)? .*|(?:\S+\s+){8}.*)", re.IGNORECASE | re.DOTALL
)


class UnnamedSystemsError(FileFormatError):
    """Raised if columns seem to contain the systems but have other names."""

    columns: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns to read: `known` by native name, and the `answers`, one or one per system."""

    shape: Shape
    known: Mapping[Column, str]
    answers: tuple[str, ...] = ()


def layout_of(columns: Columns, called: Mapping[Column, str], *, repeats: bool = False) -> Layout:
    """Detect the shape of a table.

    Args:
        columns: All of its cells.
        called: Columns named by the user; a named column of systems is not checked.
        repeats: Whether a system may answer a question several times, so that numbers may count answers.

    Raises:
        UnnamedSystemsError: Another column seems to contain the systems.
        FileFormatError: There are several columns of answers, or none.
    """
    known = {ours: name for ours, name in read_columns(columns).items() if name not in called.values()}
    known = asked_in(columns, {**known, **called})
    system = called.get(Column.SYSTEM) or _system(columns)
    known = {ours: (system or "" if ours is Column.SYSTEM else name) for ours, name in known.items()}
    known = {ours: name for ours, name in known.items() if name}
    answer = known.get(Column.ANSWER)
    likely = (answer,) if answer else tuple(_answers(columns, known.values()))
    keys = _keys(columns, known)
    if Column.SYSTEM not in called and likely and len({*keys}) < len(keys):
        _require_named(columns, known, likely, keys, repeats=repeats)
    if answer or not columns:
        return Layout(Shape.LONG if system else Shape.ONE, known, likely)
    rows = _answered(columns, likely)
    pairs = ({"winner"}, {"modela", "modelb"}, {"generator1", "generator2"}, {"chosen", "rejected"})
    if any(pair <= set(map(folded, columns)) for pair in pairs):
        raise no_answers(columns, "These are battles, not answers.", "Rate them: arena battles rate FILE.")
    right = {_cell(columns, known.get(Column.REFERENCE), at) for at in rows} - {""}
    if right and right <= {*likely}:
        raise no_answers(columns, f"The columns {listed(map(quoted, likely), FEW)} are choices.")
    counts = Counter((keys[at], _cell(columns, system, at)) for at in rows if keys[at])
    if not likely or (not repeats and TENTH * (counts.total() - len(counts)) > counts.total()):
        raise no_answers(columns)
    if len(likely) > 1 and system:
        message = f"Several columns look like answers: {listed(map(quoted, likely), FEW)}."
        raise FileFormatError(message, advice="Choose one with --answer COLUMN.", code=Code.MISSING_COLUMN)
    if len(likely) > 1:
        return Layout(Shape.WIDE, known, likely)
    return Layout(Shape.LONG if system else Shape.ONE, known | {Column.ANSWER: likely[0]}, likely)


def asked_in(columns: Columns, known: Mapping[Column, str]) -> dict[Column, str]:
    """Return the known columns; without questions, add the only column of texts with question marks."""
    if Column.QUESTION in known or Column.QUESTION_ID in known:
        return {**known}
    unknown = {
        name: [*filter(None, map(_text, columns[name]))] for name in columns if column_of(name) is None
    }
    asking = [
        name
        for name, texts in unknown.items()
        if name not in known.values() and 2 * sum(map(_asks, texts)) > len(texts)
    ]
    return {**known, Column.QUESTION: asking[0]} if len(asking) == 1 else {**known}


def _asks(text: str) -> bool:
    return text.endswith(("?", "？", "؟"))


def in_doubt(columns: Columns, known: Mapping[Column, str]) -> list[str]:
    """Return other columns that read like answers, so that `answer` may be the reference."""
    some = {name: cells[:SAMPLE] for name, cells in columns.items()}
    either = may_be_reference(known[Column.ANSWER]) and Column.REFERENCE not in known
    return [*_answers(some, known.values())] if either else []


def no_answers(columns: Iterable[str], what: str = "", advice: str = "") -> FileFormatError:
    """Return the error for a table without answers, which names its columns."""
    message = f"No row has an answer; the columns are: {listed(map(quoted, columns), 20) or 'none'}."
    advice = advice or "Rename the answer column to 'answer' or 'response', or use --answer COLUMN."
    return FileFormatError(f"{what} {message}".strip(), advice=advice, code=Code.MISSING_COLUMN)


def _text(cell: object) -> str:
    return cell.strip() if isinstance(cell, str) else ""


def _answered(columns: Columns, likely: Sequence[str]) -> list[int]:
    cells = zip(*(columns[name] for name in likely), strict=True)
    return [at for at, some in enumerate(cells) if any(map(_text, some))]


def _plain(cell: object) -> str:
    return "" if isinstance(cell, list | Mapping) or not has_value(cell) else str(cell).strip()


def _cell(columns: Columns, name: str | None, at: int) -> str:
    return (id_text(columns[name][at]) or "") if name else ""


def _keys(columns: Columns, known: Mapping[Column, str]) -> Sequence[object]:
    """Return each row's question by id and text; distinct ids of repeated texts are row numbers."""
    none = [None] * len(next(iter(columns.values()), ()))
    ids, texts = (
        [
            cell.strip() if isinstance(cell, str) else str(cell).strip() if has_value(cell) else ""
            for cell in columns.get(known.get(column, ""), none)
        ]
        for column in (Column.QUESTION_ID, Column.QUESTION)
    )
    distinct = len(set(ids)) == len(ids)
    if not any(ids) or (distinct and any(texts) and len(set(texts)) < len(texts)):
        return texts
    if distinct and all(ids):
        return ids
    return [pair if any(pair) else "" for pair in zip(ids, texts, strict=True)]


def _system(columns: Columns) -> str | None:
    """Choose the system column among candidates.

    A system prompt reads like an instruction, is missing in some rows, or is constant while another column
    varies.
    """
    known = [name for name in columns if column_of(name) is Column.SYSTEM]
    first = read_columns(columns).get(Column.SYSTEM)
    cells = {name: [id_text(cell) or "" for cell in columns[name]] for name in known}
    varied = any(len(set(texts)) > 1 for texts in cells.values())

    def doubts(name: str) -> tuple[bool, bool, bool]:
        texts = set(cells[name])
        return any(map(INSTRUCTION.fullmatch, texts)), "" in texts, varied and len(texts) == 1

    def wordy(name: str) -> bool:
        return any(len(text.split()) > LABEL_WORDS for text in cells[name])

    chosen = min(known, key=lambda name: (any(doubts(name)), wordy(name), name != first), default="")
    prompt = chosen and doubts(chosen)[0] and wordy(chosen) and len({*cells[chosen]}) == 1
    return chosen if chosen and any(cells[chosen]) and not prompt else None


def _answers(columns: Columns, known: Collection[str]) -> Iterator[str]:
    """Yield the columns that resemble answers and are neither `known` nor have a known name."""
    for name, cells in columns.items():
        texts = [text for text in map(_text, cells) if text]
        words = [folded(word) for word in re.findall(r"[^\W\d_]+", name)] or [""]
        last = words[-1].rstrip("s")
        is_note = last in REMARKS or (last in PARTS and (len(words) == 1 or bool(JUDGES.search(name))))
        if not name or name in known or not texts or is_note or column_of(name) is not None:
            continue
        data = sum(DATUM.fullmatch(text) is not None for text in texts)
        if Column.QUESTION in map(column_of, words):
            # They are translated questions or filled prompts, not systems named after prompts.
            data += sum(map(_asks, texts))
        kinds, label = len(set(texts)), median(len(text.split()) for text in texts) <= LABEL_WORDS
        declined = kinds == 1 and declines(texts[0], "")
        if (
            TENTH * data < (TENTH - 1) * len(texts)
            and (declined or not (label and len(texts) >= FEW and 2 * kinds <= len(texts)))
            and (declined or kinds > 1 or len(texts) == 1)
            and median(map(len, texts)) > MIN_LENGTH
            and not {text.lower() for text in texts} <= GRADES
        ):
            yield name


def _require_named(
    columns: Columns,
    known: Mapping[Column, str],
    likely: Sequence[str],
    keys: Sequence[object],
    *,
    repeats: bool,
) -> None:
    """Refuse rows with the same question and system that differ in a column without a known name."""
    rows = [at for at in _answered(columns, likely) if keys[at]]
    system = known.get(Column.SYSTEM)
    whose = {at: (keys[at], _cell(columns, system, at)) for at in rows}
    count = Counter(whose.values())
    again = [at for at in rows if count[whose[at]] > 1]
    written = {(whose[at], *(_text(columns[name][at]) for name in likely)) for at in again}
    if not again or len(written) == len({whose[at] for at in again}):
        return
    read = {name for ours, name in known.items() if ours is not Column.QUESTION_ID} | {*likely}
    doubts = {name: _doubt(columns[name], rows, len({*keys})) for name in columns if {name} - read - {""}}
    # With a column of systems, numbers count repeats.
    least = 2 - bool(system or repeats)
    names = sorted((name for name in doubts if doubts[name] < least), key=doubts.__getitem__)
    suspects = [name for name in names if _apart(columns, (name,), whose, again)]
    if suspects:
        message = f"{quoted(suspects[0])} seems to name the systems: it differs between rows of one question."
        advice = f"If so, add --system {suspects[0]}. Each system needs one answer per question"
        advice += ", or --repeats all." if doubts[suspects[0]] else "."
        if system:
            message = f"{quoted(suspects[0])} differs between rows of one question and one {system}."
            advice = f"Choose the column of the systems: --system {suspects[0]}, or --system {system}."
    else:
        pairs = combinations(names[:MAX_COMBINED], 2)
        suspects = list(next((pair for pair in pairs if _apart(columns, pair, whose, again)), ()))
        if not suspects:
            return
        message = f"{' and '.join(map(quoted, suspects))} together seem to name the systems."
        advice = "Combine them in one column, and select it with --system COLUMN."
    error = UnnamedSystemsError(message, advice=advice, code=Code.SEVERAL_SYSTEMS)
    error.columns = suspects
    raise error


def _doubt(cells: Sequence[object], rows: Sequence[int], questions: int) -> int:
    """Rate the doubt that cells name systems: 0 for names, 1 for data such as versions, else 2.

    Most rows must have a name, and each name several questions; data must occur with half of the questions.
    """
    texts = [_plain(cells[at]) for at in rows]
    kinds = Counter(filter(None, texts))
    if not 1 < len(kinds) < max(len(texts), 1 + len(texts) * (questions == 1)):
        return 2
    if 2 * kinds.total() < len(texts) or any(len(text) > MAX_NAME_LENGTH or "\n" in text for text in kinds):
        return 2
    data = all(map(re.compile(r"\A(?:[\W\d_]*|.*[0-9a-f]{12,}.*|[{\[/].*)").fullmatch, kinds))
    if not data and kinds.total() == len(texts) and not {text.lower() for text in kinds} <= GRADES:
        return 0
    return 1 if 1 < questions <= 2 * min(kinds.values()) else 2


def _apart(
    columns: Columns, names: Sequence[str], whose: Mapping[int, tuple[object, str]], again: Sequence[int]
) -> bool:
    keys = {(whose[at], *(_plain(columns[name][at]) for name in names)) for at in again}
    return len(keys) == len(again)
