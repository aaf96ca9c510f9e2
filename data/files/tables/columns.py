"""Names of the columns of tables of texts, for readers, messages and pages.

Names are compared without regard to case, spaces, underscores and hyphens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from unicodedata import combining, normalize

from data.errors import FileFormatError

MISSING_COLUMN, DUPLICATE_COLUMN = "missing-column", "duplicate-column"
MAX_NAMED = 20
MAX_NAME_LENGTH = 60


class Column(StrEnum):
    """Contents of a column, by our name for it."""

    QUESTION_ID = "question_id"
    QUESTION = "question"
    ANSWER = "answer"
    SYSTEM = "system"
    REFERENCE = "reference"
    DOMAIN = "domain"
    CONTEXTS = "contexts"


_WORDS = {
    Column.QUESTION_ID: "question_id qid query_id example_id dataset_example_id id _id",
    Column.QUESTION: "question query user_input instruction prompt input q frage pregunta consulta requête "
    "domanda pergunta questão vraag 问题 質問",
    Column.ANSWER: "answer response output completion prediction pred actual_output text generated_text "
    "model_answer model_response model_output generation antwort respuesta réponse risposta "
    "resposta antwoord 回答 答案",
    Column.SYSTEM: "system model generator model_id modell sistema modelo système modèle modello "
    "系统 模型 agent",
    Column.REFERENCE: "reference reference_answer gold ground_truth expected_output target gt_answer "
    "gold_answer expected_answer correct_answer expected referenz musterantwort referenzantwort referencia "
    "référence riferimento referência 参考答案 標準答案",
    Column.DOMAIN: "domain category dataset topic bereich kategorie domaine catégorie dominio categoría "
    "domínio categoria 领域 类别",
    Column.CONTEXTS: "contexts retrieved_contexts retrieved_context retrieval_context passages documents",
}
NAMES: Mapping[Column, tuple[str, ...]] = MappingProxyType(
    {column: tuple(words.split()) for column, words in _WORDS.items()}
)
"""Names by column; of several present names the first one is read."""


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Fold case, accents, spaces, underscores and hyphens of a name."""
    leading = "_" if name.strip() == "_id" else ""
    plain = normalize("NFKD", name.casefold())
    return leading + "".join(
        sign for sign in plain if not (sign.isspace() or combining(sign)) and sign not in "_-\ufeff"
    )


_BY_NAME: Mapping[str, tuple[Column, int]] = MappingProxyType(
    {folded(name): (column, at) for column, names in NAMES.items() for at, name in enumerate(names)}
)


_TEXT = r"(?:answers?|response|output|text|completion|generation|prediction|antwort|respuesta|reponse)"
_COMPOUND = {
    Column.ANSWER: re.compile(
        rf"(?:pred(?:icted)?|gener(?:ated|iert\w{{0,2}})|model|actual|system|candidate|llm|bot|rag|agent|"
        rf"assistant|student|ai){_TEXT}|{_TEXT}text|predicted|hypothesis|(?:respuesta|reponse)gener(?:ada|ee)"
    ),
    Column.REFERENCE: re.compile(
        rf"(?:example|gold(?:en)?|gt|groundtruth|ref(?:erence)?|expected|correct|true|target|ideal){_TEXT}"
        r"|ideal|golden|gt|groundtruths"
    ),
    Column.SYSTEM: re.compile(r"(?:model|system|generator|agent)name"),
}
_ABROAD = NAMES[Column.ANSWER][NAMES[Column.ANSWER].index("antwort") :]
_EITHER = frozenset(map(folded, ("answer", *_ABROAD)))
"""Names of an answer, or of the reference if another column is certainly a generation."""
_COMPOUND_PLACE, _DOTTED_PLACE = 100, 200


@lru_cache(maxsize=4096)
def _known(name: str) -> tuple[Column, int] | None:
    """Return the column of a name, and the rank of the name for that column."""
    if match := _BY_NAME.get(folded(name)):
        return match
    compounds = (column for column, names in _COMPOUND.items() if names.fullmatch(folded(name)))
    if compound := next(compounds, None):
        return compound, _COMPOUND_PLACE
    outer, dot, inner = name.replace("/", ".").rpartition(".")
    head = _known(outer.rpartition(".")[2].rstrip("s")) if dot else None
    tail = head if inner in {"text", "value", "content"} else _known(inner) if dot else None
    if tail is None or (inner == "id" and (head is None or head[0] is not Column.QUESTION)):
        return None
    place = _DOTTED_PLACE + tail[1]
    if tail[0] is not Column.ANSWER or head is None or head[0] not in {Column.QUESTION, Column.REFERENCE}:
        return tail[0], place
    # Inputs of an evaluation may have the answer to evaluate (`inputs.response`) or the right one.
    generated = head[0] is Column.QUESTION and folded(inner) not in _EITHER
    return (Column.ANSWER, place + _DOTTED_PLACE) if generated else (Column.REFERENCE, place)


