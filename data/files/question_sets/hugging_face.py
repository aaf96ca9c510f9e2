"""Question sets as folders of Hugging Face datasets: Parquet files, a card (README.md).

Other people's datasets are read too, where their columns name a question. Source of the card's fields:
https://huggingface.co/docs/hub/datasets-cards, and https://huggingface.co/docs/hub/datasets-manual-configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from data.errors import FileFormatError
from data.files.question_sets.registry import QUESTIONS, SetDraft, SetFormat
from data.files.question_sets.rows import (
    question_to_json,
    require_unused,
    set_head,
)
from data.files.question_sets.tables import read_question_tables
from data.files.text_files import ReadLimits, read_text
from data.records import ProblemList, Question, QuestionSet, Split

if TYPE_CHECKING:
    import pyarrow as pa

README, DATA = "README.md", "data"
FENCE = "---"
LONGEST_CARD = 1024 * 1024
ROW_GROUP = 500
OTHER = "other"
LICENCES = frozenset(
    {
        *("apache-2.0", "mit", "bsd-3-clause", "cc0-1.0", "odc-by", "odbl", "gpl-3.0"),
        *("cc-by-4.0", "cc-by-3.0", "cc-by-2.0", "cc-by-sa-4.0", "cc-by-sa-3.0"),
        *("cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0", "cc-by-nd-4.0"),
    }
)
"""Licences that the Hub knows by these names."""
POSITION = "position"
SPLITS: Mapping[Split, str] = {Split.TEST: "test", Split.DEV: "validation"}


def is_dataset(path: Path) -> bool:
    """Whether a folder holds Parquet files, and is none of ours, or a file is one."""
    return not (path / "questions.jsonl").is_file() and bool(dataset_files(path))


def dataset_files(path: Path) -> list[Path]:
    """The Parquet files of a folder, in their order, or the file itself where it is one."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*.parquet") if file.is_file())
    return [path] if path.suffix == ".parquet" and path.is_file() else []


def read_card(path: Path) -> dict[str, str]:
    """The head of a set, as far as a dataset's card tells it: title, licence and language.

    Raises:
        FileFormatError: The card cannot be read.
    """
    file = path / README
    if not path.is_dir() or not file.is_file():
        return {}
    import yaml  # noqa: PLC0415 - for cards alone

    text = read_text(file, ReadLimits(file_bytes=LONGEST_CARD))
    lines = text.splitlines()
    if not lines or lines[0].strip() != FENCE or FENCE not in lines[1:]:
        return {}
    try:
        card = yaml.safe_load("\n".join(lines[1 : lines.index(FENCE, 1)]))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        message = f"{README} does not begin with YAML that can be read."
        raise FileFormatError(message, advice="Correct the part between ---.", code="bad-yaml") from error
    fields = card if isinstance(card, dict) else {}
    licence = fields.get("license_name") if fields.get("license") == OTHER else fields.get("license")
    language = fields.get("language")
    language = language[0] if isinstance(language, list) and language else language
    head = {"title": fields.get("pretty_name"), "licence": licence, "language": language}
    return {name: value for name, value in head.items() if isinstance(value, str) and value}


def write_dataset(questions: QuestionSet, folder: Path) -> None:
    """Write a set as a dataset: `data/SPLIT-00000-of-00001.parquet`, README.md and set.toml.

    Importing the folder gives the same content hash.

    Raises:
        ConflictError: The folder has data files already.
    """
    import pyarrow as pa  # noqa: PLC0415 - loads when a set is written so
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads when a set is written so

    require_unused(folder / DATA)
    (folder / DATA).mkdir(parents=True, exist_ok=True)
    written: dict[str, Path] = {}
    for split, name in SPLITS.items():
        rows = [
            {**question_to_json(question), "nuggets": _nuggets(question), POSITION: at}
            for at, question in enumerate(questions.questions)
            if question.split is split
        ]
        if rows:
            written[name] = folder / DATA / f"{name}-00000-of-00001.parquet"
            table = pa.Table.from_pylist(rows, schema=_schema())
            pq.write_table(table, written[name], row_group_size=ROW_GROUP)
    (folder / "set.toml").write_text(set_head(questions), encoding="utf-8")
    (folder / README).write_text(_card(questions, written), encoding="utf-8")


def _schema() -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 - loaded by whoever writes

    text, texts = pa.string(), pa.list_(pa.string())
    passage = pa.struct([("id", text), ("title", text), ("text", text)])
    nugget = pa.struct([("text", text), ("importance", text)])
    return pa.schema(
        [
            *(("id", text), ("domain", text), ("question", text), ("reference", text)),
            ("passages", pa.list_(passage)),
            *((name, texts) for name in ("aspects", "short_answers", "sub_questions", "gold_doc_ids")),
            ("citation_numbers", pa.list_(pa.list_(pa.int64()))),
            ("citations", pa.list_(texts)),
            ("nuggets", pa.list_(nugget)),
            *(("language", text), (POSITION, pa.int64())),
        ]
    )


def _nuggets(question: Question) -> list[dict[str, str | None]]:
    return [{"text": nugget.text, "importance": nugget.importance} for nugget in question.nuggets]


def _card(questions: QuestionSet, written: Mapping[str, Path]) -> str:
    import yaml  # noqa: PLC0415 - for cards alone

    licence = _licence(questions.licence)
    named = {"license_name": questions.licence} if licence == OTHER and questions.licence else {}
    fields = {
        "pretty_name": questions.title,
        "language": [questions.language],
        **({"license": licence} if licence else {}),
        **named,
        "task_categories": ["question-answering"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split, "path": f"{DATA}/{split}-*.parquet"} for split in written],
            }
        ],
    }
    lines = [f"# {questions.title}", ""]
    lines += [
        text
        for text in (questions.note, questions.source and f"Source: {questions.source.rstrip('.')}.")
        if text
    ]
    lines += [
        f"{len(questions.questions):,} questions of the set `{questions.name}`, version {questions.version}."
    ]
    lines += ["", "| domain | label | questions |", "|---|---|---|"]
    for domain, label in questions.domains.items():
        count = sum(question.domain == domain for question in questions.questions)
        lines.append(f"| {_cell(domain)} | {_cell(label)} | {count:,} |")
    dumped = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)
    return f"{FENCE}\n{dumped}{FENCE}\n\n" + "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _licence(text: str) -> str:
    """A licence as the Hub names it; `other` where it does not, empty where there is none."""
    name = text.strip().lower().replace(" ", "-")
    return name if name in LICENCES else OTHER if name else ""


def _parse(path: Path, limits: ReadLimits, problems: ProblemList) -> SetDraft:
    default = path.name.split(".")[0] or QUESTIONS
    found = read_question_tables(dataset_files(path), default, limits, problems)
    return SetDraft(questions=found, head=read_card(path))


FORMATS = (
    SetFormat(
        name="hf",
        title="a Hugging Face dataset in Parquet, with card",
        fits=is_dataset,
        parse=_parse,
        write=write_dataset,
        endings=("parquet",),
    ),
)