def column_of(name: str) -> Column | None:
    """Return the column of a name, or None; of a dotted name (`inputs.question`) the last part counts."""
    match = _known(name)
    return match[0] if match else None


def read_columns(names: Iterable[str]) -> dict[Column, str]:
    """Select the name to read for each column, in the order of `NAMES`.

    `answer` is the reference if there is also a generation, such as `predicted_answer`.
    """
    return dict(_read_columns(tuple(names)))


@lru_cache(maxsize=256)
def _read_columns(names: tuple[str, ...]) -> Mapping[Column, str]:
    best: dict[Column, tuple[int, str]] = {}
    for name in names:
        match = _known(name)
        if match and (match[0] not in best or match[1] < best[match[0]][0]):
            best[match[0]] = (match[1], name)
    columns = {column: name for column, (_, name) in best.items()}
    answer = columns.get(Column.ANSWER, "")
    if may_be_reference(answer):
        rest = (name for name in names if folded(name.rpartition(".")[2]) not in {*_EITHER, "text"})
        if generation := read_columns(rest).get(Column.ANSWER):
            columns = {Column.REFERENCE: answer} | columns | {Column.ANSWER: generation}
    return columns


def may_be_reference(name: str) -> bool:
    """Return whether a column of answers may contain correct answers: `answer`, but not `outputs.answer`."""
    outer, _, inner = name.replace("/", ".").rpartition(".")
    return folded(inner) in _EITHER and not (outer and column_of(outer.rstrip("s")) is Column.ANSWER)


def renamed(row: Mapping[str, object]) -> dict[str, object]:
    """Rename the known columns of a row to our names."""
    ours = {name: column.value for column, name in read_columns(row).items()}
    fields = {
        name: value for name, value in row.items() if name not in ours and name not in set(ours.values())
    }
    return fields | {column: row[name] for name, column in ours.items()}


def require_columns(names: Collection[str], *groups: Collection[Column], line: int = 0) -> None:
    """Refuse a table without a column of each group."""
    columns = read_columns(names)
    missing = [group for group in groups if not any(column in columns for column in group)]
    if missing:
        groups_text = " and no column ".join(" or ".join(group) for group in missing)
        message = f"There is no column {groups_text}; found: {list_names(names)}."
        aliases = "; ".join(", ".join(NAMES[column]) for group in missing for column in group)
        raise FileFormatError(message, advice=f"Name it one of: {aliases}.", code=MISSING_COLUMN, line=line)


TABLES_OF_TOOLS: Mapping[frozenset[str], tuple[str, str]] = MappingProxyType(
    {
        frozenset({"Named Scores", "Grader Reason"}): (
            "This is a promptfoo table, which mixes answers and scores.",
            "Write its results as JSON: promptfoo eval -o results.json.",
        ),
        frozenset({"context.span_id", "context.trace_id"}): (
            "This is a table of Phoenix spans, with one row per step of an application.",
            "Keep root spans: attributes.input.value as question, attributes.output.value as answer.",
        ),
    }
)
"""Tables of tools whose other columns would be read as answers."""


def require_once(names: Collection[str], *, line: int = 0) -> None:
    """Refuse repeated columns and `TABLES_OF_TOOLS`."""
    for columns, (message, advice) in TABLES_OF_TOOLS.items():
        if columns <= set(names):
            raise FileFormatError(message, advice=advice, code=DUPLICATE_COLUMN, line=line)
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        message = f"A column appears twice: {list_names(twice)}."
        raise FileFormatError(
            message, advice="Give each column a unique name.", code=DUPLICATE_COLUMN, line=line
        )


def list_names(names: Iterable[str]) -> str:
    """List names of columns for a message."""
    listed = [
        repr(name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…") for name in names
    ]
    more = f" and {len(listed) - MAX_NAMED:,} more" if len(listed) > MAX_NAMED else ""
    return ", ".join(listed[:MAX_NAMED]) + more
